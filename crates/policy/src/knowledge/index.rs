//! The tables as they lie in the program: a block of bytes without an address in it, so that nothing has to be set right
//! when a program starts, and a start costs nothing.
//!
//! In front is how many names and tools there are, and where variables and places lie. A row for each name follows, sorted
//! by name: where its text lies, which tool it leads to, and its length. Then a row for each tool: where it lies. All else
//! is behind the rows and counted from their end: a record for each tool, one for all variables, one for all places, and the names.

use super::reader::Reader;
use super::table::{CredentialLocation, Tool, Variable};

/// Finds a name without decoding anything, and decodes what is asked for.
pub(crate) struct Index {
    pub(super) names: &'static [[u8; 8]],
    pub(super) tools: &'static [[u8; 4]],
    variables: usize,
    places: usize,
    pub(super) body: &'static [u8],
}

impl Index {
    pub(crate) fn open(bytes: &'static [u8]) -> Option<Self> {
        let mut reader = Reader::new(bytes);
        let (names, tools) = (reader.offset()?, reader.offset()?);
        let (variables, places) = (reader.offset()?, reader.offset()?);
        let (names, tools) = (reader.rows(names)?, reader.rows(tools)?);
        Some(Self { names, tools, variables, places, body: reader.rest() })
    }

    /// How many tools there are.
    pub(crate) const fn count(&self) -> usize {
        self.tools.len()
    }

    /// A name as it is here, and the number of the tool that it leads to.
    pub(crate) fn find(&self, name: &str) -> Option<(&'static str, usize)> {
        let wanted = Some(name.as_bytes());
        let found = self.names.binary_search_by(|row| self.name(row).cmp(&wanted)).ok()?;
        let row = self.names.get(found)?;
        let text = std::str::from_utf8(self.name(row)?).ok()?;
        let [_, _, _, _, low, high, ..] = *row;
        Some((text, usize::from(u16::from_le_bytes([low, high]))))
    }

    /// The text of a row.
    pub(super) fn name(&self, row: &[u8; 8]) -> Option<&'static [u8]> {
        let [a, b, c, d, _, _, low, high] = *row;
        let offset = u32::from_le_bytes([a, b, c, d]).try_into().ok()?;
        self.body.get(offset..)?.get(..usize::from(u16::from_le_bytes([low, high])))
    }

    pub(crate) fn tool(&self, number: usize) -> Option<Tool> {
        let offset = u32::from_le_bytes(*self.tools.get(number)?);
        self.record(offset.try_into().ok()?)?.tool()
    }

    pub(crate) fn variables(&self) -> Option<&'static [Variable]> {
        self.record(self.variables)?.list(Reader::variable)
    }

    pub(crate) fn places(&self) -> Option<&'static [CredentialLocation]> {
        self.record(self.places)?.list(Reader::place)
    }

    fn record(&self, offset: usize) -> Option<Reader> {
        Reader::record(self.body.get(offset..)?)
    }
}
