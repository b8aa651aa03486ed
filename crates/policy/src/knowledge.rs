//! What is known of programs, variables and places: tables, made from `knowledge/*.toml` when the crate is built. A program is
//! decoded when it is first asked for.

mod codes;
mod decode;
mod index;
mod reader;
mod table;
#[cfg(test)]
mod tests;
mod unreadable;

use std::sync::{LazyLock, OnceLock};

use index::Index;
pub(crate) use table::{
    CredentialLocation, Effect, Known, Language, Operands, Role, Style, Tool, Variable, When,
};

static TABLES: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/tables.bin"));
static KNOWLEDGE: LazyLock<Knowledge> = LazyLock::new(|| Knowledge::new(TABLES));

/// What is known of a program by its bare name. A version at its end is dropped where its kind is known to have some:
/// `python3.12`, `gcc-14`.
pub(crate) fn program(name: &str) -> Option<(&'static str, &'static Tool)> {
    KNOWLEDGE.program(name)
}

/// What is known of a variable by its name.
pub(crate) fn variable(name: &str) -> Option<&'static Variable> {
    KNOWLEDGE.variables().iter().find(|variable| variable.fits(name))
}

/// Where credentials lie.
pub(crate) fn places() -> &'static [CredentialLocation] {
    KNOWLEDGE.places()
}

/// Tables, and what was decoded of them so far. That stays for as long as the process lives: there is no more of it than of
/// the tables.
struct Knowledge {
    index: Option<Index>,
    tools: Box<[OnceLock<&'static Tool>]>,
    variables: OnceLock<&'static [Variable]>,
    places: OnceLock<&'static [CredentialLocation]>,
}

impl Knowledge {
    fn new(tables: &'static [u8]) -> Self {
        let index = Index::open(tables);
        let count = index.as_ref().map_or(0, Index::count);
        let tools = std::iter::repeat_with(OnceLock::new).take(count).collect();
        Self { index, tools, variables: OnceLock::new(), places: OnceLock::new() }
    }

    fn program(&self, name: &str) -> Option<(&'static str, &'static Tool)> {
        if let Some(found) = self.exact(name) {
            return Some(found);
        }
        let bare = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
        let bare = bare.strip_suffix('-').unwrap_or(bare);
        let found = if bare.len() < name.len() { self.exact(bare)? } else { return None };
        found.1.versioned.then_some(found)
    }

    fn exact(&self, name: &str) -> Option<(&'static str, &'static Tool)> {
        let Some(index) = &self.index else {
            return Some((unreadable::TOOL.name, &unreadable::TOOL));
        };
        let (name, number) = index.find(name)?;
        let decode = || index.tool(number).map_or(&unreadable::TOOL, |tool| Box::leak(tool.into()));
        let tool = self.tools.get(number).map(|slot| *slot.get_or_init(decode));
        Some((name, tool.unwrap_or(&unreadable::TOOL)))
    }

    fn variables(&self) -> &'static [Variable] {
        let decode = || self.index.as_ref()?.variables();
        self.variables.get_or_init(|| decode().unwrap_or(unreadable::VARIABLES))
    }

    fn places(&self) -> &'static [CredentialLocation] {
        let decode = || self.index.as_ref()?.places();
        self.places.get_or_init(|| decode().unwrap_or(unreadable::PLACES))
    }
}
