//! What is found out about a command while it is looked at.

use std::borrow::Cow;
use std::ops::Range;

use crate::category::{Categories, Category};
use crate::judged::{Access, Reason, TouchedPath};

/// What is known so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Draft {
    pub(super) categories: Categories,
    pub(super) reasons: Vec<Reason>,
    pub(super) paths: Vec<TouchedPath>,
    /// The reasons that say what the tool does in general.
    general: Range<usize>,
    /// The categories of which a path is named that the tool does it to.
    named: Categories,
}

/// Something around a command, with what it brings by itself.
#[derive(Clone, Debug)]
pub(super) struct Wrapper {
    pub(super) name: String,
    pub(super) draft: Draft,
}

impl Draft {
    /// It has this category, and why.
    pub(super) fn add(&mut self, category: Category, why: impl Into<Cow<'static, str>>) {
        if category == Category::ReadOnly {
            return;
        }
        self.categories = self.categories.with(category);
        let reason = Reason { category, why: why.into() };
        if !self.reasons.contains(&reason) {
            self.reasons.push(reason);
        }
    }

    /// It has all these categories, for one reason.
    pub(super) fn add_all(
        &mut self,
        categories: Categories,
        why: impl FnOnce() -> Cow<'static, str>,
    ) {
        if categories.is_read_only() {
            return;
        }
        let why = why();
        for category in categories.iter() {
            self.add(category, why.clone());
        }
    }

    /// The reasons from this one on are what the tool does in general.
    pub(super) fn mark_general(&mut self, from: usize) {
        self.general = from..self.reasons.len();
    }

    /// It has this category, because it does something to a path.
    pub(super) fn add_named(&mut self, category: Category, why: String) {
        self.named = self.named.with(category);
        self.add(category, why);
    }

    /// Drops what is said in general of a category where a path says more.
    pub(super) fn drop_generalities(&mut self) {
        let general = std::mem::take(&mut self.general);
        let mut index = 0..;
        self.reasons.retain(|reason| {
            let is_general = index.next().is_some_and(|index| general.contains(&index));
            !(is_general && self.named.contains(reason.category))
        });
    }

    /// It touches this path.
    pub(super) fn touch(&mut self, access: Access, path: &str) {
        if !self.paths.iter().any(|touched| touched.access == access && touched.path == path) {
            self.paths.push(TouchedPath { access, path: path.to_owned() });
        }
    }
}
