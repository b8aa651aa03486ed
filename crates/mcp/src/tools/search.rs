//! Searching in files.

use offshoot_engine::path_glob::PathGlob;
use offshoot_engine::search::Search;
use offshoot_engine::{Result, wire};
use offshoot_protocol::Text;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::answer::{Answer, MOST_TEXT};
use crate::arguments::Arguments;
use crate::session::Session;

/// Without a limit so many lines are found.
const MATCHES: usize = 200;

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
    let search = Search {
        literal: args.literal,
        ignore_case: args.ignore_case,
        glob: args.glob.as_deref().map(PathGlob::new).transpose()?,
        limit: args.limit.unwrap_or(MATCHES),
        ..Search::new(args.pattern)
    };
    let place = session.place(arguments.workspace())?;
    let path = session.path(args.path.as_deref().unwrap_or("."))?;
    let (engine, vault) = (session.project.engine(), session.project.vault());
    let found = engine.search(vault, &place.root, &path, &search)?;
    let text = found.text(MOST_TEXT);
    let matches = found.lines.iter().map(|found| SearchMatchDoc {
        path: wire::path(&found.path),
        line: found.line,
        text: Text::new(&found.text),
    });
    let document = SearchDoc {
        at: place.label,
        matches: matches.collect(),
        more: found.more,
        files: found.files,
        notes: session.notes(),
    };
    Ok(Answer::of(&document, text))
}
