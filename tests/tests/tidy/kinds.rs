//! Whatever is recorded in the audit log can be asked for by its kind, and the page about the log has it.

use std::collections::BTreeSet;

use crate::listing::Listing;

/// Where all kinds are listed: `audit log --kind` takes these and its help shows them.
const KINDS: &str = "crates/workspace/src/audit.rs";
/// The page that says what each is.
const PAGE: &str = "docs/design/audit.md";

/// What records an event, by what stands before its kind.
const CALLS: &[&str] = &[".transact(", ".record_event(", ".record_on(", "vault.announce("];

/// Kinds that are no text where they are recorded: the file, the expression, and all that it can be.
pub(crate) const COMPUTED: &[(&str, &str, &[&str])] = &[
    ("crates/engine/src/audit.rs", "kind", &["config set", "config unset"]),
    ("crates/engine/src/tool_trust/record.rs", "kind", &["mcp call", "mcp result"]),
    ("crates/vault/src/undo.rs", "kind", &["undo", "redo"]),
    ("crates/workspace/src/approval.rs", "verb", &["deny", "expire"]),
    ("crates/workspace/src/commit/pull.rs", "kind", &["pull", "git follow"]),
    (
        "crates/workspace/src/edit.rs",
        "words.kind",
        &[
            "fs write",
            "fs mkdir",
            "fs rm",
            "fs mv",
            "fs cp",
            "fs revert",
            "fs import",
            "review",
            "resolve",
        ],
    ),
    ("crates/workspace/src/exec/announce.rs", "kind", &["policy_changed", "settings_changed"]),
    ("crates/workspace/src/merge.rs", "kind", &["merge", "approve"]),
];

/// Fails on a kind that is recorded and not listed, listed and not recorded, or listed and not on the page.
pub(crate) fn check(listing: &Listing, computed: &[(&str, &str, &[&str])]) -> Vec<String> {
    let listed = listing.text(KINDS).map(|text| listed(&text)).unwrap_or_default();
    let page = listing.text(PAGE).unwrap_or_default();
    let mut problems = Vec::new();
    let mut recorded = BTreeSet::new();
    let sources = listing.ending(".rs").filter(|(path, _)| is_source(path));
    for (path, text) in sources {
        for expression in expressions(&text) {
            let kinds = match kinds_of(path, &expression, listing, computed) {
                Some(kinds) => kinds,
                None => {
                    problems.push(format!("{path}: say which kinds of event {expression} can be"));
                    continue;
                }
            };
            for kind in &kinds {
                if !listed.contains(kind) {
                    problems.push(format!("{path}: {KINDS} does not list the kind {kind:?}"));
                }
            }
            recorded.extend(kinds);
        }
    }
    let unused = listed.difference(&recorded);
    problems.extend(unused.map(|kind| format!("{KINDS}: no event is of the kind {kind:?}")));
    let rows: Vec<&str> = page.lines().filter_map(|line| line.strip_prefix("| ")).collect();
    let is_described = |kind: &String| {
        let name = format!("`{kind}`");
        rows.iter().any(|row| row.split(" | ").next().is_some_and(|cell| cell.contains(&name)))
    };
    let unsaid = listed.iter().filter(|kind| !is_described(kind));
    problems.extend(unsaid.map(|kind| format!("{PAGE}: no row says what {kind:?} is")));
    problems
}

fn is_source(path: &str) -> bool {
    path.starts_with("crates/") && path.contains("/src/") && !path.ends_with("tests.rs")
}

fn listed(text: &str) -> BTreeSet<String> {
    let list = text.split_once("AUDIT_KINDS: &[&str] = &[").map_or("", |(_, rest)| rest);
    let list = list.split_once("];").map_or("", |(list, _)| list);
    list.split('"').skip(1).step_by(2).map(str::to_owned).collect()
}

/// What stands in the place of the kind, wherever something is recorded.
fn expressions(text: &str) -> Vec<String> {
    let code: Vec<&str> = text
        .split("#[cfg(test)]\nmod ")
        .next()
        .unwrap_or_default()
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .collect();
    let code = code.join("\n");
    let after = |call: &&str| {
        let found: Vec<String> = code
            .match_indices(*call)
            .filter_map(|(at, _)| code.get(at + call.len()..)?.split(',').next())
            .map(|first| first.trim().to_owned())
            .collect();
        found
    };
    CALLS.iter().flat_map(after).collect()
}

/// All that an expression can be; nothing where that is not known.
fn kinds_of(
    path: &str,
    expression: &str,
    listing: &Listing,
    computed: &[(&str, &str, &[&str])],
) -> Option<Vec<String>> {
    if let Some(literal) = expression.strip_prefix('"') {
        return Some(vec![literal.trim_end_matches('"').to_owned()]);
    }
    if expression.chars().all(|c| c.is_ascii_uppercase() || c == '_') {
        let own = listing.text(path).and_then(|text| constant(&text, expression));
        let of_others = || {
            let mut sources = listing.ending(".rs").filter(|(path, _)| is_source(path));
            sources.find_map(|(_, text)| constant(&text, expression))
        };
        return own.or_else(of_others).map(|kind| vec![kind]);
    }
    let (.., kinds) =
        computed.iter().find(|(file, what, _)| (*file, *what) == (path, expression))?;
    Some(kinds.iter().map(|kind| (*kind).to_owned()).collect())
}

/// The text of a constant.
fn constant(text: &str, name: &str) -> Option<String> {
    let (_, rest) = text.split_once(&format!("const {name}: &str = \""))?;
    rest.split('"').next().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE_TEXT: &str = "| `gc` | x |\n| `undo`, `redo` | y |\n";
    const LIST: &str = "pub const AUDIT_KINDS: &[&str] = &[\n    \"gc\",\n    \"undo\",\n];\n";

    fn problems(list: &str, page: &str, source: &str) -> Vec<String> {
        let files = [(KINDS, list), (PAGE, page), ("crates/a/src/b.rs", source)];
        check(&Listing::of(&files), &[("crates/a/src/b.rs", "kind", &["undo"])])
    }

    #[test]
    fn a_kind_that_nobody_can_ask_for_is_found() {
        let all = "vault.transact(\n    \"gc\", x, |tx| {})\nvault.announce(kind, x)\n";
        assert_eq!(problems(LIST, PAGE_TEXT, all), [""; 0]);
        let constants = "const GC: &str = \"gc\";\nself.record_event(GC, x)\na.transact(kind, x)\n";
        assert_eq!(problems(LIST, PAGE_TEXT, constants), [""; 0]);
        let new = format!("{all}vault().record_event(\"permission\", x)\n");
        let unlisted = format!("crates/a/src/b.rs: {KINDS} does not list the kind \"permission\"");
        assert_eq!(problems(LIST, PAGE_TEXT, &new), [unlisted]);
        let computed = format!("{all}vault.transact(what(), x)\n");
        let unknown = "crates/a/src/b.rs: say which kinds of event what() can be";
        assert_eq!(problems(LIST, PAGE_TEXT, &computed), [unknown]);
        let unused = format!("{KINDS}: no event is of the kind \"undo\"");
        assert_eq!(problems(LIST, PAGE_TEXT, "a.transact(\"gc\", x)\n"), [unused]);
        let unsaid = format!("{PAGE}: no row says what \"gc\" is");
        assert_eq!(problems(LIST, "| `undo` | gc |\n", all), [unsaid]);
    }
}
