//! What is found out about a command while it is looked at.

use std::borrow::Cow;
use std::ops::Range;

use offshoot_vocabulary::{EffectCategory, PathAccess};

use crate::category::Categories;
use crate::judged::{Reason, TouchedPath};

/// What is known so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Draft {
    pub(super) categories: Categories,
    pub(super) reasons: Vec<Reason>,
    pub(super) paths: Vec<TouchedPath>,
    /// The reasons that say what the tool does in general, and the verb in them.
    general: Option<(Range<usize>, &'static str)>,
    /// It does something to a path outside.
    pub(super) outside: bool,
    /// It was not read.
    pub(super) unread: bool,
    /// It runs what comes on its input.
    pub(super) runs_input: bool,
    /// Where it runs, where that is known.
    pub(super) directory: Option<String>,
}

/// Something around a command, with what it brings by itself.
#[derive(Clone, Debug)]
pub(super) struct Wrapper {
    pub(super) name: String,
    pub(super) draft: Draft,
    /// It gives the text that it runs arguments, which its name leaves out.
    pub(super) passes_arguments: bool,
}

impl Draft {
    /// It has this category, and why.
    pub(super) fn add(&mut self, category: EffectCategory, why: impl Into<Cow<'static, str>>) {
        if category == EffectCategory::ReadOnly {
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
    pub(super) fn mark_general(&mut self, from: usize, about: &'static str) {
        let verb = about.split(' ').next().unwrap_or_default();
        self.general = Some((from..self.reasons.len(), verb));
    }

    /// Drops what is said in general (`rm deletes files`) where the same is said of a path (`deletes x`).
    pub(super) fn drop_generalities(&mut self) {
        let Some((general, verb)) = self.general.take() else { return };
        let behind = self.reasons[general.end..].iter();
        let of_paths: Categories = behind
            .filter(|reason| reason.why.split(' ').next() == Some(verb))
            .map(|reason| reason.category)
            .collect();
        let mut index = 0..;
        self.reasons.retain(|reason| {
            let is_general = index.next().is_some_and(|index| general.contains(&index));
            !(is_general && of_paths.contains(reason.category))
        });
    }

    /// It touches this path.
    pub(super) fn touch(&mut self, access: PathAccess, path: &str) {
        if !self.paths.iter().any(|touched| touched.access == access && touched.path == path) {
            self.paths.push(TouchedPath { access, path: path.to_owned() });
        }
    }
}
