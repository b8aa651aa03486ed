//! A witness must be able to say no: evidence that is spoilt as a broken product would spoil it is found out.

use std::collections::BTreeMap;

use offshoot_needs::needs;
use offshoot_tests::oracle::changes::{Change, LINKS};
use offshoot_tests::oracle::generate::program;
use offshoot_tests::oracle::step::to_text;
use offshoot_tests::oracle::tree::{Plan, PlanOptions};
use offshoot_tests::rng::Rng;
use offshoot_tests::scan::{Kind, Node, Scan};

use crate::case::{Native, Setting, witness};
use crate::judge::{Evidence, FUTURE, judge};
use crate::product::{Product, Simple};
use crate::user::{ROOT, Tools};

/// Spoils evidence, with the tree as it was before; says whether there was anything to spoil.
type Mutant = fn(&mut Evidence, &Scan) -> bool;

const MUTANTS: [(&str, Mutant); 22] = [
    ("a deleted file is back", |evidence, before| {
        let gone = before.0.iter().find(|(path, _)| !evidence.tree.0.contains_key(*path));
        let gone = gone.map(|(path, node)| (path.clone(), node.clone()));
        gone.map(|(path, node)| evidence.tree.0.insert(path, node)).is_some()
    }),
    ("a deleted file is back inside", |evidence, before| {
        let gone = before.0.iter().find(|(path, _)| !evidence.tree.0.contains_key(*path));
        let gone = gone.map(|(path, node)| (path.clone(), node.clone()));
        gone.map(|(path, node)| evidence.inside.0.insert(path, node)).is_some()
    }),
    ("a new file is lost", |evidence, before| {
        let new = evidence.tree.0.keys().find(|path| !before.0.contains_key(*path)).cloned();
        let node = new.and_then(|path| evidence.tree.0.remove(&path));
        node.is_some_and(|node| !matches!(node.kind, Kind::Socket))
    }),
    ("a mode is lost", |evidence, before| {
        changed(
            &mut evidence.tree,
            before,
            |old, new| old.mode != new.mode,
            |old, new| {
                new.mode = old.mode;
            },
        )
    }),
    ("a special bit is lost", |evidence, _| {
        any(&mut evidence.tree, |node| node.mode & 0o7000 != 0, |node| node.mode &= 0o777)
    }),
    ("an attribute is lost", |evidence, _| {
        any(&mut evidence.tree, |node| !node.xattrs.is_empty(), |node| node.xattrs.clear())
    }),
    ("an attribute of a directory has another value", |evidence, _| {
        let chosen = |node: &Node| node.kind == Kind::Directory && !node.xattrs.is_empty();
        any(&mut evidence.tree, chosen, |node| {
            node.xattrs.values_mut().for_each(|value| value.push(b'x'));
        })
    }),
    ("a group of links is split", |evidence, _| {
        any(&mut evidence.tree, |node| !node.links.is_empty(), |node| node.links.clear())
    }),
    ("a time that was set is lost", |evidence, _| {
        any(&mut evidence.tree, is_set, |node| node.mtime.1 ^= 1)
    }),
    ("a file that was written has its old time", |evidence, before| {
        changed(
            &mut evidence.tree,
            before,
            |old, new| old.mtime != new.mtime,
            |old, new| {
                new.mtime = old.mtime;
            },
        )
    }),
    ("inside there is another time", |evidence, _| {
        any(&mut evidence.inside, |node| !is_set(node), |node| node.mtime.1 ^= 1)
    }),
    ("bytes are old", |evidence, before| {
        changed(
            &mut evidence.tree,
            before,
            |old, new| old.hash != new.hash,
            |old, new| {
                new.hash = old.hash;
            },
        )
    }),
    ("a target is cut short", |evidence, _| {
        let chosen = |node: &Node| node.target.is_some();
        any(&mut evidence.tree, chosen, |node| {
            node.target.as_mut().map(Vec::pop);
        })
    }),
    ("an owner is lost", |evidence, _| {
        any(&mut evidence.tree, |node| node.uid != 0, |node| node.uid = 0)
    }),
    ("a change is missing", |evidence, _| {
        let at = evidence.changes.iter().position(|change| change.kind != LINKS);
        at.map(|at| evidence.changes.remove(at)).is_some()
    }),
    ("a change is listed twice", |evidence, _| {
        let last = evidence.changes.last().cloned();
        last.map(|last| evidence.changes.push(last)).is_some()
    }),
    ("a change is too many", |evidence, _| {
        let path = b"/nothing happened here".to_vec();
        let kind = "metadata".to_owned();
        evidence.changes.push(Change {
            path,
            kind,
            before: None,
            after: None,
            partners: Vec::new(),
        });
        true
    }),
    ("a change has another kind", |evidence, _| {
        evidence.changes.first_mut().map(|change| change.kind.push('x')).is_some()
    }),
    ("a checksum is wrong", |evidence, _| {
        let sides = evidence.changes.iter_mut().filter_map(|change| change.after.as_mut());
        let mut sums = sides.filter_map(|side| side.checksum.as_mut());
        sums.next().map(|sum| *sum = "00".repeat(32)).is_some()
    }),
    ("a size is wrong", |evidence, _| {
        let mut sides = evidence.changes.iter_mut().filter_map(|change| change.before.as_mut());
        sides.next().map(|side| side.size += 1).is_some()
    }),
    ("the host is touched", |evidence, _| {
        any(&mut evidence.host, |_| true, |node| node.mtime.1 ^= 1)
    }),
    ("a step ended otherwise", |evidence, _| {
        let said = evidence.said.replacen("done", "error 1", 1);
        let other = said != evidence.said;
        evidence.said = said;
        other
    }),
];

fn is_set(node: &Node) -> bool {
    node.mtime.0 < 1_600_000_000 || node.mtime.0 >= FUTURE
}

/// Spoils the first node of a kind that is kept.
fn any(scan: &mut Scan, chosen: fn(&Node) -> bool, spoil: fn(&mut Node)) -> bool {
    let kept = |node: &Node| !matches!(node.kind, Kind::Socket);
    let node = scan.0.values_mut().find(|node| kept(node) && chosen(node));
    node.map(spoil).is_some()
}

/// Spoils the first node of those that were there before and are of the same kind.
fn changed(
    scan: &mut Scan,
    before: &Scan,
    chosen: fn(&Node, &Node) -> bool,
    spoil: fn(&Node, &mut Node),
) -> bool {
    let pairs = scan.0.iter_mut().filter_map(|(path, node)| Some((before.0.get(path)?, node)));
    let mut pairs = pairs.filter(|(old, new)| old.kind == new.kind && new.kind != Kind::Socket);
    let found = pairs.find(|(old, new)| chosen(old, new));
    found.map(|(old, new)| spoil(old, new)).is_some()
}

#[needs(Root, Overlay, UserXattr, UserNamespace, "cc")]
#[test]
fn mistakes_are_found() {
    let tools = Tools::new();
    let setting = Setting::new(&tools, ROOT);
    let mut tried: BTreeMap<&str, u64> = BTreeMap::new();
    for seed in 0..12 {
        let options = PlanOptions { foreign: true, ..PlanOptions::default() };
        let plan = Plan::new(&mut Rng::new(seed), options);
        let mut native = Native::new(&plan, setting);
        let mut product = Simple::new(&plan, ROOT);
        product.fork("w").unwrap();
        let before = native.tree.clone();
        let steps = program(&mut Rng::new(seed), &before, 25);
        let text = to_text(&steps);
        let expected = native.run(&text).unwrap();
        let found = witness(setting, &mut product, "w", &text).unwrap();
        assert_eq!(judge(&expected, &found, native.window), Vec::<String>::new(), "seed {seed}");
        for (name, mutant) in MUTANTS {
            let mut spoilt = found.clone();
            if mutant(&mut spoilt, &before) {
                let problems = judge(&expected, &spoilt, native.window);
                assert!(!problems.is_empty(), "unnoticed with seed {seed}: {name}");
                *tried.entry(name).or_default() += 1;
            }
        }
    }
    for (name, _) in MUTANTS {
        assert!(tried.get(name).is_some_and(|times| *times >= 2), "not tried: {name}: {tried:?}");
    }
}
