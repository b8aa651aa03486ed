//! Collecting garbage against a model: plain maps of what every state holds, and of who needs it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::time::Duration;

use offshoot_needs::needs;
use offshoot_store::Id;
use offshoot_tests::rng::{Rng, SEED_VARIABLE, seed_from_env_or};
use offshoot_tree::{Body, DirRef, Node, NodeId, RootId};
use offshoot_vault::{
    Checkpoint, CheckpointState, ExecNote, GcOptions, GcReport, NewSnapshot, PlainAccess, Scope,
    Upper, Vault, VaultError, WorkspaceRecord, WorkspaceState,
};
use rusqlite::Connection;

use crate::overlay::note;
use crate::stacks::Mounts;
use crate::support::{
    Scratch, actor, edit, empty_vault, file, head, home, is_long, path, vault_of,
};

/// The files of a state.
type Files = BTreeMap<String, Vec<u8>>;
/// Which snapshots each ref names.
type Refs = BTreeMap<String, Vec<Id>>;

const YEAR: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// Keeps nothing but what refs name.
pub(crate) const NOTHING: GcOptions = GcOptions {
    keep_operations: 0,
    keep_age: Duration::ZERO,
    max_size: None,
    dry_run: false,
    pack: true,
};

/// A mistake that the comparison must find.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    None,
    /// Running commands count for nothing.
    SkipsCommands,
    /// Checkpoints count for nothing.
    SkipsCheckpoints,
    /// One operation too few is kept.
    KeepsTooLittle,
    /// One operation too many is kept.
    KeepsTooMuch,
}

/// A command that runs: where it writes, and upon what.
struct RunningExec {
    upper: Upper,
    workspace: Id,
    base: Id,
    files: Files,
}

/// The vault and the model of it.
struct Case {
    scratch: Scratch,
    vault: Vault,
    rng: Rng,
    /// Every state there ever was.
    states: BTreeMap<Id, (RootId, Files)>,
    /// The states whose files must be there.
    alive: BTreeSet<RootId>,
    /// What each operation named, before and after.
    log: Vec<BTreeSet<Id>>,
    /// Which refs each operation changed.
    touched: Vec<BTreeSet<String>>,
    /// Checkpoints that were made by themselves.
    automatic: BTreeSet<String>,
    refs: Refs,
    running: Vec<RunningExec>,
    /// How many contents were moved to packs by collections.
    packed: u64,
    names: u32,
    fault: Fault,
}

impl Case {
    fn new(seed: u64, fault: Fault) -> Self {
        let scratch = Scratch::new();
        let source = scratch.folder("source");
        let mut rng = Rng::new(seed);
        let mut files = Files::new();
        for number in 0..6 {
            let bytes = rng.bytes([10, 3000, 70_000][number % 3]);
            fs::write(source.join(format!("file-{number}")), &bytes).unwrap();
            files.insert(format!("file-{number}"), bytes);
        }
        let vault = vault_of(&scratch, &source);
        let first = vault.head().unwrap();
        let mut case = Self {
            scratch,
            vault,
            rng,
            states: BTreeMap::from([(first.id, (first.root, files))]),
            alive: BTreeSet::from([first.root]),
            log: Vec::new(),
            touched: Vec::new(),
            automatic: BTreeSet::new(),
            refs: Refs::new(),
            running: Vec::new(),
            packed: 0,
            names: 0,
            fault,
        };
        case.learn();
        case
    }

    /// Takes note of what the last operation did to refs.
    fn learn(&mut self) {
        let mut now = Refs::from([("head".to_owned(), vec![self.vault.head().unwrap().id])]);
        for workspace in self.vault.workspaces().unwrap() {
            let WorkspaceState { head, base, .. } = workspace.state;
            now.insert(workspace.id.to_string(), vec![head, base]);
        }
        for checkpoint in self.vault.checkpoints().unwrap() {
            now.insert(checkpoint.id.to_string(), vec![checkpoint.state.snapshot]);
        }
        let keys: BTreeSet<&String> = now.keys().chain(self.refs.keys()).collect();
        let changed = keys.into_iter().filter(|key| now.get(*key) != self.refs.get(*key));
        let changed: BTreeSet<String> = changed.cloned().collect();
        let named =
            changed.iter().flat_map(|key| now.get(key).into_iter().chain(self.refs.get(key)));
        let named: BTreeSet<Id> = named.flatten().copied().collect();
        let count = self.vault.figures().unwrap().operations as usize;
        // Operations that change no ref, such as a collection's own, name nothing.
        while self.log.len() + 1 < count {
            self.log.push(BTreeSet::new());
            self.touched.push(BTreeSet::new());
        }
        if self.log.len() < count {
            self.log.push(named);
            self.touched.push(changed);
        }
        self.refs = now;
    }

    fn workspaces(&self) -> Vec<WorkspaceRecord> {
        self.vault.workspaces().unwrap()
    }

    fn step(&mut self) {
        let workspaces = self.workspaces();
        let chosen = self.rng.pick(&workspaces).cloned();
        match (self.rng.below(20), chosen) {
            (0..3, _) | (_, None) => self.fork(),
            (3..8, Some(workspace)) => self.write(&workspace),
            (8..11, Some(workspace)) => self.start(&workspace),
            (11..14, Some(_)) => self.end(),
            (14, Some(workspace)) => self.checkpoint(&workspace),
            (15, Some(workspace)) => self.delete(&workspace),
            (16, Some(_)) => self.undo(),
            (17, Some(workspace)) => self.show(&workspace),
            (_, Some(_)) => self.collect(),
        }
    }

    fn fork(&mut self) {
        let there: Vec<Id> = self.refs.values().flatten().copied().collect();
        let from = *self.rng.pick(&there).unwrap();
        self.names += 1;
        let name = format!("w{}", self.names);
        let made = self.vault.transact("fork", &actor(), |tx| {
            let (head, base, created_ms) = (from, from, tx.time_ms());
            let state = WorkspaceState { head, base, parent: None, created_ms, expires_ms: None };
            let workspace = WorkspaceRecord { id: tx.new_id(), name, state };
            tx.scope(workspace.id);
            tx.set_workspace(&workspace)
        });
        made.unwrap();
        self.learn();
    }

    /// Changes a file, sometimes back to what some state had.
    fn new_bytes(&mut self) -> Vec<u8> {
        match self.rng.below(5) {
            0 => {
                let all: Vec<&Vec<u8>> =
                    self.states.values().flat_map(|(_, files)| files.values()).collect();
                (*self.rng.pick(&all).unwrap()).clone()
            }
            1 => {
                let length = 66_000 + self.rng.below(2_000_000) as usize;
                self.rng.bytes(length)
            }
            _ => {
                let length = self.rng.below(5000) as usize;
                self.rng.bytes(length)
            }
        }
    }

    fn write(&mut self, workspace: &WorkspaceRecord) {
        let bytes = self.new_bytes();
        let name = format!("file-{}", self.rng.below(8));
        let (root, mut files) = self.states[&workspace.state.head].clone();
        let entry = file(&self.vault, &bytes);
        let root = edit(&self.vault, &root, |editor| editor.put(&path(&name), entry).unwrap());
        files.insert(name, bytes);
        self.commit(workspace.id, root, files);
    }

    /// Makes a root the head of a workspace, where that is still there.
    fn commit(&mut self, workspace: Id, root: RootId, files: Files) {
        let Some(mut now) = self.vault.workspace(&workspace).unwrap() else { return };
        if root == self.states[&now.state.head].0 {
            return;
        }
        let content = self.vault.objects().unwrap().root(&root).unwrap();
        let content = content.directory().unwrap().content;
        let committed = self.vault.transact("write", &actor(), |tx| {
            let (parents, reason) = (vec![now.state.head], "write".to_owned());
            let new = NewSnapshot { root, content, parents, reason, message: None };
            let snapshot = tx.add_snapshot(new)?;
            now.state.head = snapshot.id;
            tx.scope(workspace);
            tx.set_workspace(&now)?;
            Ok(snapshot.id)
        });
        self.states.insert(committed.unwrap().value, (root, files));
        self.alive.insert(root);
        self.learn();
    }

    /// Starts a command: it has its layers, says upon what it runs, and writes.
    fn start(&mut self, workspace: &WorkspaceRecord) {
        if self.running.len() > 3 {
            return;
        }
        let base = workspace.state.head;
        let (root, mut files) = self.states[&base].clone();
        let held = self.vault.hold().unwrap();
        let layers = self.vault.stack(&root, &[]).unwrap().layers;
        let mut upper = self.vault.begin_upper(&root).unwrap();
        let note = ExecNote { snapshot: base, layers, ..note(&self.vault, &root) };
        upper.note(&note).unwrap();
        drop(held);
        for _ in 0..self.rng.below(6) {
            let (name, bytes) = (format!("made-{}", self.rng.below(6)), self.new_bytes());
            fs::write(upper.dir().join(&name), &bytes).unwrap();
            files.insert(name, bytes);
        }
        self.running.push(RunningExec { upper, workspace: workspace.id, base, files });
    }

    /// Ends a command: what it wrote is adopted, also where its workspace is gone.
    fn end(&mut self) {
        if self.running.is_empty() {
            return;
        }
        let at = self.rng.below(self.running.len() as u64) as usize;
        let RunningExec { upper, workspace, files, .. } = self.running.swap_remove(at);
        let held = self.vault.hold().unwrap();
        let adopted = self.vault.adopt(upper, &PlainAccess).unwrap();
        let here = self.vault.workspace(&workspace).unwrap();
        if here.is_some_and(|now| self.states[&now.state.head].0 != adopted.root) {
            let vault = &self.vault;
            vault.transact("record", &actor(), |tx| adopted.record(tx)).unwrap();
            drop(held);
            self.commit(workspace, adopted.root, files);
        }
        // Where its workspace is gone nobody wants it: it is not to be recovered either.
        adopted.settle().unwrap();
    }

    fn checkpoint(&mut self, workspace: &WorkspaceRecord) {
        self.names += 1;
        let (name, snapshot) = (format!("c{}", self.names), workspace.state.head);
        let automatic = self.rng.one_in(2);
        let made = self.vault.transact("checkpoint", &actor(), |tx| {
            let (created_ms, reason) = (tx.time_ms(), String::new());
            let state = CheckpointState { snapshot, automatic, created_ms, reason };
            tx.scope(workspace.id);
            let id = tx.new_id();
            tx.set_checkpoint(&Checkpoint { id, workspace: workspace.id, name, state })?;
            Ok(id)
        });
        let id = made.unwrap().value.to_string();
        if automatic {
            self.automatic.insert(id);
        }
        self.learn();
    }

    fn delete(&mut self, workspace: &WorkspaceRecord) {
        let deleted =
            self.vault.transact("delete", &actor(), |tx| tx.remove_workspace(&workspace.id));
        deleted.unwrap();
        self.learn();
    }

    fn undo(&mut self) {
        match self.vault.undo(Scope::Vault, &actor()) {
            Ok(_) => self.learn(),
            Err(
                VaultError::NothingToUndo
                | VaultError::Overtaken { .. }
                | VaultError::Collected { .. },
            ) => {}
            Err(error) => panic!("{error}"),
        }
    }

    /// Makes layers that show a workspace.
    fn show(&mut self, workspace: &WorkspaceRecord) {
        let near: Vec<RootId> = vec![self.states[&workspace.state.base].0];
        self.vault.stack(&self.states[&workspace.state.head].0, &near).unwrap();
    }

    fn collect(&mut self) {
        let keep_operations = [0, 1, 2, 5, 20][self.rng.below(5) as usize];
        let keep_age = if self.rng.one_in(8) { YEAR } else { Duration::ZERO };
        let pack = !self.rng.one_in(3);
        self.collect_with(&GcOptions { keep_operations, keep_age, pack, ..NOTHING });
    }

    fn collect_with(&mut self, options: &GcOptions) {
        let mut told = *options;
        match self.fault {
            Fault::KeepsTooLittle => told.keep_operations = told.keep_operations.saturating_sub(1),
            Fault::KeepsTooMuch => told.keep_operations += 1,
            _ => {}
        }
        let would = self.vault.collect(&GcOptions { dry_run: true, ..told }, &actor()).unwrap();
        let report = self.with_fault(|vault| vault.collect(&told, &actor()).unwrap());
        if self.fault == Fault::None {
            let counts = |report: &GcReport| [report.roots, report.nodes, report.contents];
            assert_eq!(counts(&would), counts(&report), "what would be taken is what is taken");
        }
        self.packed += report.packed.count;
        let kept = match options.keep_age > Duration::ZERO {
            true => self.log.len(),
            false => options.keep_operations as usize,
        };
        let touched: BTreeSet<&String> = self.touched.iter().rev().take(kept).flatten().collect();
        let automatic = &self.automatic;
        self.refs.retain(|key, _| !automatic.contains(key) || touched.contains(key));
        let kept = self.log.iter().rev().take(kept).flatten();
        let needed = self.refs.values().flatten().chain(kept);
        let needed = needed.chain(self.running.iter().map(|running| &running.base));
        let needed: BTreeSet<RootId> = needed.map(|id| self.states[id].0).collect();
        self.alive.retain(|root| needed.contains(root));
        self.learn();
    }

    /// Runs a collection that does not see what the fault hides.
    fn with_fault(&self, work: impl FnOnce(&Vault) -> GcReport) -> GcReport {
        let away = self.scratch.path().join("away");
        match self.fault {
            Fault::SkipsCommands if !self.running.is_empty() => {
                fs::create_dir_all(&away).unwrap();
                let moves: Vec<_> = self
                    .running
                    .iter()
                    .map(|running| running.upper.dir().parent().unwrap().to_owned())
                    .map(|path| (away.join(path.file_name().unwrap()), path))
                    .collect();
                moves.iter().for_each(|(away, here)| fs::rename(here, away).unwrap());
                let report = work(&self.vault);
                moves.iter().for_each(|(away, here)| fs::rename(away, here).unwrap());
                report
            }
            Fault::SkipsCheckpoints => {
                let catalog = self.catalog();
                let hidden = "CREATE TABLE hidden AS SELECT * FROM refs WHERE kind = 'checkpoint';
                              DELETE FROM refs WHERE kind = 'checkpoint'";
                catalog.execute_batch(hidden).unwrap();
                let report = work(&self.vault);
                let back = "INSERT INTO refs SELECT * FROM hidden; DROP TABLE hidden";
                catalog.execute_batch(back).unwrap();
                report
            }
            _ => work(&self.vault),
        }
    }

    fn catalog(&self) -> Connection {
        Connection::open(self.vault.dir().join("catalog.db")).unwrap()
    }

    /// Everything that must be there is, and nothing else.
    fn compare(&self) -> Result<(), String> {
        let objects = self.vault.objects().unwrap();
        let (mut nodes, mut blobs) = (BTreeSet::new(), BTreeSet::new());
        for (root, files) in self.states.values() {
            let there = objects.has_root(root).unwrap();
            if there != self.alive.contains(root) {
                return Err(format!("root {root}: there {there}, needed {}", !there));
            }
            if there {
                let found = read(&self.vault, root, &mut nodes).map_err(|e| e.to_string())?;
                if found != *files {
                    return Err(format!("root {root} has other files"));
                }
                blobs.extend(files.values().map(|bytes| *blake3::hash(bytes).as_bytes()));
            }
        }
        let differences = self.vault.audit_differences().unwrap();
        if let Some(difference) = differences.first() {
            return Err(difference.clone());
        }
        let counted = [(1, blobs.len()), (2, nodes.len()), (3, self.alive.len())];
        for (kind, expected) in counted {
            let sql = "SELECT count(*) FROM objects WHERE kind = ?1";
            let found: usize = self.catalog().query_row(sql, [kind], |row| row.get(0)).unwrap();
            if found != expected {
                return Err(format!("{found} objects of kind {kind}, expected {expected}"));
            }
        }
        self.compare_layers()
    }

    /// Every layer is one that shows something that is worked on, or holds content that is needed.
    fn compare_layers(&self) -> Result<(), String> {
        let catalog = self.catalog();
        let ids = |sql: &str| -> BTreeSet<Vec<u8>> {
            let mut statement = catalog.prepare(sql).unwrap();
            statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
        };
        let recorded = ids("SELECT id FROM layers");
        let homes = ids("SELECT DISTINCT substr(value, 2, 16) FROM objects
                         WHERE kind = 1 AND substr(value, 1, 1) = x'01'");
        let stacks = ids("SELECT layers FROM stacks");
        let stacked: BTreeSet<Vec<u8>> =
            stacks.iter().flat_map(|all| all.chunks(16)).map(<[u8]>::to_vec).collect();
        if let Some(layer) =
            recorded.iter().find(|id| !homes.contains(*id) && !stacked.contains(*id))
        {
            return Err(format!("layer {layer:?} is of no use"));
        }
        if let Some(layer) = homes.union(&stacked).find(|id| !recorded.contains(*id)) {
            return Err(format!("layer {layer:?} is needed and gone"));
        }
        let on_disk: BTreeSet<String> = names(&self.vault.dir().join("layers"))
            .into_iter()
            .filter(|name| !name.ends_with(".tmp"))
            .collect();
        let recorded: BTreeSet<String> = recorded
            .iter()
            .map(|id| Id::from_bytes(id.as_slice().try_into().unwrap()).to_string())
            .collect();
        if on_disk != recorded {
            return Err(format!("layers on disk {on_disk:?}, recorded {recorded:?}"));
        }
        Ok(())
    }

    /// Everything that is worked on can be mounted, by the real kernel.
    fn mount(&self) {
        let place = self.scratch.folder("mounted");
        let mut mounts = Mounts::new(&place);
        mounts.add(&self.vault, &head(&self.vault), &[]);
        for workspace in self.workspaces() {
            let near = [self.states[&workspace.state.base].0];
            mounts.add(&self.vault, &self.states[&workspace.state.head].0, &near);
        }
        mounts.look();
    }
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

/// All files of a root; every directory node on the way is noted.
fn read(vault: &Vault, root: &RootId, nodes: &mut BTreeSet<NodeId>) -> Result<Files, VaultError> {
    let objects = vault.objects()?;
    let top = objects.root(root)?;
    let mut pending: Vec<DirRef> = vec![*top.directory().unwrap()];
    let mut files = Files::new();
    while let Some(dir) = pending.pop() {
        nodes.insert(dir.node);
        match objects.node(&dir.node)? {
            Node::Index(children) => pending.extend(children.iter().map(|child| child.dir)),
            Node::Leaf(entries) => {
                for entry in entries {
                    let name = String::from_utf8(entry.name).unwrap();
                    match entry.body {
                        Body::File { blob, .. } => drop(files.insert(name, objects.blob(&blob)?)),
                        Body::Directory(dir) => pending.push(*dir),
                        _ => {}
                    }
                }
            }
        }
    }
    Ok(files)
}

fn run(seed: u64, steps: u64, fault: Fault) -> Result<u64, String> {
    let mut case = Case::new(seed, fault);
    for step in 0..steps {
        case.step();
        if step % 10 == 9 {
            case.collect();
            case.compare().map_err(|why| format!("after {step} steps: {why}"))?;
        }
    }
    while !case.running.is_empty() {
        case.end();
    }
    case.collect_with(&NOTHING);
    case.compare().map_err(|why| format!("at the end: {why}"))?;
    let check = case.vault.check(offshoot_vault::CheckDepth::Content).unwrap();
    if !check.problems.is_empty() {
        return Err(format!("{:?}", check.problems));
    }
    if fault == Fault::None {
        case.mount();
    }
    Ok(case.packed)
}

#[needs(Overlay)]
#[test]
fn what_is_needed_stays_and_nothing_else_does() {
    const USUAL: u64 = 1;
    let seed = seed_from_env_or(USUAL);
    let cases = if is_long() { 200 } else { 12 };
    println!("{cases} cases from {SEED_VARIABLE}={seed}");
    let mut packed = 0;
    for number in 0..cases {
        let seed = seed.wrapping_add(number);
        match run(seed, 80, Fault::None) {
            Ok(count) => packed += count,
            Err(why) => panic!("{SEED_VARIABLE}={seed}: {why}"),
        }
    }
    println!("{packed} contents were moved to packs");
    // Other seeds may never come to it.
    assert!(packed > 0 || seed != USUAL, "no case came to pack anything");
}

/// A witness must be able to say no.
#[test]
fn mistakes_of_a_collection_are_found() {
    for fault in
        [Fault::SkipsCommands, Fault::SkipsCheckpoints, Fault::KeepsTooLittle, Fault::KeepsTooMuch]
    {
        let found = (0..30).any(|seed| {
            let case = std::panic::AssertUnwindSafe(|| run(seed, 60, fault));
            // A command that ends upon what was taken away fails, which is noticed as well.
            !matches!(std::panic::catch_unwind(case), Ok(Ok(_)))
        });
        assert!(found, "{fault:?} went unnoticed");
    }
}

#[test]
fn content_over_the_limit_gives_up_old_operations_and_no_ref() {
    let scratch = Scratch::new();
    let vault = empty_vault(&scratch);
    let mut roots = vec![head(&vault)];
    for number in 0..8u8 {
        let entry = file(&vault, &[number; 10_000]);
        let root = edit(&vault, &roots[0], |editor| editor.put(&path("file"), entry).unwrap());
        crate::support::commit(&vault, &root);
        roots.push(root);
    }
    let options = GcOptions { keep_age: YEAR, max_size: Some(35_000), ..NOTHING };
    let report = vault.collect(&options, &actor()).unwrap();
    let there: Vec<bool> =
        roots.iter().map(|root| vault.objects().unwrap().has_root(root).unwrap()).collect();
    // Of ten thousand bytes each three fit; an operation names the states before and after it.
    assert_eq!(there, [false, false, false, false, false, false, true, true, true]);
    assert_eq!(report.given_up, 7, "{report:?}");
    let options = GcOptions { keep_age: YEAR, max_size: Some(1), ..NOTHING };
    vault.collect(&options, &actor()).unwrap();
    assert!(vault.objects().unwrap().has_root(&roots[8]).unwrap(), "a ref names it");
    assert!(!vault.objects().unwrap().has_root(&roots[7]).unwrap());
    assert!(vault.check(offshoot_vault::CheckDepth::Content).unwrap().problems.is_empty());
}

#[test]
fn a_packed_vault_needs_no_layers() {
    let scratch = Scratch::new();
    let source = scratch.folder("source");
    let mut rng = Rng::new(3);
    // Two long files with much in common, one that can be compressed, and small ones.
    let long = rng.bytes(5 << 20);
    fs::write(source.join("long"), &long).unwrap();
    fs::write(source.join("longer"), [&long[..], b"and more"].concat()).unwrap();
    fs::write(source.join("zeros"), vec![0; 3 << 20]).unwrap();
    fs::write(source.join("small"), "small").unwrap();
    fs::write(source.join("empty"), "").unwrap();
    let vault = vault_of(&scratch, &source);
    let packed = vault.pack(&actor()).unwrap();
    assert_eq!(packed.packed.count, 5);
    assert!(packed.packs.bytes < (6 << 20), "equal parts are kept once: {packed:?}");
    let again = vault.pack(&actor()).unwrap();
    assert_eq!(again.packed.count, 0);
    for name in names(&vault.dir().join("layers")) {
        fs::remove_dir_all(vault.dir().join("layers").join(name)).unwrap();
    }
    let root = head(&vault);
    let shown = vault.stack(&root, &[]).unwrap();
    for name in ["long", "longer", "zeros", "small", "empty"] {
        let expected = fs::read(source.join(name)).unwrap();
        assert!(fs::read(shown.directories[0].join(name)).unwrap() == expected, "{name}");
    }
    vault.repair(offshoot_vault::CheckDepth::Content, &actor()).unwrap();
    let check = vault.check(offshoot_vault::CheckDepth::Content).unwrap();
    assert!(check.problems.is_empty(), "{:?}", check.problems);
}

#[test]
fn packs_that_are_mostly_garbage_are_written_anew() {
    let scratch = Scratch::new();
    let source = scratch.folder("source");
    let mut rng = Rng::new(4);
    for number in 0..10 {
        fs::write(source.join(number.to_string()), rng.bytes(200_000)).unwrap();
    }
    fs::write(source.join("long"), rng.bytes(4 << 20)).unwrap();
    let vault = vault_of(&scratch, &source);
    vault.pack(&actor()).unwrap();
    let before = names(&vault.dir().join("packs"));
    let root = edit(&vault, &head(&vault), |editor| {
        for number in 2..10 {
            editor.remove(&path(&number.to_string())).unwrap();
        }
        editor.remove(&path("long")).unwrap();
    });
    crate::support::commit(&vault, &root);
    let report = vault.collect(&NOTHING, &actor()).unwrap();
    assert_eq!(report.packs.count, 1, "{report:?}");
    assert!(report.chunks.count > 0, "{report:?}");
    let after = names(&vault.dir().join("packs"));
    assert!(after.len() == 1 && after != before, "{before:?} {after:?}");
    let length = fs::metadata(vault.dir().join("packs").join(&after[0])).unwrap().len();
    assert!((400_000..500_000).contains(&length), "{length}");
    let check = vault.check(offshoot_vault::CheckDepth::Content).unwrap();
    assert!(check.problems.is_empty(), "{:?}", check.problems);
}

/// Deleting everything but one workspace gives the room back.
#[test]
fn room_comes_back() {
    let size = |vault: &Vault| -> u64 {
        let output = std::process::Command::new("du")
            .args(["-s", "--block-size=1"])
            .arg(vault.dir())
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap().split('\t').next().unwrap().parse().unwrap()
    };
    let scratch = Scratch::new();
    let source = scratch.folder("source");
    let mut rng = Rng::new(5);
    for number in 0..40 {
        fs::write(source.join(number.to_string()), rng.bytes(50_000)).unwrap();
    }
    let vault = vault_of(&scratch, &source);
    let fresh = size(&vault);
    for number in 0..30 {
        let mut root = head(&vault);
        for file_number in 0..4 {
            let entry = file(&vault, &rng.bytes(30_000 + 40_000 * file_number));
            let name = path(&format!("new-{number}-{file_number}"));
            root = edit(&vault, &root, |editor| editor.put(&name, entry).unwrap());
        }
        vault.stack(&root, &[head(&vault)]).unwrap();
        crate::support::commit(&vault, &root);
    }
    let grown = size(&vault);
    let first = edit(&vault, &head(&vault), |editor| {
        for number in 0..30 {
            for file_number in 0..4 {
                editor.remove(&path(&format!("new-{number}-{file_number}"))).unwrap();
            }
        }
    });
    crate::support::commit(&vault, &first);
    let report = vault.collect(&NOTHING, &actor()).unwrap();
    let left = size(&vault);
    println!(
        "fresh {fresh}, grown {grown}, after gc {left} bytes: {:.2} times a fresh one; \
         others waited {:?} at most",
        left as f64 / fresh as f64,
        report.longest_pause
    );
    assert!(grown > fresh * 4 && left < fresh * 3 / 2, "{fresh} {grown} {left}: {report:?}");
    drop(home(&scratch));
}

/// What is stored and not yet named by anything is no garbage while its maker holds the gate.
#[test]
fn what_is_being_made_is_not_collected() {
    let scratch = Scratch::new();
    let vault = empty_vault(&scratch);
    let other = home(&scratch).open("v").unwrap();
    let held = other.hold().unwrap();
    let entry = file(&other, &[7; 100_000]);
    let root = edit(&other, &head(&other), |editor| editor.put(&path("file"), entry).unwrap());
    std::thread::scope(|scope| {
        let collector = scope.spawn(|| vault.collect(&NOTHING, &actor()).unwrap());
        std::thread::sleep(Duration::from_millis(300));
        assert!(!collector.is_finished(), "it waits for who stores something");
        crate::support::commit(&other, &root);
        drop(held);
        assert_eq!(collector.join().unwrap().contents.count, 0);
    });
    let found = read(&vault, &root, &mut BTreeSet::new()).unwrap();
    assert_eq!(found["file"], [7; 100_000]);
}

/// Somebody looks at a folder while a collection goes on, before and between, and commits nothing. Who finds that state later
/// finds all of it.
#[test]
fn what_was_only_looked_at_is_there_whole_or_not_at_all() {
    let scratch = Scratch::new();
    let vault = empty_vault(&scratch);
    let other = home(&scratch).open("v").unwrap();
    let folder = scratch.path().join("folder");
    let options = offshoot_vault::ImportOptions::default();
    let mut met = 0;
    for round in 0..200 {
        fs::create_dir_all(folder.join("in")).unwrap();
        for name in ["a", "in/b"] {
            fs::write(folder.join(name), format!("{name} {round}")).unwrap();
        }
        let root = other.import(&folder, &options).unwrap().root;
        let objects = other.objects().unwrap();
        let node = objects.root(&root).unwrap().directory().unwrap().node;
        std::thread::scope(|scope| {
            let collector = scope.spawn(|| vault.collect(&NOTHING, &actor()).unwrap());
            while objects.has_root(&root).unwrap() && !collector.is_finished() {}
            let held = other.hold().unwrap();
            // The root is gone, and what is beneath it is not yet.
            met += u32::from(!collector.is_finished() && objects.node(&node).is_ok());
            assert_eq!(other.import(&folder, &options).unwrap().root, root);
            drop(held);
            collector.join().unwrap();
        });
        let found = read(&other, &root, &mut BTreeSet::new()).unwrap();
        assert_eq!(found["b"], format!("in/b {round}").as_bytes());
        if met == 3 {
            return;
        }
    }
    panic!("no collection was met between roots and directories");
}

#[test]
fn nothing_comes_to_point_at_what_was_collected() {
    let scratch = Scratch::new();
    let vault = empty_vault(&scratch);
    let first = vault.head().unwrap();
    let entry = file(&vault, b"file");
    let root = edit(&vault, &first.root, |editor| editor.put(&path("file"), entry).unwrap());
    crate::support::commit(&vault, &root);
    vault.collect(&NOTHING, &actor()).unwrap();
    let back = vault.transact("test", &actor(), |tx| tx.set_head(first.id));
    assert!(matches!(back, Err(VaultError::Collected { snapshot, .. }) if snapshot == first.id));
    assert!(matches!(vault.undo(Scope::Vault, &actor()), Err(VaultError::Collected { .. })));
    let create = vault.operations(Scope::Vault, None, 100).unwrap().pop().unwrap();
    let restored = vault.restore_operation(&create.id, Scope::Vault, &actor());
    assert!(matches!(restored, Err(VaultError::Collected { .. })));
    assert!(vault.is_collected(&first).unwrap());
    // Stored again it is there again.
    let same = edit(&vault, &root, |editor| drop(editor.remove(&path("file")).unwrap()));
    let top = vault.objects().unwrap().root(&same).unwrap();
    assert_eq!(top.directory().unwrap().entries, 0);
    assert!(vault.check(offshoot_vault::CheckDepth::Content).unwrap().problems.is_empty());
}

#[test]
fn who_writes_without_saying_upon_what_is_in_the_way() {
    let scratch = Scratch::new();
    let vault = empty_vault(&scratch);
    let first = head(&vault);
    let upper = vault.begin_upper(&first).unwrap();
    let entry = file(&vault, b"file");
    let root = edit(&vault, &first, |editor| editor.put(&path("file"), entry).unwrap());
    vault.stack(&root, &[]).unwrap();
    crate::support::commit(&vault, &root);
    let refused = vault.collect(&NOTHING, &actor());
    assert!(matches!(refused, Err(VaultError::Unaccounted(_))), "{refused:?}");
    drop(upper);
    vault.collect(&NOTHING, &actor()).unwrap();
    assert!(vault.check(offshoot_vault::CheckDepth::Content).unwrap().problems.is_empty());
}
