//! A walk through the changes of a workspace, in a terminal.
//!
//! [`walk::Walk`] is what happens: keys go in, decisions and a screen come out, and nothing in it touches a terminal. [`walk()`] shows
//! it in one.

mod drive;
mod editor;
mod screen;
mod show;
mod walk;

pub(crate) use drive::walk;
pub(crate) use editor::edit;
pub(crate) use show::piece_lines;
pub(crate) use walk::{Ending, tally_text};
