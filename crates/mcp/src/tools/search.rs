//! Searching in files.

use globset::{GlobBuilder, GlobMatcher};
use offshoot_engine::error::ServiceError;
use offshoot_engine::file::{Body, VaultPath};
use offshoot_engine::text::line;
use offshoot_engine::{Error, Result, wire};
use offshoot_protocol::Text;
use regex::bytes::{Regex, RegexBuilder};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::answer::{Answer, MOST_TEXT, start};
use crate::arguments::Arguments;
use crate::session::Session;

/// Larger files are left out.
const MOST_BYTES: u64 = 4 << 20;
/// Without a limit so many lines are found.
const MATCHES: usize = 200;
/// Longer lines are cut.
const MOST_LINE: usize = 400;
/// What holds back no more than this of a file is looked at to see whether it is text.
const HEAD: usize = 8 << 10;
/// How large the program of an expression may be.
const MOST_PROGRAM: usize = 1 << 20;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SearchArgs {
    /// A regular expression; it is matched with each line.
    pattern: String,
    /// Look below this directory, or in this file only.
    path: Option<String>,
    /// Look only into files with such paths, for example `*.rs` or `src/**/*.ts`.
    glob: Option<String>,
    /// Take `pattern` as it is, not as an expression.
    #[serde(default)]
    literal: bool,
    /// Do not tell upper and lower case of ASCII letters apart.
    #[serde(default)]
    ignore_case: bool,
    /// How many lines to find. Without it, 200.
    limit: Option<usize>,
}

/// What was found.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct SearchDoc {
    /// What was looked at: a workspace, or `head`.
    at: String,
    matches: Vec<SearchMatchDoc>,
    /// Whether there are more.
    more: bool,
    /// How many files were looked into.
    files: u64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
}

/// A line that fits.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct SearchMatchDoc {
    path: Text,
    /// Its number, from 1.
    line: u64,
    text: Text,
}

pub(super) fn search(session: &Session, arguments: &Arguments) -> Result<Answer> {
    let args: SearchArgs = arguments.parse()?;
    let (regex, glob) = (expression(&args)?, glob(&args)?);
    let place = session.place(arguments.workspace())?;
    let path = session.path(args.path.as_deref().unwrap_or("."))?;
    let files = session.project.engine().files(session.project.vault());
    let (path, _) = files.list(&place.root, &path)?;
    let tree = files.tree(&place.root)?;
    let (path, top) = tree.resolve(&path).map_err(ServiceError::from)?;
    let mut wanted: Vec<VaultPath> = Vec::new();
    match top.directory() {
        None => wanted.push(path),
        Some(directory) => tree
            .walk(&path, directory, &mut |at, entry| {
                let fits = matches!(entry.body, Body::File { .. })
                    && entry.size() <= MOST_BYTES
                    && !at.names().iter().any(|name| *name == b".git")
                    && glob
                        .as_ref()
                        .is_none_or(|glob| glob.is_match(at.to_string().trim_start_matches('/')));
                if fits {
                    wanted.push(at.clone());
                }
                Ok(())
            })
            .map_err(ServiceError::from)?,
    }
    let limit = args.limit.unwrap_or(MATCHES).max(1);
    let mut found = SearchDoc {
        at: place.label,
        matches: Vec::new(),
        more: false,
        files: 0,
        notes: session.notes(),
    };
    let mut bytes = Vec::new();
    for path in wanted {
        bytes.clear();
        let mut file = files.open(&place.root, &path)?;
        file.reader.read_to_end(&mut bytes).map_err(ServiceError::from)?;
        if bytes[..bytes.len().min(HEAD)].contains(&0) {
            continue;
        }
        found.files += 1;
        look(&regex, &path, &bytes, limit, &mut found);
        if found.more {
            break;
        }
    }
    let lines = found.matches.iter().map(|one| {
        format!("{}:{}:{}\n", line(one.path.as_str()), one.line, line(one.text.as_str()))
    });
    let mut text = start(&lines.collect::<String>(), MOST_TEXT);
    if found.matches.is_empty() {
        text = format!("nothing found in {} files", found.files);
    }
    if found.more {
        text.push_str("there are more: raise `limit`, or narrow it down with `path` or `glob`\n");
    }
    Ok(Answer::of(&found, text))
}

fn look(regex: &Regex, path: &VaultPath, bytes: &[u8], limit: usize, found: &mut SearchDoc) {
    for (number, text) in bytes.split(|byte| *byte == b'\n').enumerate() {
        if !regex.is_match(text) {
            continue;
        }
        if found.matches.len() == limit {
            found.more = true;
            return;
        }
        let text = text.strip_suffix(b"\r").unwrap_or(text);
        found.matches.push(SearchMatchDoc {
            path: wire::path(path),
            line: number as u64 + 1,
            text: Text::new(&text[..text.len().min(MOST_LINE)]),
        });
    }
}

fn expression(args: &SearchArgs) -> Result<Regex> {
    let pattern = match args.literal {
        true => regex::escape(&args.pattern),
        false => args.pattern.clone(),
    };
    // Bytes, not letters: the tables for all of Unicode are not in this program.
    RegexBuilder::new(&pattern)
        .unicode(false)
        .case_insensitive(args.ignore_case)
        .size_limit(MOST_PROGRAM)
        .build()
        .map_err(|error| {
            Error::usage(format!("`pattern` cannot be used: {error}"))
                .hint("set `literal` to look for the text itself")
        })
}

fn glob(args: &SearchArgs) -> Result<Option<GlobMatcher>> {
    let Some(text) = &args.glob else { return Ok(None) };
    // As with git: one without a slash fits at any depth.
    let text = match text.trim_start_matches('/') {
        name if !name.contains('/') => format!("**/{name}"),
        path => path.to_owned(),
    };
    let glob = GlobBuilder::new(&text).literal_separator(true).build();
    let glob = glob.map_err(|error| Error::usage(format!("`glob` cannot be used: {error}")))?;
    Ok(Some(glob.compile_matcher()))
}
