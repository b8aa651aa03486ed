//! Showing a walk in the terminal that this process was started in.

use offshoot_engine::review::{FoldedReview, Item};

use super::editor;
use super::walk::{Action, Ending, Walk};
use crate::error::Result;
use crate::screen::Screen;
use crate::terminal;

/// What is said where it ends before somebody is done.
const UNFINISHED: &str = "the review ended, and nothing was changed";

/// Walks through items until somebody ends it, and gives them back with the decisions.
pub(crate) fn walk(
    title: String,
    review: FoldedReview,
    can_commit: bool,
) -> Result<(FoldedReview, Ending)> {
    let mut walk = Walk::new(title, review, can_commit);
    let mut screen = Screen::enter(UNFINISHED)?;
    loop {
        if let Some((lines, columns)) = terminal::size() {
            walk.resize(lines, columns);
        }
        screen.draw(&walk.screen())?;
        for key in screen.read()? {
            match walk.press(key) {
                Action::Show => {}
                Action::End(ending) => return Ok((walk.into_review(), ending)),
                Action::EditPiece => screen = edit_piece(screen, &mut walk)?,
                Action::EditFile => screen = edit_file(screen, &mut walk)?,
            }
        }
    }
}

fn edit_piece(screen: Screen, walk: &mut Walk) -> Result<Screen> {
    let at = walk.current_piece();
    let text = walk.current().and_then(|item| item.editable(at));
    edit(screen, walk, text, Walk::edited_piece)
}

fn edit_file(screen: Screen, walk: &mut Walk) -> Result<Screen> {
    let text = walk.current().and_then(Item::whole_editable);
    edit(screen, walk, text, Walk::edited_file)
}

/// Leaves the terminal to an editor, and takes over what it made of a text.
fn edit(
    screen: Screen,
    walk: &mut Walk,
    text: Option<Vec<u8>>,
    take: impl FnOnce(&mut Walk, Vec<u8>),
) -> Result<Screen> {
    let (Some(text), Some(path)) = (text, walk.current().map(|item| item.change.path.clone()))
    else {
        return Ok(screen);
    };
    drop(screen);
    match editor::edit(&text, &path) {
        Ok(Some(edited)) => take(walk, edited),
        Ok(None) => walk.say("nothing was changed in the editor"),
        Err(error) => walk.say(error.message),
    }
    Screen::enter(UNFINISHED)
}
