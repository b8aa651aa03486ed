//! `commit -p`: asking about each change, one by one.

use std::collections::BTreeMap;
use std::io::BufRead;

use offshoot_engine::commit::{Choice, Held, Selection};
use offshoot_engine::file::VaultPath;
use offshoot_engine::review::{Decision, FoldedReview, Group, Item, PieceKind, Tally, decide_all};
use offshoot_engine::vault::Vault;
use offshoot_engine::workspace::WorkspaceRecord;

use super::summary::held;
use crate::context::Context;
use crate::context::noise::ExpandArgs;
use crate::error::{CliError, Result};
use crate::render::listing::place_text;
use crate::render::{self, BAD, BOLD, NAME, paint};
use crate::review::{edit, piece_lines};
use crate::terminal;
use offshoot_protocol::Hint;

const HELP: &str = "\
y  commit this
n  leave this in the workspace
a  commit this and everything after it in this file
d  leave this and everything after it in this file
";

const SPLIT_HELP: &str = "s  split this into smaller pieces\n";

const EDIT_HELP: &str =
    "e  edit these lines; the edited lines are committed, the workspace keeps its own\n";

const LAST_HELP: &str = "\
q  leave this and everything after it
?  this help
";

const GROUP_HELP: &str = "\
y  commit all of it
n  leave all of it in the workspace
x  ask about each file
q  leave this and everything after it
?  this help
";

/// What an answer leads to.
enum Next {
    /// The piece after this one.
    Piece,
    /// The same piece again.
    Again,
    /// The next file.
    File,
    /// No more questions.
    End,
}

/// Asks what is to be committed. `None` where nothing is.
pub(super) fn pick(
    context: &Context,
    vault: &Vault,
    workspace: &WorkspaceRecord,
    selection: &Selection<'_>,
    expand: ExpandArgs,
) -> Result<Option<BTreeMap<VaultPath, Choice>>> {
    if context.output.is_json() || !terminal::is_attended() {
        let hint = Hint::command("offshoot review --accept ID --commit")
            .text(" does the same without one");
        return Err(CliError::usage("-p asks questions, so it needs a terminal").hint(hint));
    }
    let service = context.engine.reviews(vault);
    let mut items = service.items(workspace, selection, &[])?;
    items.retain(|item| item.held.is_none());
    let roots = [vault.head()?.root, vault.snapshot(&workspace.state.head)?.root];
    let mut noise = context.noise(vault, &roots, expand)?;
    let mut review = FoldedReview::new(items, noise.as_mut())?;
    ask_all(context, &mut review)?;
    if !Tally::of_pieces(&review.items).takes_something() {
        let name = paint(NAME, &workspace.name);
        let stays: Vec<Held> =
            context.preview(vault, workspace, false)?.proposal.stays().cloned().collect();
        let stays = held(&workspace.name, &stays, noise.as_mut())?;
        context.output.text(&format!("nothing chosen to commit from {name}\n{stays}"))?;
        return Ok(None);
    }
    Ok(Some(service.choices(workspace, selection, &review.items)?))
}

fn ask_all(context: &Context, review: &mut FoldedReview) -> Result<()> {
    let mut at = 0;
    while at < review.items.len() {
        let group = review.groups.iter().position(|group| group.items.start == at);
        let answer = match group {
            Some(group) => ask_about_group(context, review, &review.groups[group])?,
            None => Answer::Expand,
        };
        match (answer, group) {
            (Answer::All(decision), Some(group)) => {
                let items = review.groups[group].items.clone();
                at = items.end;
                decide_all(&mut review.items[items], &decision);
            }
            (Answer::End, _) => return Ok(()),
            _ => {
                if !ask_about(context, &mut review.items[at])? {
                    return Ok(());
                }
                at += 1;
            }
        }
    }
    Ok(())
}

/// What is said about files that are shown as one.
enum Answer {
    /// The same for all.
    All(Decision),
    /// They are asked about one by one.
    Expand,
    /// No more questions.
    End,
}

fn ask_about_group(context: &Context, review: &FoldedReview, group: &Group) -> Result<Answer> {
    let changes = review.items[group.items.clone()].iter().map(|item| &item.change);
    let text = place_text(&group.at, &group.kind, changes);
    context.output.text(&format!("{}\n", paint(BOLD, &text)))?;
    loop {
        context.output.text(&paint(NAME, "commit all of it [y,n,x,q,?]? "))?;
        let Some(answer) = read_answer() else { return Ok(Answer::End) };
        match answer.trim() {
            "y" | "a" => return Ok(Answer::All(Decision::Accepted)),
            "n" | "d" => return Ok(Answer::All(Decision::Undecided)),
            "x" => return Ok(Answer::Expand),
            "q" => return Ok(Answer::End),
            _ => context.output.text(GROUP_HELP)?,
        }
    }
}

/// A line that somebody typed; `None` where there are no more.
fn read_answer() -> Option<String> {
    let mut answer = String::new();
    let read = std::io::stdin().lock().read_line(&mut answer);
    matches!(read, Ok(1..)).then_some(answer)
}

/// Asks about the pieces of an item; false where there are to be no more questions.
fn ask_about(context: &Context, item: &mut Item) -> Result<bool> {
    context.output.text(&format!("{}\n", render::change(&item.change)))?;
    let mut at = 0;
    while at < item.pieces.len() {
        let left_moved = item
            .pieces
            .iter()
            .any(|piece| piece.kind == PieceKind::Rename && piece.decision != Decision::Accepted);
        if at > 0 && left_moved {
            // Lines of a file that was moved are committed with the move or not at all.
            return Ok(true);
        }
        match ask(context, item, at)? {
            Next::Piece => at += 1,
            Next::Again => {}
            Next::File => return Ok(true),
            Next::End => return Ok(false),
        }
    }
    Ok(true)
}

fn ask(context: &Context, item: &mut Item, at: usize) -> Result<Next> {
    let shown: String = piece_lines(item, at).iter().map(|line| line.painted() + "\n").collect();
    context.output.text(&shown)?;
    // A file that is binary or deleted has nothing to split or to edit.
    let splits = matches!(item.pieces[at].kind, PieceKind::Lines(_));
    let edits = item.editable(at).is_some();
    let question = format!(
        "({}/{}) commit this {} [y,n,q,a,d,{}{}?]? ",
        at + 1,
        item.pieces.len(),
        item.pieces[at].kind.word(),
        if splits { "s," } else { "" },
        if edits { "e," } else { "" }
    );
    context.output.text(&paint(NAME, &question))?;
    let Some(answer) = read_answer() else { return Ok(Next::End) };
    let accept = |item: &mut Item, from: usize| {
        item.pieces[from..].iter_mut().for_each(|piece| piece.decision = Decision::Accepted);
    };
    Ok(match answer.trim() {
        "y" => {
            item.pieces[at].decision = Decision::Accepted;
            Next::Piece
        }
        "n" => Next::Piece,
        "a" => {
            accept(item, at);
            Next::File
        }
        "d" => Next::File,
        "q" => Next::End,
        "s" => {
            if !item.split(at) {
                say(context, "this cannot be split any further")?;
            }
            Next::Again
        }
        "e" => edit_piece(context, item, at)?,
        _ => {
            let split = if splits { SPLIT_HELP } else { "" };
            let edit = if edits { EDIT_HELP } else { "" };
            context.output.text(&format!("{HELP}{split}{edit}{LAST_HELP}"))?;
            Next::Again
        }
    })
}

fn edit_piece(context: &Context, item: &mut Item, at: usize) -> Result<Next> {
    let Some(text) = item.editable(at) else {
        say(context, "there are no lines to edit here")?;
        return Ok(Next::Again);
    };
    match edit(&text, &item.change.path) {
        Ok(Some(edited)) => {
            item.pieces[at].decision = Decision::Edited(edited);
            Ok(Next::Piece)
        }
        Ok(None) => Ok(Next::Again),
        Err(error) => {
            say(context, &error.message)?;
            Ok(Next::Again)
        }
    }
}

fn say(context: &Context, text: &str) -> Result<()> {
    context.output.text(&format!("{}\n", paint(BAD, &render::line(text))))
}
