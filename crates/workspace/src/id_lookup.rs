//! Which thing the start of an id names: one rule for everything that has an id.

use offshoot_store::{Id, IdPrefix};
use offshoot_vault::Vault;

use crate::error::{Result, ServiceError};
use crate::suggest::{similar, similar_ids};

/// At most so many names are given where nothing is like what was typed.
const MOST_KNOWN: usize = 10;

/// What was typed for an id.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked<'t> {
    text: &'t str,
    /// Nothing where no id starts so.
    prefix: Option<IdPrefix>,
    /// What is done with it cannot be undone.
    for_good: bool,
}

impl<'t> Asked<'t> {
    /// For what can be looked at again, or undone.
    pub(crate) fn new(text: &'t str) -> Self {
        Self { text, prefix: IdPrefix::new(text), for_good: false }
    }

    /// For what cannot be undone: a few characters are not enough, though only one id starts with them.
    pub(crate) fn for_good(text: &'t str) -> Self {
        Self { for_good: true, ..Self::new(text) }
    }

    /// The ids that start so.
    pub(crate) fn prefix(&self) -> Option<&IdPrefix> {
        self.prefix.as_ref()
    }

    /// Whether an id starts so.
    pub(crate) fn fits(&self, id: &Id) -> bool {
        match self.prefix {
            Some(prefix) => prefix.fits(id),
            // Nothing is done to it, but it may be what was meant.
            None => {
                self.is_too_short() && id.to_string().starts_with(&self.text.to_ascii_lowercase())
            }
        }
    }

    /// Whether it is too little for what cannot be undone.
    fn is_too_short(&self) -> bool {
        self.for_good && self.text.len() < IdPrefix::SHORTEST_FOR_GOOD
    }

    /// The one that is meant, of those that fit; nothing where none does. `label` is what somebody is shown who has to choose.
    pub(crate) fn only<T>(
        &self,
        mut fitting: Vec<T>,
        label: impl Fn(&T) -> String,
    ) -> Result<Option<T>> {
        let candidates = || fitting.iter().map(&label).collect();
        // Whether or not something fits: who types so little is told so before anything else.
        if self.is_too_short() {
            let text = self.text.to_owned();
            return Err(ServiceError::ShortId { text, candidates: candidates() });
        }
        if fitting.len() > 1 {
            let text = self.text.to_owned();
            return Err(ServiceError::Ambiguous { text, candidates: candidates() });
        }
        Ok(fitting.pop())
    }

    /// Why nothing has this id; `ids` are some that there are, of which one may have been meant.
    pub(crate) fn unknown(
        &self,
        vault: &Vault,
        what: &'static str,
        ids: impl IntoIterator<Item = Id>,
    ) -> ServiceError {
        self.lost(vault, what).unwrap_or_else(|| ServiceError::Unknown {
            what,
            text: self.text.to_owned(),
            suggestions: similar_ids(self.text, ids),
            known: Vec::new(),
        })
    }

    /// Why nothing has this name.
    pub(crate) fn unknown_name<'n>(
        &self,
        vault: &Vault,
        what: &'static str,
        names: impl IntoIterator<Item = &'n str>,
    ) -> ServiceError {
        self.lost(vault, what).unwrap_or_else(|| {
            let names: Vec<&str> = names.into_iter().collect();
            let suggestions = similar(self.text, names.iter().copied());
            let known = names.into_iter().take(MOST_KNOWN).map(str::to_owned).collect();
            ServiceError::Unknown { what, text: self.text.to_owned(), suggestions, known }
        })
    }

    /// It may be among what the catalog lost.
    fn lost(&self, vault: &Vault, what: &'static str) -> Option<ServiceError> {
        let text = self.text.to_owned();
        vault.cut_short().map(|lost| ServiceError::Lost { what, text, lost })
    }
}
