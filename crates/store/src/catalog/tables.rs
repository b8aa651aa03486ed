//! The tables whose rows carry a hash over themselves.

use super::schema::HAS_SESSIONS;

/// A table of which every row has a column `sum`: a hash over the columns that are named here.
#[derive(Debug)]
pub(crate) struct Table {
    /// Its name.
    pub(crate) name: &'static str,
    /// What a row of it is, for people.
    pub(super) noun: &'static str,
    /// The version of the format that brought it.
    pub(crate) since: i64,
    /// The columns that the hash covers, in its order.
    pub(crate) columns: &'static [&'static str],
    /// Which of them are the primary key.
    pub(super) key: &'static [usize],
    /// Which of them name a row to people.
    pub(super) shown: &'static [usize],
    /// A column that listings do not read, and which of the columns is the hash of it.
    pub(crate) apart: Option<(&'static str, usize)>,
}

const FIRST: &[usize] = &[0];

pub(crate) const META: Table = Table {
    name: "meta",
    noun: "setting",
    since: 1,
    columns: &["key", "value"],
    key: FIRST,
    shown: FIRST,
    apart: None,
};

pub(crate) const SNAPSHOTS: Table = Table {
    name: "snapshots",
    noun: "snapshot",
    since: 1,
    columns: &[
        "id",
        "root",
        "content",
        "parents",
        "time_ms",
        "actor",
        "reason",
        "message",
        "operation",
    ],
    key: FIRST,
    shown: FIRST,
    apart: None,
};

pub(crate) const REFS: Table = Table {
    name: "refs",
    noun: "ref",
    since: 1,
    columns: &["kind", "id", "scope", "name", "value"],
    key: &[0, 1],
    shown: &[0, 3, 1],
    apart: None,
};

pub(crate) const OPERATIONS: Table = Table {
    name: "operations",
    noun: "operation",
    since: 1,
    columns: &["seq", "id", "time_ms", "actor", "kind", "scope", "summary", "reverts", "changes"],
    key: FIRST,
    shown: &[1],
    apart: None,
};

/// Envelopes are long and come last in their rows: a listing reads the hash of one and not the envelope.
pub(crate) const EXECS: Table = Table {
    name: "execs",
    noun: "command",
    since: 2,
    columns: &[
        "id",
        "workspace",
        "operation",
        "started_ms",
        "ended_ms",
        "state",
        "command",
        "exit_code",
        "signal",
        "changed",
        "before",
        "after",
        "actor",
        "envelope_sum",
    ],
    key: FIRST,
    shown: FIRST,
    apart: Some(("envelope", 13)),
};

pub(crate) const EXEC_OUTPUTS: Table = Table {
    name: "exec_outputs",
    noun: "output of command",
    since: 2,
    columns: &["exec", "stream", "bytes"],
    key: &[0, 1],
    shown: &[0, 1],
    apart: None,
};

pub(crate) const AUDIT: Table = Table {
    name: "audit",
    noun: "audit event",
    since: 1,
    columns: &["seq", "time_ms", "operation", "event", "chain"],
    key: FIRST,
    shown: FIRST,
    apart: None,
};

pub(crate) const LAYERS: Table = Table {
    name: "layers",
    noun: "layer",
    since: 1,
    columns: &["id", "kind", "root", "bytes", "created_ms"],
    key: FIRST,
    shown: FIRST,
    apart: None,
};

pub(crate) const PACKS: Table = Table {
    name: "packs",
    noun: "pack",
    since: 3,
    columns: &["id", "bytes", "created_ms"],
    key: FIRST,
    shown: FIRST,
    apart: None,
};

pub(crate) const COLLECTED: Table = Table {
    name: "collected",
    noun: "collected object",
    since: 3,
    columns: &["id", "time_ms"],
    key: FIRST,
    shown: FIRST,
    apart: None,
};

pub(crate) const STACKS: Table = Table {
    name: "stacks",
    noun: "stack of root",
    since: 1,
    columns: &["root", "layers", "data"],
    key: FIRST,
    shown: FIRST,
    apart: None,
};

pub(crate) const LINKS: Table = Table {
    name: "links",
    noun: "list of hard links of root",
    since: 2,
    columns: &["root", "paths"],
    key: FIRST,
    shown: FIRST,
    apart: None,
};

/// What changes in a session with every append.
pub(crate) const SESSIONS: Table = Table {
    name: "sessions",
    noun: "session",
    since: HAS_SESSIONS,
    columns: &[
        "id",
        "events",
        "chain",
        "changed_ms",
        "state",
        "provider",
        "model",
        "tokens_in",
        "tokens_out",
        "cost",
        "signature",
    ],
    key: FIRST,
    shown: FIRST,
    apart: None,
};

pub(crate) const SESSION_EVENTS: Table = Table {
    name: "session_events",
    noun: "event of session",
    since: HAS_SESSIONS,
    columns: &[
        "session", "number", "time_ms", "kind", "content", "bytes", "snapshot", "chain", "body",
    ],
    key: &[0, 1],
    shown: &[0, 1],
    apart: None,
};

/// The contents that sessions keep. Places in this table are never used again, so whoever looked at it needs to look only at what came since.
pub(crate) const SESSION_CONTENTS: Table = Table {
    name: "session_contents",
    noun: "content of session",
    since: HAS_SESSIONS,
    columns: &["seq", "session", "name", "content", "bytes"],
    key: FIRST,
    shown: &[1, 2],
    apart: None,
};

pub(crate) const CALLS: Table = Table {
    name: "calls",
    noun: "call of session",
    since: HAS_SESSIONS,
    columns: &["session", "call", "what", "id", "time_ms"],
    key: &[0, 1],
    shown: &[0, 1],
    apart: None,
};

/// All of them. The order is that of the tallies, and so part of the storage format.
pub(crate) const TABLES: [&Table; 16] = [
    &META,
    &SNAPSHOTS,
    &REFS,
    &OPERATIONS,
    &EXECS,
    &EXEC_OUTPUTS,
    &AUDIT,
    &LAYERS,
    &PACKS,
    &COLLECTED,
    &STACKS,
    &LINKS,
    &SESSIONS,
    &SESSION_EVENTS,
    &SESSION_CONTENTS,
    &CALLS,
];

/// How many tables there were before sessions: older catalogs have tallies of those alone.
pub(super) const BEFORE_SESSIONS: usize = 12;

impl Table {
    /// Its place among the tallies.
    pub(super) fn place(&self) -> usize {
        let found = TABLES.iter().position(|table| table.name == self.name);
        found.expect("every table with hashes is in the list of them")
    }

    /// The condition that a row has the key whose columns are the parameters.
    pub(super) fn has_key(&self) -> String {
        let columns = self.key.iter().enumerate();
        let conditions =
            columns.map(|(at, column)| format!("{} = ?{}", self.columns[*column], at + 1));
        conditions.collect::<Vec<_>>().join(" AND ")
    }
}
