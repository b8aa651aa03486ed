//! The start of an id, as people type it.

use crate::id::Id;

/// The start of an id, in letters of any case: what all ids between two have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IdPrefix {
    low: Id,
    high: Id,
    length: usize,
}

impl IdPrefix {
    /// So many characters name something: less is more likely a mistyped name.
    pub const SHORTEST: usize = 4;

    /// So many characters name something that is then gone for good. All ids of twelve days start with the same four characters; with eight
    /// it takes one of the same second to be mistaken for another.
    pub const SHORTEST_FOR_GOOD: usize = 8;

    /// The start of an id; nothing where no id starts so, or where it is too short to name one.
    pub fn new(text: &str) -> Option<Self> {
        let length = text.len();
        if !(Self::SHORTEST..=Id::LENGTH).contains(&length) || !text.is_ascii() {
            return None;
        }
        let padded = |with: &str| format!("{text}{}", with.repeat(Id::LENGTH - length));
        Some(Self { low: padded("0").parse().ok()?, high: padded("z").parse().ok()?, length })
    }

    /// Whether an id starts so.
    pub fn fits(&self, id: &Id) -> bool {
        (self.low..=self.high).contains(id)
    }

    /// The first and the last id that start so.
    pub fn range(&self) -> (Id, Id) {
        (self.low, self.high)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_ids_that_start_so_fit_and_no_others() {
        let id = Id::at(1_700_000_000_000);
        let text = id.to_string();
        for length in IdPrefix::SHORTEST..=Id::LENGTH {
            let prefix = IdPrefix::new(&text[..length]).unwrap();
            assert!(prefix.fits(&id), "{length}");
            assert_eq!(IdPrefix::new(&text[..length].to_uppercase()), Some(prefix));
        }
        let second = IdPrefix::new(&text[..8]).unwrap();
        assert!(!second.fits(&Id::at(1_700_000_002_000)));
        assert!(IdPrefix::new(&text[..4]).unwrap().fits(&Id::at(1_700_000_002_000)));
        assert_eq!(IdPrefix::new(&text).unwrap().range(), (id, id));
    }

    #[test]
    fn what_no_id_starts_with_is_no_prefix() {
        let id = Id::at(7).to_string();
        for text in ["", "0", "00", "000", "zzzzzz", "0000u", "feature-login", "änder", "01k9 "] {
            assert_eq!(IdPrefix::new(text), None, "{text}");
        }
        assert_eq!(IdPrefix::new(&format!("{id}0")), None);
    }
}
