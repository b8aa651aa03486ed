//! Replacing text in a file.

use offshoot_engine::Result;
use offshoot_engine::edit::{TextEdit, replace};
use schemars::JsonSchema;
use serde::Deserialize;

use super::files::content;
use crate::answer::Answer;
use crate::arguments::Arguments;
use crate::session::Session;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct EditArgs {
    /// The file, as with `read`.
    path: String,
    /// The text to replace, exactly as it is in the file.
    old_text: String,
    /// The text to put in its place.
    new_text: String,
    /// Replace it wherever it is.
    #[serde(default)]
    replace_all: bool,
}

pub(super) fn edit(session: &Session, arguments: &Arguments) -> Result<Answer> {
    let args: EditArgs = arguments.parse()?;
    let path = session.path(&args.path)?;
    let edit = TextEdit { old: &args.old_text, new: &args.new_text, all: args.replace_all };
    // What cannot be done forks nothing.
    let place = session.place(arguments.workspace())?;
    let (path, _, bytes) = content(session, &place, &path)?;
    let count = replace(&bytes, &edit)?.count;
    let workspace = session.to_change(arguments.workspace())?;
    let place = Session::place_of(&workspace)?;
    let (path, _, bytes) = content(session, &place, &path)?;
    let edited = replace(&bytes, &edit)?;
    let document = workspace.put(&path, &edited.bytes)?;
    let times = if count == 1 { String::new() } else { format!(" in {count} places") };
    Ok(Answer::framed(document, session.notes(), format!("{path} is changed{times}")))
}
