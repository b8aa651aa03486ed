//! Reading, writing and listing files.

use offshoot_engine::file::{Entry, VaultPath};
use offshoot_engine::lines::lines;
use offshoot_engine::listing::ListingOptions;
use offshoot_engine::report::changes;
use offshoot_engine::text::head;
use offshoot_engine::{Result, wire};
use offshoot_protocol::{FileDoc, ListDoc, Text};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::answer::{Answer, MOST_TEXT};
use crate::arguments::Arguments;
use crate::session::{Place, Session};

/// Without a limit so many lines are read.
const LINES: usize = 2_000;
/// Without a limit so many entries are listed.
const ENTRIES: usize = 1_000;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ReadArgs {
    /// The file: `src/main.rs` from the server's directory, `/src/main.rs` from the top of the project, or the path as commands see it.
    path: String,
    /// The first line to read, counted from 1.
    offset: Option<usize>,
    /// How many lines to read. Without it, 2000.
    limit: Option<usize>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct WriteArgs {
    /// The file, as with `read`.
    path: String,
    /// All that is to be in it.
    content: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ListArgs {
    /// The directory, as with `read`. Without it, the server's.
    path: Option<String>,
    /// How many levels to list. Without it, 1.
    depth: Option<usize>,
    /// How many entries to list. Without it, 1000.
    limit: Option<usize>,
}

/// All bytes of a file.
pub(super) fn content(
    session: &Session,
    place: &Place,
    path: &VaultPath,
) -> Result<(VaultPath, Entry, Vec<u8>)> {
    session.project.engine().content(session.project.vault(), &place.root, path)
}

pub(super) fn read(session: &Session, arguments: &Arguments) -> Result<Answer> {
    let args: ReadArgs = arguments.parse()?;
    let place = session.place(arguments.workspace())?;
    let (path, entry, bytes) = content(session, &place, &session.path(&args.path)?)?;
    let mut notes = session.notes();
    let (shown, text) = match std::str::from_utf8(&bytes) {
        Ok(text) => {
            let found = lines(text, args.offset.unwrap_or(1), args.limit.unwrap_or(LINES))?;
            notes.extend(found.note());
            let shown = found.text;
            (Text::new(shown.as_bytes()), head(shown, MOST_TEXT * 4))
        }
        Err(_) => {
            let text = format!("{path} is no text: {} bytes", bytes.len());
            let most = bytes.len().min(MOST_TEXT);
            (Text::new(&bytes[..most]), text)
        }
    };
    let document = FileDoc {
        at: place.label,
        path: wire::path(&path),
        size: entry.size(),
        checksum: wire::entry(&path, &entry).checksum.unwrap_or_default(),
        content: shown,
    };
    Ok(Answer::framed(document, notes, text))
}

pub(super) fn write(session: &Session, arguments: &Arguments) -> Result<Answer> {
    let args: WriteArgs = arguments.parse()?;
    let path = session.path(&args.path)?;
    let workspace = session.to_change(arguments.workspace())?;
    let document = workspace.put(&path, args.content.as_bytes())?;
    let text = match &*document.changes {
        [] => format!("{path} has that content already"),
        all => changes(all),
    };
    Ok(Answer::framed(document, session.notes(), text))
}

pub(super) fn list(session: &Session, arguments: &Arguments) -> Result<Answer> {
    let args: ListArgs = arguments.parse()?;
    let place = session.place(arguments.workspace())?;
    let path = session.path(args.path.as_deref().unwrap_or("."))?;
    let (engine, vault) = (session.project.engine(), session.project.vault());
    let options = ListingOptions {
        depth: args.depth.unwrap_or(1),
        limit: args.limit.unwrap_or(ENTRIES),
        glob: None,
    };
    let listing = engine.listing(vault, &place.root, &path, &options)?;
    let mut notes = session.notes();
    notes.extend(listing.note());
    let document = ListDoc {
        at: place.label,
        path: wire::path(&listing.path),
        entries: listing.entries.iter().map(|(at, entry)| wire::entry(at, entry)).collect(),
    };
    Ok(Answer::framed(document, notes, listing.text(MOST_TEXT)))
}
