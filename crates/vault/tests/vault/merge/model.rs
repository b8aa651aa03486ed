//! Random forks against a simple model that knows which file is which.

use std::collections::{BTreeMap, BTreeSet};

use offshoot_host::Mtime;
use offshoot_tests::rng::{Rng, seed_from_env_or};
use offshoot_tests::tier::cases;
use offshoot_tree::Version;
use offshoot_tree::merge::Merged;
use offshoot_tree::{Entry, Meta, RootId};

use super::support::{Place, check_kept, found};
use crate::support::{NOON, file, head};

/// A file as the model has it. Lines are unique, so that there is one way only to see what changed.
#[derive(Clone, Debug, PartialEq, Eq)]
struct File {
    path: String,
    lines: Vec<String>,
    mode: u16,
    time: i64,
}

/// Files by who they are, whatever they are called.
type World = BTreeMap<u64, File>;

const FOLDERS: &[&str] = &["", "/a", "/b", "/a/deep"];
/// Paths that several forks like; some cannot be there together.
const POPULAR: &[&str] = &["/new", "/new/inner", "/a/new", "/b/new", "/b/new/inner"];
const MODES: &[u16] = &[0o644, 0o755, 0o600, 0o640];

struct Maker {
    rng: Rng,
    next: u64,
}

impl Maker {
    fn number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    fn line(&mut self) -> String {
        let end = ["\n", "\n", "\n", "\r\n"][self.rng.below(4) as usize];
        format!("line {} {:x}{end}", self.number(), self.rng.next_u64())
    }

    fn file(&mut self, path: String) -> File {
        let mut lines: Vec<String> = (0..12 + self.rng.below(8)).map(|_| self.line()).collect();
        if self.rng.one_in(8) {
            lines[0].insert(0, '\0');
        }
        if self.rng.one_in(4) {
            let last = lines.len() - 1;
            lines[last] = lines[last].trim_end().to_owned();
        }
        File { path, lines, mode: MODES[self.rng.below(4) as usize], time: self.time() }
    }

    /// A time that nothing else has.
    fn time(&mut self) -> i64 {
        NOON.seconds + (self.rng.below(1000) * 100_000 + self.number()) as i64
    }

    fn base(&mut self) -> World {
        let mut world = World::new();
        for (at, folder) in FOLDERS.iter().enumerate() {
            // A file that nobody touches keeps each directory from being moved as a whole.
            let kept = self.file(format!("{folder}/keep"));
            world.insert(at as u64, kept);
        }
        for _ in 0..3 + self.rng.below(6) {
            let id = 100 + self.number();
            let folder = FOLDERS[self.rng.below(4) as usize];
            let file = self.file(format!("{folder}/file-{id}"));
            world.insert(id, file);
        }
        world
    }

    fn fork(&mut self, base: &World, side: u64) -> World {
        let mut world = base.clone();
        for _ in 0..self.rng.below(6) {
            let ids: Vec<u64> = world.keys().copied().filter(|id| *id >= 100).collect();
            let Some(&id) = self.rng.pick(&ids) else { continue };
            match self.rng.below(10) {
                0..=3 => self.edit(&mut world, base, id),
                4 => self.change(&mut world, id, |file, rng| {
                    file.mode = MODES[rng.below(4) as usize];
                }),
                5..=6 => {
                    let path = self.new_path(id);
                    if is_free(&world, &path) {
                        self.change(&mut world, id, |file, _| file.path = path);
                    }
                }
                7 => drop(world.remove(&id)),
                _ => self.add(&mut world, side),
            }
        }
        world
    }

    fn change(&mut self, world: &mut World, id: u64, how: impl FnOnce(&mut File, &mut Rng)) {
        if let Some(file) = world.get_mut(&id) {
            how(file, &mut self.rng);
        }
    }

    /// Changes a line or two: a moved file has to stay recognisable.
    fn edit(&mut self, world: &mut World, base: &World, id: u64) {
        let before = base.get(&id).map(|file| file.lines.clone());
        let kept =
            |lines: &[String]| before.iter().flatten().filter(|line| lines.contains(line)).count();
        let (time, line) = (self.time(), self.line());
        let Some(file) = world.get_mut(&id) else { return };
        if before.is_some() && kept(&file.lines) < 10 {
            return;
        }
        // The first and the last line say whether it is a text and how it ends.
        let at = 1 + self.rng.below(file.lines.len() as u64 - 2) as usize;
        match self.rng.below(3) {
            0 => file.lines.insert(at, line),
            1 => file.lines[at] = line,
            _ => drop(file.lines.remove(at)),
        }
        file.time = time;
    }

    fn new_path(&mut self, id: u64) -> String {
        if self.rng.one_in(4) {
            return POPULAR[self.rng.below(5) as usize].to_owned();
        }
        let folder = FOLDERS[self.rng.below(4) as usize];
        format!("{folder}/moved-{id}-{}", self.rng.below(2))
    }

    fn add(&mut self, world: &mut World, side: u64) {
        let path = POPULAR[self.rng.below(5) as usize].to_owned();
        if !is_free(world, &path) {
            return;
        }
        // Forks that add the same at the same path are of one mind.
        let mut file = if self.rng.one_in(3) {
            Maker { rng: Rng::new(path.len() as u64), next: 1_000_000 }.file(path)
        } else {
            self.file(path)
        };
        file.mode = 0o644;
        world.insert((side + 1) * 1_000_000 + self.number(), file);
    }
}

fn is_free(world: &World, path: &str) -> bool {
    world.values().all(|file| {
        file.path != path
            && !file.path.starts_with(&format!("{path}/"))
            && !path.starts_with(&format!("{}/", file.path))
    })
}

/// What the model expects at paths without conflict, and where it expects conflicts.
#[derive(Default)]
struct Expected {
    clean: BTreeMap<String, File>,
    conflicts: BTreeSet<String>,
}

fn expect(base: &World, sides: &[World]) -> Expected {
    let mut expected = Expected::default();
    let mut wishes: BTreeMap<String, Vec<File>> = BTreeMap::new();
    for (id, old) in base {
        let now: Vec<Option<&File>> = sides.iter().map(|side| side.get(id)).collect();
        for (path, file) in known(old, &now, &mut expected.conflicts) {
            wishes.entry(path).or_default().push(file);
        }
    }
    let is_new = |id: &&u64| !base.contains_key(*id);
    for side in sides {
        for id in side.keys().filter(is_new) {
            let file = side[id].clone();
            let others = wishes.entry(file.path.clone()).or_default();
            match others.iter_mut().find(|other| other.lines == file.lines) {
                Some(other) => {
                    // The same bytes with different modes: one of them has to be chosen.
                    if other.mode != file.mode {
                        expected.conflicts.insert(file.path);
                    }
                    other.time = other.time.max(file.time);
                }
                None => others.push(file),
            }
        }
    }
    let paths: Vec<String> = wishes.keys().cloned().collect();
    for (path, mut files) in wishes {
        let below = format!("{path}/");
        if files.len() > 1 || paths.iter().any(|other| other.starts_with(&below)) {
            expected.conflicts.insert(path);
        } else if let Some(file) = files.pop() {
            expected.clean.insert(path, file);
        }
    }
    expected
}

/// What becomes of a file of the base.
fn known(
    old: &File,
    now: &[Option<&File>],
    conflicts: &mut BTreeSet<String>,
) -> Vec<(String, File)> {
    let here: Vec<&File> = now.iter().copied().flatten().collect();
    let substance = |file: &File| (file.path.clone(), file.lines.clone(), file.mode);
    let deleted = here.len() < now.len();
    if deleted && here.iter().all(|file| substance(file) == substance(old)) {
        return Vec::new();
    }
    let mut paths: BTreeSet<String> =
        here.iter().map(|file| file.path.clone()).filter(|path| *path != old.path).collect();
    if paths.is_empty() {
        paths.insert(old.path.clone());
    }
    let lines = merge_lines(old, &here);
    let mode = merge_modes(old.mode, here.iter().map(|file| file.mode));
    if deleted || paths.len() > 1 || lines.is_none() || mode.is_none() {
        conflicts.extend(paths.iter().cloned());
    }
    let times = here.iter().map(|file| file.time).filter(|time| *time != old.time);
    let time = times.max().unwrap_or(old.time);
    let merged = |path: &String| File {
        path: path.clone(),
        lines: lines.clone().unwrap_or_default(),
        mode: mode.unwrap_or_default(),
        time,
    };
    paths.iter().map(|path| (path.clone(), merged(path))).collect()
}

fn merge_modes(old: u16, now: impl Iterator<Item = u16> + Clone) -> Option<u16> {
    let whole: BTreeSet<u16> = now.clone().filter(|mode| *mode != old).collect();
    if whole.len() < 2 {
        return Some(whole.first().copied().unwrap_or(old));
    }
    let part = |mask: u16| {
        let changed: BTreeSet<u16> =
            now.clone().map(|mode| mode & mask).filter(|bits| *bits != old & mask).collect();
        let bits = changed.first().copied().unwrap_or(old & mask);
        (changed.len() < 2).then_some(bits)
    };
    let (execute, others) = (part(0o111)?, part(0o7666)?);
    Some(others | execute & ((others & 0o444) >> 2 | old & 0o111))
}

/// A naive merge by lines, which needs them to be unique.
fn merge_lines(old: &File, now: &[&File]) -> Option<Vec<String>> {
    let changed: Vec<&Vec<String>> =
        now.iter().map(|file| &file.lines).filter(|lines| **lines != old.lines).collect();
    let Some(first) = changed.first() else { return Some(old.lines.clone()) };
    if changed.iter().all(|lines| lines == first) {
        return Some((*first).clone());
    }
    if old.lines[0].starts_with('\0') {
        return None;
    }
    // Line `n` of the base is cut off from the one before it where no side changed anything at that point.
    let count = old.lines.len();
    let at = |lines: &[String], n: usize| lines.iter().position(|line| *line == old.lines[n]);
    let stands = |n: usize| changed.iter().all(|lines| at(lines, n).is_some());
    let mut merged = Vec::new();
    let mut n = 0;
    let mut starts: Vec<usize> = vec![0; changed.len()];
    while n <= count {
        // Everything from here up to the next line that all have is one region.
        let end = (n..count).find(|n| stands(*n)).unwrap_or(count);
        let stops: Vec<usize> = changed
            .iter()
            .map(|lines| if end < count { at(lines, end).unwrap() } else { lines.len() })
            .collect();
        let region = &old.lines[n.min(count)..end];
        let texts: Vec<&[String]> = changed
            .iter()
            .zip(starts.iter().zip(&stops))
            .map(|(lines, (start, stop))| &lines[*start..*stop])
            .filter(|text| *text != region)
            .collect();
        match texts.as_slice() {
            [] => merged.extend_from_slice(region),
            [first, rest @ ..] if rest.iter().all(|text| text == first) => {
                merged.extend_from_slice(first);
            }
            _ => return None,
        }
        if end < count {
            merged.push(old.lines[end].clone());
        }
        starts = stops.iter().map(|stop| stop + 1).collect();
        n = end + 1;
    }
    Some(merged)
}

fn store(place: &Place, world: &World) -> RootId {
    place.from(&head(&place.vault), |editor| {
        for file in world.values() {
            place.put_entry(editor, &file.path, entry(place, file));
        }
    })
}

fn entry(place: &Place, model: &File) -> Entry {
    let entry = file(&place.vault, model.lines.concat().as_bytes());
    let mtime = Mtime { seconds: model.time, nanoseconds: 0 };
    Entry { meta: Meta { mode: model.mode, mtime, ..entry.meta }, ..entry }
}

/// Holds a merge against the model.
fn check(place: &Place, merged: &Merged, expected: &Expected, sides: &[World]) {
    let conflicts: BTreeSet<String> =
        merged.conflicts.iter().map(|conflict| conflict.path.to_string()).collect();
    assert_eq!(conflicts, expected.conflicts, "{:#?}", merged.conflicts);
    let beside: BTreeSet<String> = merged
        .conflicts
        .iter()
        .flat_map(|conflict| &conflict.beside)
        .map(ToString::to_string)
        .collect();
    let mut clean = place.leaves(&merged.root);
    clean.retain(|path, _| !conflicts.contains(path) && !beside.contains(path));
    let wanted: BTreeMap<String, Entry> = expected
        .clean
        .iter()
        .filter(|(path, _)| !conflicts.contains(*path))
        .map(|(path, file)| {
            let name = path.rsplit('/').next().unwrap().as_bytes().to_vec();
            (path.clone(), Entry { name, ..entry(place, file) })
        })
        .collect();
    assert_eq!(clean, wanted);
    check_sides(place, merged, sides);
}

/// Every side's bytes of a conflict are what the side has there.
fn check_sides(place: &Place, merged: &Merged, sides: &[World]) {
    for conflict in &merged.conflicts {
        for (version, side) in conflict.sides.iter().zip(sides) {
            let Some(Version { path, entry }) = version else { continue };
            if entry.directory().is_some() {
                continue;
            }
            let has = side.values().find(|file| file.path == path.to_string());
            let has = has.unwrap_or_else(|| panic!("{path} is not in the side"));
            assert_eq!(place.bytes(entry), has.lines.concat().as_bytes());
            assert_eq!(entry.meta.mode, has.mode);
        }
    }
}

/// Fails unless every line that a fork added is in the merged state or in what is kept of a conflict.
fn check_nothing_is_lost(place: &Place, merged: &Merged, base: &World, sides: &[World]) {
    let mut kept = String::new();
    let versions = merged.conflicts.iter().flat_map(|conflict| &conflict.sides).flatten();
    let versions = versions.map(|version| version.entry.clone());
    for entry in place.leaves(&merged.root).into_values().chain(versions) {
        kept.push_str(std::str::from_utf8(&place.bytes(&entry)).unwrap());
    }
    let old: BTreeSet<&String> = base.values().flat_map(|file| &file.lines).collect();
    for line in sides.iter().flat_map(|side| side.values()).flat_map(|file| &file.lines) {
        assert!(old.contains(line) || kept.contains(line.trim_end()), "{line:?} is lost");
    }
}

#[test]
fn forks_merge_as_the_model_says() {
    let place = Place::new();
    let seed = seed_from_env_or(7);
    let (mut clean, mut conflicts) = (0, 0);
    for case in 0..cases(300, 6_000) {
        println!("seed {seed}, case {case}");
        let mut maker = Maker { rng: Rng::new(seed ^ (case << 20)), next: 0 };
        let base = maker.base();
        let count = 2 + maker.rng.below(2);
        let worlds: Vec<World> = (0..count).map(|side| maker.fork(&base, side)).collect();
        let root = store(&place, &base);
        let roots: Vec<RootId> = worlds.iter().map(|world| store(&place, world)).collect();
        let merged = place.merge(&root, &roots);
        check(&place, &merged, &expect(&base, &worlds), &worlds);
        check_nothing_is_lost(&place, &merged, &base, &worlds);
        check_kept(&place, &merged);
        if merged.conflicts.is_empty() {
            clean += 1;
        } else {
            conflicts += 1;
        }
        for side in &roots {
            assert_eq!(place.merge(&root, &[*side, *side]).root, *side);
            assert_eq!(place.merge(&root, &[*side, root]).root, *side);
            assert_eq!(place.merge(&root, &[root, *side]).root, *side);
        }
        for order in orders(&roots) {
            let other = place.merge(&root, &order);
            assert_eq!(found(&other), found(&merged), "the order matters");
            if merged.conflicts.is_empty() {
                assert_eq!(other.root, merged.root, "the order matters");
            }
        }
    }
    // A generator that makes only one of them tests only half.
    assert!(clean > 0 && conflicts > 0, "{clean} clean, {conflicts} with conflicts");
}

/// All other orders of two or three.
fn orders(roots: &[RootId]) -> Vec<Vec<RootId>> {
    match roots {
        [a, b] => vec![vec![*b, *a]],
        [a, b, c] => vec![
            vec![*a, *c, *b],
            vec![*b, *a, *c],
            vec![*b, *c, *a],
            vec![*c, *a, *b],
            vec![*c, *b, *a],
        ],
        _ => Vec::new(),
    }
}
