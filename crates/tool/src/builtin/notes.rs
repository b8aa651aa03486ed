//! Notes of the session.

use offshoot_tool_macros::tool;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::blocking::blocking;
use crate::context::CallContext;
use crate::error::ToolError;
use crate::host::ToolHost;
use crate::notes::NotesError;

/// So many notes, of so many bytes each, with names of so many letters.
const MOST_NOTES: usize = 64;
const MOST_BYTES: usize = 64 << 10;
const LONGEST_NAME: usize = 50;

/// What to do with notes.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum NotesAction {
    /// List their names.
    List,
    /// Read one.
    Read,
    /// Write one; what was in it is replaced.
    Write,
    /// Add to the end of one.
    Append,
    /// Remove one.
    Remove,
}

/// Keep notes for this session: plans, findings, what is left to do. They are no files of the workspace and stay when it goes
/// back to an earlier state.
#[tool(effects = "change", capability = "notes", crate = "crate")]
pub(crate) async fn notes(
    /// What to do.
    action: NotesAction,
    /// The note's name: 1 to 50 letters from a to z, digits, `.`, `_` and `-`. Needed for all but `list`.
    name: Option<String>,
    /// The text to write or append.
    text: Option<String>,
    context: CallContext,
) -> Result<String, ToolError> {
    blocking(&context, move |host| act(host, action, name, text)).await
}

fn act(
    host: &ToolHost,
    action: NotesAction,
    name: Option<String>,
    text: Option<String>,
) -> Result<String, ToolError> {
    let notes = host.notes_kept();
    let names = || notes.names().map_err(failed);
    if let NotesAction::List = action {
        return Ok(match &*names()? {
            [] => "there are no notes".to_owned(),
            all => all.join("\n"),
        });
    }
    let name = name.filter(|name| is_name(name)).ok_or_else(|| {
        ToolError::refused(format!(
            "a note needs a `name` of 1 to {LONGEST_NAME} letters from a to z, digits, `.`, `_` and `-`"
        ))
    })?;
    let old = notes.read(&name).map_err(failed)?;
    let missing = || {
        let known = names().unwrap_or_default().join(", ");
        ToolError::refused(format!("there is no note {name:?}")).hint(format!("notes are: {known}"))
    };
    let text = || text.ok_or_else(|| ToolError::refused("`text` is missing: what is to be noted?"));
    let new = match action {
        NotesAction::List | NotesAction::Read => return old.ok_or_else(missing),
        NotesAction::Remove => {
            old.ok_or_else(missing)?;
            notes.write(&name, None).map_err(failed)?;
            return Ok(format!("note {name} is removed"));
        }
        NotesAction::Write => text()?,
        NotesAction::Append => match old.clone() {
            Some(old) => format!("{}\n{}", old.trim_end(), text()?),
            None => text()?,
        },
    };
    if new.len() > MOST_BYTES {
        let message = format!("a note has no more than {MOST_BYTES} bytes, not {}", new.len());
        return Err(ToolError::refused(message).hint("note what matters, or use several notes"));
    }
    if old.is_none() && names()?.len() >= MOST_NOTES {
        let message = format!("there are {MOST_NOTES} notes, and no more");
        return Err(ToolError::refused(message).hint("remove some"));
    }
    notes.write(&name, Some(&new)).map_err(failed)?;
    Ok(format!("note {name} has {} bytes", new.len()))
}

/// Whether a note may be called so, wherever it is kept.
fn is_name(name: &str) -> bool {
    let fits = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '_' | '-');
    (1..=LONGEST_NAME).contains(&name.len()) && name.chars().all(fits)
}

fn failed(error: NotesError) -> ToolError {
    ToolError::fatal(format!("notes cannot be kept: {error}"))
}
