//! One sequence of commands, compared after each.

use std::fmt;
use std::path::Path;

use offshoot_tests::rng::Rng;
use tempfile::TempDir;

use crate::action::{Action, Edit};
use crate::choose::Choice;
use crate::driver::{Driver, Ids, SeenTree, Trouble, expected_tree};
use crate::host;
use crate::state::Model;
use crate::tree::Tree;

/// After so many commands everything is compared, not only what was touched.
const EVERYTHING: u64 = 15;

/// How to run a case.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    pub(crate) seed: u64,
    pub(crate) steps: u64,
    pub(crate) dead_scopes: bool,
    pub(crate) fault: Fault,
}

/// A mistake that the comparison must find.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    None,
    /// One command that changes something is not done.
    DropCommand,
    /// The model has other bytes.
    WrongContent,
    /// The model has another name.
    WrongName,
    /// The model's undo does nothing.
    NoUndo,
}

/// How many commands were run.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Count {
    pub(crate) commands: u64,
    pub(crate) refused: u64,
}

/// What went wrong, and after which commands.
pub(crate) struct Failure {
    why: String,
    commands: Vec<String>,
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        let start = self.commands.len().saturating_sub(12);
        writeln!(formatter, "{}\nthe last of {} commands:", self.why, self.commands.len())?;
        let last = self.commands.iter().enumerate().skip(start);
        last.into_iter().try_for_each(|(number, text)| writeln!(formatter, "  {number}: {text}"))
    }
}

struct Case<D> {
    driver: D,
    model: Model,
    ids: Ids,
    rng: Rng,
    plan: Plan,
    count: Count,
    /// Whether the mistake has been made.
    faulted: bool,
}

/// Runs a case.
pub(crate) fn run<D: Driver>(
    plan: &Plan,
    new: impl FnOnce(&mut Rng) -> D,
) -> Result<Count, Failure> {
    let mut rng = Rng::new(plan.seed);
    let mut driver = new(&mut rng);
    let model = Model::new(host::tree(driver.project()));
    let seen = driver.see().unwrap();
    let ids = Ids {
        snapshots: vec![seen.head],
        workspaces: Vec::new(),
        operations: vec![seen.last_operation],
    };
    let mut case =
        Case { driver, model, ids, rng, plan: *plan, count: Count::default(), faulted: false };
    case.model.forgets_to_undo = plan.fault == Fault::NoUndo;
    let mut commands = Vec::new();
    let outcome = (0..plan.steps)
        .try_for_each(|number| case.step(number, &mut commands))
        .and_then(|()| case.finish());
    match outcome {
        Ok(()) => Ok(case.count),
        Err(why) => Err(Failure { why, commands }),
    }
}

impl<D: Driver> Case<D> {
    fn step(&mut self, number: u64, commands: &mut Vec<String>) -> Result<(), String> {
        let (rng, model) = (&mut self.rng, &self.model);
        let dead_scopes = self.plan.dead_scopes;
        let action = Choice { rng, model, dead_scopes }.action();
        if action == Action::Import && !self.rng.one_in(5) {
            host::change(self.driver.project(), &mut self.rng);
        }
        commands.push(action.describe());
        let operations = self.model.operations();
        let expected = self.model.act(&action, &host::tree(self.driver.project()));
        let changes = self.model.operations() > operations;
        let done =
            if self.drops(number, changes) { Ok(()) } else { self.driver.act(&action, &self.ids) };
        self.count.commands += 1;
        self.count.refused += u64::from(expected.is_err());
        match (&expected, done) {
            (_, Err(Trouble::Broken(why))) => return Err(why),
            (Ok(()), Err(Trouble::Refused(why))) => return Err(format!("refused: {why}")),
            (Err(why), Ok(())) => return Err(format!("not refused, though: {why}")),
            _ => {}
        }
        if self.rng.one_in(40) {
            self.driver.reopen()?;
        }
        self.compare_refs()?;
        self.spoil(number, &action, expected.is_ok());
        if number % EVERYTHING == EVERYTHING - 1 {
            return self.compare_everything();
        }
        match action {
            Action::Import => self.compare_tree(self.model.refs.head),
            Action::Edit { workspace, .. }
            | Action::Restore { workspace, .. }
            | Action::Discard { workspace, keep: true } => {
                self.compare_tree(self.model.refs.workspaces[&workspace].head)
            }
            _ => Ok(()),
        }
    }

    fn drops(&mut self, number: u64, changes: bool) -> bool {
        let drops =
            self.plan.fault == Fault::DropCommand && !self.faulted && number > 10 && changes;
        self.faulted |= drops;
        drops
    }

    /// Makes the model wrong, where that is asked for.
    fn spoil(&mut self, number: u64, action: &Action, done: bool) {
        if self.faulted || number <= 10 || !done {
            return;
        }
        match (self.plan.fault, action) {
            (Fault::WrongContent, Action::Edit { workspace, edit: Edit::Write { path, .. } }) => {
                let head = self.model.refs.workspaces[workspace].head;
                let mut tree = Tree::clone(&self.model.snapshots[head]);
                let kind = &mut tree.0.get_mut(path).unwrap().kind;
                *kind = crate::tree::Kind::File([7; 32]);
                self.model.snapshots[head] = tree.into();
            }
            (Fault::WrongName, Action::Checkpoint { .. }) => {
                let last = self.model.refs.checkpoints.values_mut().last().unwrap();
                last.name.push('x');
            }
            _ => return,
        }
        self.faulted = true;
    }

    fn compare_refs(&mut self) -> Result<(), String> {
        let seen = self.driver.see()?;
        self.ids.learn(&self.model, &seen)?;
        let expected = self.ids.expected(&self.model);
        if seen == expected {
            return Ok(());
        }
        Err(format!("refs differ\nseen: {seen:#?}\nexpected: {expected:#?}"))
    }

    fn compare_tree(&mut self, snapshot: usize) -> Result<(), String> {
        let seen = self.driver.tree(&self.ids.snapshots[snapshot])?;
        same_tree(&seen, &expected_tree(&self.model.snapshots[snapshot]))
    }

    fn compare_everything(&mut self) -> Result<(), String> {
        let refs = &self.model.refs;
        let mut all = vec![refs.head];
        all.extend(refs.workspaces.values().flat_map(|found| [found.head, found.base]));
        all.extend(refs.checkpoints.values().map(|found| found.snapshot));
        all.sort_unstable();
        all.dedup();
        all.into_iter().try_for_each(|snapshot| self.compare_tree(snapshot))
    }

    fn finish(&mut self) -> Result<(), String> {
        self.driver.reopen()?;
        self.compare_refs()?;
        self.compare_everything()?;
        self.driver.check()?;
        let heads: Vec<usize> =
            self.model.refs.workspaces.values().map(|found| found.head).collect();
        let snapshot = self.rng.pick(&heads).copied().unwrap_or(self.model.refs.head);
        let folder = temporary();
        let exported = folder.path().join("exported");
        self.driver.export(&self.ids.snapshots[snapshot], &exported)?;
        let seen = expected_tree(&host::tree(&exported));
        same_tree(&seen, &expected_tree(&self.model.snapshots[snapshot]))
    }
}

fn same_tree(seen: &SeenTree, expected: &SeenTree) -> Result<(), String> {
    if seen == expected {
        return Ok(());
    }
    let paths: std::collections::BTreeSet<&String> = seen.keys().chain(expected.keys()).collect();
    let differing = paths.into_iter().filter(|path| seen.get(*path) != expected.get(*path));
    let lines: Vec<String> = differing
        .map(|path| format!("{path}: {:?}, expected {:?}", seen.get(path), expected.get(path)))
        .collect();
    Err(format!("trees differ\n{}", lines.join("\n")))
}

/// A temporary directory in memory where there is such a place: syncs cost nothing there.
pub(crate) fn temporary() -> TempDir {
    let mut builder = tempfile::Builder::new();
    builder.prefix("offshoot-model-");
    let memory = Path::new("/dev/shm");
    if memory.is_dir() { builder.tempdir_in(memory) } else { builder.tempdir() }.unwrap()
}
