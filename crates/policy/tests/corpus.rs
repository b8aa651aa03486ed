//! Commands that were judged by hand, and how many of them the crate judges alike.
//!
//! One error is never forgiven, in either set: to call a command read-only that is not. Whoever works on the engine or on its data does not read the
//! held-out set, so of that only counts are printed, unless `OFFSHOOT_SHOW_HELD_OUT=1` says otherwise.

#![expect(clippy::print_stdout, reason = "what was found is for people to read")]

#[path = "corpus/entry.rs"]
mod entry;
#[path = "corpus/tally.rs"]
mod tally;

use std::collections::{BTreeMap, BTreeSet};

use offshoot_policy::EffectCategory;

use crate::entry::Entry;
use crate::tally::{Found, Tally};

const OPEN: &str = include_str!("../corpus/open.toml");
const HELD_OUT: &str = include_str!("../corpus/held_out.toml");

/// The fewest commands in both sets together.
const FEWEST: usize = 720;

/// What may not become worse, in commands of a thousand.
struct Floor {
    exact: usize,
    worst: usize,
}

fn judge(name: &str, text: &str, floor: &Floor, show: bool) {
    let found: Vec<Found> = entry::read(text).into_iter().map(Found::new).collect();
    let tally = Tally::of(&found);
    println!("{}", tally.summary(name));
    println!("{}", Tally::by_group(&found));
    let unsafe_ones = found.iter().filter(|found| found.is_unsafe());
    let others = found.iter().filter(|found| !found.is_exact() && !found.is_unsafe());
    for miss in unsafe_ones.chain(others).filter(|_| show) {
        println!("{miss}");
    }
    assert_eq!(tally.unsafe_errors, 0, "{name}: called read-only though they are not");
    assert!(tally.exact_of_thousand() >= floor.exact, "{name}: fewer sets are right than before");
    assert!(
        tally.worst_of_thousand() >= floor.worst,
        "{name}: fewer worst categories are right than before"
    );
}

#[test]
fn open_commands_are_judged_as_people_do() {
    judge("open", OPEN, &Floor { exact: 985, worst: 990 }, true);
}

#[test]
fn held_out_commands_are_judged_as_people_do() {
    let show = std::env::var("OFFSHOOT_SHOW_HELD_OUT").is_ok_and(|value| value == "1");
    judge("held out", HELD_OUT, &Floor { exact: 970, worst: 980 }, show);
}

#[test]
fn every_command_is_there_once_and_its_categories_agree() {
    let both = [entry::read(OPEN), entry::read(HELD_OUT)].concat();
    assert!(both.len() >= FEWEST, "{}", both.len());
    let mut seen = BTreeSet::new();
    for entry in &both {
        assert!(seen.insert(entry.shown()), "twice: {}", entry.shown());
        let expected = entry.expected();
        let destroys = expected.contains(EffectCategory::Destructive);
        assert!(!destroys || expected.contains(EffectCategory::Mutating), "{}", entry.shown());
        assert_eq!(expected.to_string(), entry.is, "{}", entry.shown());
    }
}

#[test]
fn every_third_command_of_a_group_is_held_out() {
    let count = |entries: Vec<Entry>| {
        let mut groups: BTreeMap<String, usize> = BTreeMap::new();
        for entry in entries {
            *groups.entry(entry.group).or_default() += 1;
        }
        groups
    };
    let (open, held_out) = (count(entry::read(OPEN)), count(entry::read(HELD_OUT)));
    for (group, shown) in &open {
        let hidden = held_out.get(group).copied().unwrap_or_default();
        assert_eq!(hidden, (shown + hidden) / 3, "{group}");
    }
    assert_eq!(open.len(), held_out.len());
}
