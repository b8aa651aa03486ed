//! What is known of programs, variables and places: static tables, made from `knowledge/*.toml` when the crate is built.

mod table;

mod generated {
    use super::table::{
        Effect, First, Known, Language, Operands, Place, Role, Style, Tool, Variable, When,
    };
    use crate::category::{Categories, Category};

    include!(concat!(env!("OUT_DIR"), "/tables.rs"));
}

pub(crate) use generated::PLACES;
pub(crate) use table::{
    Effect, Known, Language, Operands, Place, Role, Style, Tool, Variable, When,
};

/// What is known of a program by its bare name. A version at its end is dropped where its kind is known to have some:
/// `python3.12`, `gcc-14`.
pub(crate) fn program(name: &str) -> Option<(&'static str, &'static Tool)> {
    if let Some(found) = exact(name) {
        return Some(found);
    }
    let bare = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    let bare = bare.strip_suffix('-').unwrap_or(bare);
    let found = if bare.len() < name.len() { exact(bare)? } else { return None };
    found.1.versioned.then_some(found)
}

fn exact(name: &str) -> Option<(&'static str, &'static Tool)> {
    let index = generated::TOOLS.binary_search_by(|(known, _)| (*known).cmp(name)).ok()?;
    Some(generated::TOOLS[index])
}

/// What is known of a variable by its name.
pub(crate) fn variable(name: &str) -> Option<&'static Variable> {
    generated::VARIABLES.iter().find(|variable| variable.fits(name))
}
