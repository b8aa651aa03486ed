//! Rules about documents.

use std::collections::BTreeMap;

use crate::listing::Listing;

/// The licence files, and what each must say.
const LICENCES: &[(&str, &[&str])] = &[
    (
        "LICENSE-MIT",
        &[
            "MIT License",
            "Permission is hereby granted, free of charge",
            "The Offshoot contributors",
        ],
    ),
    (
        "LICENSE-APACHE",
        &["Apache License", "Version 2.0, January 2004", "The Offshoot contributors"],
    ),
];

/// Both licences that the manifests name are there in full.
pub(crate) fn check_licences(listing: &Listing) -> Vec<String> {
    let mut problems = Vec::new();
    for (path, phrases) in LICENCES {
        let Some(text) = listing.text(path) else {
            problems.push(format!("{path} is not there"));
            continue;
        };
        let missing = phrases.iter().filter(|phrase| !text.contains(**phrase));
        problems.extend(missing.map(|phrase| format!("{path}: lacks {phrase:?}")));
    }
    problems
}

/// There is a place to write down what changes.
pub(crate) fn check_changelog(listing: &Listing) -> Vec<String> {
    let text = listing.text("CHANGELOG.md").unwrap_or_default();
    let open = text
        .lines()
        .any(|line| line.trim_end() == "## [Unreleased]" || line.trim_end() == "## Unreleased");
    if open { Vec::new() } else { vec!["CHANGELOG.md: has no Unreleased heading".to_owned()] }
}

/// Links between documents lead to files and headings that exist.
pub(crate) fn check_links(listing: &Listing) -> Vec<String> {
    let headings: BTreeMap<&str, Vec<String>> =
        listing.ending(".md").map(|(path, text)| (path, anchors(&text))).collect();
    let mut problems = Vec::new();
    for (path, text) in listing.ending(".md") {
        for (line, target) in links(&text) {
            if let Some(problem) = broken(listing, &headings, path, &target) {
                problems.push(format!("{path}:{line}: {target}: {problem}"));
            }
        }
    }
    problems
}

/// What is wrong with a link from a document, if it stays in the repository.
fn broken(
    listing: &Listing,
    headings: &BTreeMap<&str, Vec<String>>,
    from: &str,
    target: &str,
) -> Option<&'static str> {
    if target.contains("://") || target.starts_with("mailto:") {
        return None;
    }
    let (path, anchor) = match target.split_once('#') {
        Some((path, anchor)) => (path, Some(anchor)),
        None => (target, None),
    };
    let Some(file) = resolve(from, path) else {
        return Some("leads out of the repository");
    };
    if !listing.has_file(&file) && !listing.has_directory(&file) {
        return Some("no such file");
    }
    let known = headings.get(file.as_str())?;
    match anchor {
        Some(anchor) if !known.iter().any(|heading| heading == anchor) => Some("no such heading"),
        _ => None,
    }
}

/// The path that a link names; none if it is absolute or goes too far up.
fn resolve(from: &str, path: &str) -> Option<String> {
    if path.is_empty() {
        return Some(from.to_owned());
    }
    if path.starts_with('/') {
        return None;
    }
    let mut names: Vec<&str> = from.split('/').collect();
    names.pop();
    for name in path.split('/') {
        match name {
            "" | "." => {}
            ".." => {
                names.pop()?;
            }
            _ => names.push(name),
        }
    }
    Some(names.join("/"))
}

/// The lines of a document that are not in a fenced block, numbered.
fn prose(text: &str) -> Vec<(usize, &str)> {
    let mut fence: Option<&str> = None;
    let mut lines = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let mark = ["```", "~~~"].into_iter().find(|mark| line.trim_start().starts_with(mark));
        match (fence, mark) {
            (None, Some(mark)) => fence = Some(mark),
            (Some(open), Some(mark)) if open == mark => fence = None,
            (None, None) => lines.push((index + 1, line)),
            (Some(_), _) => {}
        }
    }
    lines
}

/// The targets of inline links, images and reference definitions.
fn links(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (number, line) in prose(text) {
        let line = without_code(line);
        if line.starts_with('[')
            && let Some((_, target)) = line.split_once("]: ")
        {
            found.push((number, clean(target)));
        }
        for (at, _) in line.match_indices("](") {
            let rest = &line[at + 2..];
            let end = rest.find(')').unwrap_or(rest.len());
            found.push((number, clean(&rest[..end])));
        }
    }
    found
}

/// A target without the title that may stand behind it and the brackets that may stand around it.
fn clean(target: &str) -> String {
    let target = target.trim();
    let bare = match target.strip_prefix('<') {
        Some(rest) => rest.split('>').next(),
        None => target.split_whitespace().next(),
    };
    bare.unwrap_or_default().to_owned()
}

/// A line with its code spans taken out.
fn without_code(line: &str) -> String {
    line.split('`').step_by(2).collect::<Vec<_>>().join("`")
}

/// The anchors of a document's headings, as forges make them.
fn anchors(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for (_, line) in prose(text) {
        let title = line.trim_start_matches('#');
        if title.len() == line.len() || !title.starts_with(' ') {
            continue;
        }
        let slug: String = title
            .trim()
            .to_lowercase()
            .chars()
            .filter(|c| c.is_alphanumeric() || " -_".contains(*c))
            .map(|c| if c == ' ' { '-' } else { c })
            .collect();
        let numbered = (1..).map(|number| format!("{slug}-{number}"));
        let mut free = [slug.clone()].into_iter().chain(numbered);
        found.extend(free.find(|candidate| !found.contains(candidate)));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_or_hollow_licence_is_found() {
        let none = check_licences(&Listing::of(&[]));
        assert_eq!(none, ["LICENSE-MIT is not there", "LICENSE-APACHE is not there"]);
        let hollow = Listing::of(&[("LICENSE-MIT", "MIT License"), ("LICENSE-APACHE", "")]);
        assert_eq!(check_licences(&hollow).len(), 5);
    }

    #[test]
    fn a_closed_changelog_is_found() {
        let problems = |text| check_changelog(&Listing::of(&[("CHANGELOG.md", text)]));
        assert!(problems("# Changelog\n\n## [Unreleased]\n").is_empty());
        for bad in ["", "# Changelog\n\n## [0.1.0]\n", "Unreleased\n", "### Unreleased\n"] {
            assert_eq!(problems(bad).len(), 1, "{bad}");
        }
        assert_eq!(check_changelog(&Listing::of(&[])).len(), 1);
    }

    fn problems(text: &str) -> Vec<String> {
        check_links(&Listing::of(&[
            ("README.md", "# Top\n\n## Two words\n\n## Two words\n"),
            ("src/lib.rs", ""),
            ("docs/a.md", text),
        ]))
    }

    #[test]
    fn good_links_pass() {
        for good in [
            "[x](../README.md)",
            "[x](../README.md#two-words) and [y](../README.md#two-words-1)",
            "[x](../src/lib.rs) [x](../src) [x](..)",
            "# Here it is!\n[x](#here-it-is)",
            "[x](https://example.com/none) [m](mailto:a@example.com)",
            "[x](<../README.md> \"title\")",
            "[x]: ../README.md",
            "`[x](none.md)`",
            "```\n[x](none.md)\n```",
        ] {
            assert_eq!(problems(good), Vec::<String>::new(), "{good}");
        }
    }

    #[test]
    fn bad_links_are_found() {
        for (bad, what) in [
            ("[x](none.md)", "none.md: no such file"),
            ("![x](none.png)", "none.png: no such file"),
            ("[x](README.md)", "README.md: no such file"),
            ("[x](../README.md#three)", "../README.md#three: no such heading"),
            ("[x](#none)", "#none: no such heading"),
            ("[x](../../y)", "../../y: leads out of the repository"),
            ("[x](/docs/a.md)", "/docs/a.md: leads out of the repository"),
            ("[x]: none.md", "none.md: no such file"),
            ("`a` [x](none.md) `b`", "none.md: no such file"),
        ] {
            assert_eq!(problems(bad), [format!("docs/a.md:1: {what}")], "{bad}");
        }
        let behind_a_fence = "```\n#\n```\n[x](none.md)";
        assert_eq!(problems(behind_a_fence).len(), 1);
    }
}
