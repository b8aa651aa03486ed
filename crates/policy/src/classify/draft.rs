//! What is found out about a command while it is looked at.

use std::borrow::Cow;

use crate::category::{Categories, Category};
use crate::judged::{Access, Reason, TouchedPath};

/// What is known so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Draft {
    pub(super) categories: Categories,
    pub(super) reasons: Vec<Reason>,
    pub(super) paths: Vec<TouchedPath>,
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

    /// It touches this path.
    pub(super) fn touch(&mut self, access: Access, path: &str) {
        if !self.paths.iter().any(|touched| touched.access == access && touched.path == path) {
            self.paths.push(TouchedPath { access, path: path.to_owned() });
        }
    }
}
