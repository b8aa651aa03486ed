//! Reading, writing and listing files.

use std::path::Path;

use offshoot_engine::file::{Entry, EntryKind, VaultPath};
use offshoot_engine::{Error, Result, Workspace, wire};
use offshoot_protocol::{EditDoc, ExitCode, FileDoc, ListDoc, Text};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::answer::{Answer, MOST_TEXT, changes, start};
use crate::arguments::Arguments;
use crate::session::{Place, Session};

/// Without a limit so many lines are read.
const LINES: usize = 2_000;
/// A larger file is not read into memory.
pub(super) const MOST_BYTES: u64 = 16 << 20;
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
    let engine = session.project.engine();
    let mut file = engine.files(session.project.vault()).open(&place.root, path)?;
    if file.entry.size() > MOST_BYTES {
        let message =
            format!("{} is too large to read at once: {} bytes", file.path, file.entry.size());
        return Err(Error::usage(message).hint("read parts of it with exec: head, tail, sed -n"));
    }
    let mut bytes = Vec::new();
    file.reader.read_to_end(&mut bytes).map_err(offshoot_engine::error::ServiceError::from)?;
    Ok((file.path, file.entry, bytes))
}

pub(super) fn read(session: &Session, arguments: &Arguments) -> Result<Answer> {
    let args: ReadArgs = arguments.parse()?;
    let place = session.place(arguments.workspace())?;
    let (path, entry, bytes) = content(session, &place, &session.path(&args.path)?)?;
    let mut notes = session.notes();
    let (shown, text) = match std::str::from_utf8(&bytes) {
        Ok(text) => {
            let shown = lines(text, &args, &mut notes)?;
            (Text::new(shown.as_bytes()), start(shown, MOST_TEXT * 4))
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

/// The lines that were asked for.
fn lines<'t>(text: &'t str, args: &ReadArgs, notes: &mut Vec<String>) -> Result<&'t str> {
    let first = args.offset.unwrap_or(1).max(1);
    let limit = args.limit.unwrap_or(LINES);
    let starts: Vec<usize> = text
        .split_inclusive('\n')
        .scan(0, |at, line| {
            let start = *at;
            *at += line.len();
            Some(start)
        })
        .collect();
    if first > starts.len().max(1) {
        return Err(Error::usage(format!(
            "offset {first} is behind the end: there are {} lines",
            starts.len()
        )));
    }
    let from = starts.get(first - 1).copied().unwrap_or_default();
    let last = (first - 1).saturating_add(limit);
    let to = starts.get(last).copied().unwrap_or(text.len());
    if from > 0 || to < text.len() {
        notes.push(format!("lines {first} to {} of {}", last.min(starts.len()), starts.len()));
    }
    Ok(&text[from..to])
}

pub(super) fn write(session: &Session, arguments: &Arguments) -> Result<Answer> {
    let args: WriteArgs = arguments.parse()?;
    let path = session.path(&args.path)?;
    let workspace = session.to_change(arguments.workspace())?;
    let document = put(&workspace, &path, args.content.as_bytes())?;
    let text = match &*document.changes {
        [] => format!("{path} has that content already"),
        all => changes(all),
    };
    Ok(Answer::framed(document, session.notes(), text))
}

/// Gives a file this content.
pub(super) fn put(workspace: &Workspace, path: &VaultPath, bytes: &[u8]) -> Result<EditDoc> {
    let (project, record) = (workspace.project(), workspace.record()?);
    let files = project.engine().files(project.vault());
    let edited = files.write(&record, path, &mut &*bytes, Path::new("the content"), true)?;
    Ok(wire::edit(&record.name, &edited, None))
}

pub(super) fn list(session: &Session, arguments: &Arguments) -> Result<Answer> {
    let args: ListArgs = arguments.parse()?;
    let place = session.place(arguments.workspace())?;
    let path = session.path(args.path.as_deref().unwrap_or("."))?;
    let (engine, vault) = (session.project.engine(), session.project.vault());
    // Says what may have been meant where there is no such path.
    let (path, _) = engine.files(vault).list(&place.root, &path)?;
    let tree = engine.files(vault).tree(&place.root)?;
    let (path, top) = tree.resolve(&path).map_err(offshoot_engine::error::ServiceError::from)?;
    let Some(directory) = top.directory() else {
        return Err(Error::new(ExitCode::Usage, format!("{path} is no directory")));
    };
    let (most, deepest) =
        (args.limit.unwrap_or(ENTRIES), path.names().len() + args.depth.unwrap_or(1).max(1));
    let (mut found, mut more) = (Vec::new(), 0_usize);
    tree.walk(&path, directory, &mut |at, entry| {
        if at.names().len() <= deepest {
            match found.len() < most {
                true => found.push((at.clone(), entry.clone())),
                false => more += 1,
            }
        }
        Ok(())
    })
    .map_err(offshoot_engine::error::ServiceError::from)?;
    let mut notes = session.notes();
    if more > 0 {
        notes.push(format!("{more} more entries: raise `limit`, or list a directory below"));
    }
    let names = found.iter().map(|(at, entry)| match entry.kind() {
        EntryKind::Directory => format!("{at}/\n"),
        _ => format!("{at}\n"),
    });
    let text = names.collect::<String>();
    let document = ListDoc {
        at: place.label,
        path: wire::path(&path),
        entries: found.iter().map(|(at, entry)| wire::entry(at, entry)).collect(),
    };
    let text = if text.is_empty() { format!("{path} is empty") } else { text };
    Ok(Answer::framed(document, notes, start(&text, MOST_TEXT)))
}
