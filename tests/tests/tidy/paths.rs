//! Rules against traces of the machine that a file was written on.

use std::env;
use std::path::Path;

use toml::Value;

use crate::listing::Listing;
use crate::manifests::parse;

/// The one place that packages come from.
const CRATES_IO: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// Directories that a path on somebody's machine starts with. In pieces, because this file is checked as well.
const PLACES: &[&str] =
    &[concat!("/ho", "me/"), concat!("/ro", "ot/"), concat!("/wo", "rk/"), concat!("/Us", "ers/")];

/// Files whose subject is what lies in homes: policy, where it says what a command may touch there.
const ABOUT_HOMES: &[&str] = &["crates/policy/", "docs/design/policy.md", "docs/policy.md"];

/// Where builds run on somebody's machine; that is nobody's subject.
const BUILDS: &str = concat!("/wo", "rk/");

/// What this very machine would leave behind: the checkout's place and cargo's.
pub(crate) fn of_this_machine(checkout: &Path) -> Vec<String> {
    let cargo_home = env::var("CARGO_HOME").ok();
    let all = [Some(checkout.display().to_string()), cargo_home];
    // A path of one name, such as `/src` in a container, is also an honest piece of text.
    all.into_iter().flatten().filter(|path| path.matches('/').count() >= 2).collect()
}

/// No file names a home directory, a build directory, or one of `forbidden`.
pub(crate) fn check_places(listing: &Listing, forbidden: &[String]) -> Vec<String> {
    let mut problems = Vec::new();
    for (path, text) in listing.ending("") {
        let about_homes = ABOUT_HOMES.iter().any(|subject| path.starts_with(subject));
        let places: &[&str] = if about_homes { &[BUILDS] } else { PLACES };
        for (index, line) in text.lines().enumerate() {
            let place = places.iter().find(|place| names_place(line, place));
            let own = forbidden.iter().find(|place| line.contains(place.as_str()));
            if let Some(place) = place.copied().or(own.map(String::as_str)) {
                problems.push(format!("{path}:{}: names {place}", index + 1));
            }
        }
    }
    problems
}

/// Whether an absolute path in that place, and something in it, stands in a line.
fn names_place(line: &str, place: &str) -> bool {
    line.match_indices(place).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + place.len()..].chars().next();
        // `some/place/` and `{variable}/place/` are relative; `/place/<name>` is a pattern.
        let absolute = !before.is_some_and(|c| c.is_alphanumeric() || "_-.~)}>*$".contains(c));
        absolute && after.is_some_and(|c| c.is_alphanumeric() || "._-".contains(c))
    })
}

/// The lock file and cargo's settings know no other registry.
pub(crate) fn check_registries(listing: &Listing) -> Vec<String> {
    let mut problems = Vec::new();
    for (path, text) in listing.ending("Cargo.lock") {
        let lock = parse(path, &text);
        let packages = lock.get("package").and_then(Value::as_array);
        for package in packages.into_iter().flatten() {
            let source = package.get("source").and_then(Value::as_str);
            if source.is_some_and(|source| source != CRATES_IO) {
                let name = package.get("name").and_then(Value::as_str).unwrap_or("?");
                problems.push(format!("{path}: {name} is not from crates.io"));
            }
        }
    }
    for path in [".cargo/config.toml", ".cargo/config"] {
        let Some(text) = listing.text(path) else {
            continue;
        };
        let settings = parse(path, &text);
        for section in ["source", "registries", "registry"] {
            if settings.contains_key(section) {
                problems.push(format!("{path}: sets [{section}]"));
            }
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(text: &str) -> Vec<String> {
        let forbidden = ["/srv/build/offshoot".to_owned()];
        check_places(&Listing::of(&[("docs/x.md", text)]), &forbidden)
    }

    #[test]
    fn places_of_a_machine_are_found() {
        for place in PLACES {
            for text in [
                format!("see {place}me/file"),
                format!("`{place}.cargo`"),
                format!("path={place}x"),
                format!("file://{place}x"),
                format!("\"{place}x\""),
            ] {
                let expected = format!("docs/x.md:2: names {place}");
                assert_eq!(problems(&format!("\n{text}\n")), [expected], "{text}");
            }
        }
        assert_eq!(
            problems("in /srv/build/offshoot/docs"),
            ["docs/x.md:1: names /srv/build/offshoot"]
        );
    }

    #[test]
    fn policy_may_speak_of_homes_alone() {
        for place in PLACES {
            let text = format!("see {place}me/file");
            let listing = Listing::of(&[("crates/policy/src/x.rs", &text)]);
            assert_eq!(check_places(&listing, &[]).is_empty(), *place != BUILDS, "{place}");
        }
    }

    #[test]
    fn other_paths_are_left_alone() {
        for place in PLACES {
            for text in [
                format!("some{place}x"),
                format!("~{place}x"),
                format!("{{dir}}{place}x"),
                format!("..{place}x"),
                format!("{place}<name>/x"),
                format!("`{place}`"),
            ] {
                assert!(problems(&text).is_empty(), "{text}");
            }
        }
    }

    #[test]
    fn a_short_checkout_path_is_not_searched_for() {
        let has = |path: &str| of_this_machine(Path::new(path)).contains(&path.to_owned());
        assert!(has("/srv/offshoot"));
        assert!(!has("/src"));
    }

    #[test]
    fn other_registries_are_found() {
        let lock = |source: &str| {
            let text = format!("[[package]]\nname = \"a\"\nversion = \"1.0.0\"\n{source}\n");
            check_registries(&Listing::of(&[("Cargo.lock", &text)]))
        };
        assert!(lock("").is_empty());
        assert!(lock(&format!("source = \"{CRATES_IO}\"")).is_empty());
        for other in ["registry+https://mirror.invalid/index", "git+https://git.invalid/a"] {
            let problems = lock(&format!("source = \"{other}\""));
            assert_eq!(problems, ["Cargo.lock: a is not from crates.io"]);
        }
        let settings = |text| check_registries(&Listing::of(&[(".cargo/config.toml", text)]));
        assert!(settings("[alias]\nx = \"run\"\n").is_empty());
        for bad in [
            "[source.crates-io]\nreplace-with = \"mirror\"\n",
            "[registries.mirror]\nindex = \"x\"\n",
            "[registry]\ndefault = \"mirror\"\n",
        ] {
            assert_eq!(settings(bad).len(), 1, "{bad}");
        }
    }
}
