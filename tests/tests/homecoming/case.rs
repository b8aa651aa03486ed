//! One story: a person and two agents change files, commit their work, and take it back.

#[path = "case/decide.rs"]
mod decide;

use std::collections::BTreeMap;
use std::fmt;

use offshoot_tests::rng::Rng;
use offshoot_tests::scan::Scan;

use crate::edit::{Edit, Editor, FOLDERS, KEEPER, Source};
use crate::merge::{Clash, Merged, is_hard_to_follow, lines_that_must_be, merge};
use crate::tree::{Body, File, Tree, all_lines};
use crate::world::{Ended, World, differences, scans_differ};

/// The workspaces.
const AGENTS: [&str; 2] = ["ada", "bea"];
const PERSON: &str = "person";

/// How a story is told.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    pub(crate) seed: u64,
    pub(crate) rounds: u64,
    pub(crate) fault: Fault,
}

/// A mistake that must be found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    None,
    /// After a commit a line is taken out of the folder.
    LostLine,
    /// A line that touches another's is taken for no conflict.
    NoTouching,
}

/// How much was done.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Count {
    pub(crate) edits: u64,
    pub(crate) commits: u64,
    pub(crate) conflicts: u64,
    pub(crate) undone: u64,
}

/// What went wrong, and what was done before.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) why: String,
    pub(crate) story: Vec<String>,
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        writeln!(formatter, "{}\nafter:", self.why)?;
        self.story.iter().try_for_each(|line| writeln!(formatter, "  {line}"))
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Workspace {
    tree: Tree,
    base: Tree,
}

pub(crate) struct Case {
    world: World,
    rng: Rng,
    source: Source,
    /// The folder, which the person changes.
    folder: Tree,
    workspaces: BTreeMap<&'static str, Workspace>,
    plan: Plan,
    count: Count,
    story: Vec<String>,
}

/// Tells a story.
pub(crate) fn run(plan: Plan) -> Result<Count, Failure> {
    let mut rng = Rng::new(plan.seed);
    let mut source = Source::default();
    let folder = first_tree(&mut rng, &mut source);
    let start = || {
        let world = World::new(&folder)?;
        AGENTS.iter().try_for_each(|agent| world.fork(agent))?;
        Ok(world)
    };
    let world = start().map_err(|why| Failure { why, story: Vec::new() })?;
    let workspace = |agent| (agent, Workspace { tree: folder.clone(), base: folder.clone() });
    let workspaces = AGENTS.into_iter().map(workspace).collect();
    let (count, story) = (Count::default(), Vec::new());
    let mut case = Case { world, rng, source, folder, workspaces, plan, count, story };
    match case.tell() {
        Ok(()) => Ok(case.count),
        Err(why) => Err(Failure { why, story: case.story }),
    }
}

fn first_tree(rng: &mut Rng, source: &mut Source) -> Tree {
    let mut tree = Tree::new();
    let mut add = |path: String, body: Body, source: &mut Source| {
        tree.insert(path, File { id: source.number(), body, executable: false });
    };
    for folder in FOLDERS {
        let keeper = source.text("nobody", 1);
        add(format!("{folder}{KEEPER}"), keeper, source);
        let text = source.text("nobody", 8 + rng.below(10) as usize);
        add(format!("{folder}text"), text, source);
    }
    let picture = Body::Opaque(source.line("nobody"));
    add("docs/picture".to_owned(), picture, source);
    add("docs/link".to_owned(), Body::Link("text".to_owned()), source);
    tree
}

impl Case {
    fn tell(&mut self) -> Result<(), String> {
        for _ in 0..self.plan.rounds {
            for _ in 0..1 + self.rng.below(3) {
                match self.rng.below(3) {
                    0 => self.person_edits()?,
                    agent => self.agent_edits(AGENTS[agent as usize - 1])?,
                }
            }
            let agent = *self.rng.pick(&AGENTS).expect("there are agents");
            if self.is_hard(agent) {
                // What the product takes for a move is its own affair here.
                continue;
            }
            match self.rng.below(4) {
                0 => self.pull(agent)?,
                1 => {}
                _ => self.commit(agent)?,
            }
        }
        self.finish()
    }

    /// In the end everybody's work is committed.
    fn finish(&mut self) -> Result<(), String> {
        let mut order = AGENTS;
        self.rng.shuffle(&mut order);
        for agent in order {
            if !self.is_hard(agent) {
                self.commit(agent)?;
            }
        }
        self.world.check()
    }

    fn is_hard(&self, agent: &str) -> bool {
        let Workspace { tree, base } = &self.workspaces[agent];
        is_hard_to_follow(base, [&self.folder, tree])
            || merge(base, [&self.folder, tree]).is_tangled
    }

    fn person_edits(&mut self) -> Result<(), String> {
        let Self { rng, source, folder, workspaces, .. } = self;
        let bases = workspaces.values().map(|workspace| &workspace.base).collect();
        let edit = Editor { who: PERSON, rng, source, bases }.edit(folder);
        let Some(edit) = edit else { return Ok(()) };
        self.note(PERSON, &edit);
        self.world.edit_on_disk(&edit)
    }

    fn agent_edits(&mut self, agent: &'static str) -> Result<(), String> {
        let how_many = 1 + self.rng.below(3);
        let mut edits = Vec::new();
        let Self { rng, source, workspaces, .. } = self;
        // What is committed is compared with what the others came from as well.
        let bases: Vec<Tree> = workspaces.values().map(|it| it.base.clone()).collect();
        let Workspace { tree, .. } = workspaces.get_mut(agent).expect("it is there");
        for _ in 0..how_many {
            let bases = bases.iter().collect();
            edits.extend(Editor { who: agent, rng, source, bases }.edit(tree));
        }
        edits.iter().for_each(|edit| self.note(agent, edit));
        let by_program = self.rng.one_in(3);
        let mut left = Vec::new();
        for edit in edits {
            let order_matters = by_program || !left.is_empty();
            if order_matters || !self.world.edit_by_command(agent, &edit)? {
                left.push(edit);
            }
        }
        if left.is_empty() { Ok(()) } else { self.world.edit_by_program(agent, &left) }
    }

    fn commit(&mut self, agent: &'static str) -> Result<(), String> {
        self.story.push(format!("{agent} commits"));
        let Workspace { tree, base } = self.workspaces[agent].clone();
        let before = self.world.folder();
        let merged = self.expected(&base, &self.folder, &tree);
        let ended = self.world.commit(agent)?;
        self.count.commits += 1;
        if tree == base {
            // Nothing to commit but the time of a file that was decided to be what it is.
            same(&ended, &Ended::Well)?;
            none(&differences(&self.world.folder(), &self.folder))?;
            return self.follow(agent);
        }
        if !merged.conflicts.is_empty() {
            self.count.conflicts += 1;
            same(&ended, &Ended::Conflicts(merged.conflicts.keys().cloned().collect()))?;
            scans_differ(&before, &self.world.folder())?;
            return self.pull(agent);
        }
        same(&ended, &Ended::Well)?;
        self.spoil();
        self.check_committed(&base, &tree, &merged.tree)?;
        let earlier = (self.folder.clone(), self.workspaces[agent].clone());
        self.settle(agent, &merged.tree);
        self.take_back(agent, &before, earlier)
    }

    /// After a commit that changed no file. If the time of one was committed, the workspace is what the folder is now, as after any
    /// commit; if not even that did, it is what it was.
    fn follow(&mut self, agent: &'static str) -> Result<(), String> {
        let found = self.world.state(&["-w", agent])?;
        if differences(&found, &self.folder).is_empty() {
            self.settle(agent, &self.folder.clone());
            return Ok(());
        }
        none(&differences(&found, &self.workspaces[agent].tree))
    }

    /// Holds a commit without conflicts against what it must be.
    fn check_committed(&mut self, base: &Tree, tree: &Tree, merged: &Tree) -> Result<(), String> {
        let folder = self.world.folder();
        none(&differences(&folder, merged))?;
        let second = lines_that_must_be(base, [&self.folder, tree]);
        let first = all_lines(merged);
        if first != second {
            let apart: Vec<_> = first.symmetric_difference(&second).collect();
            return Err(format!("the model is wrong about {apart:?}"));
        }
        let head = self.world.state(&["--at", "head"])?;
        scans_differ(&head, &folder).map_err(|why| format!("head is not the folder: {why}"))
    }

    fn settle(&mut self, agent: &'static str, merged: &Tree) {
        self.folder.clone_from(merged);
        let now = Workspace { tree: merged.clone(), base: merged.clone() };
        self.workspaces.insert(agent, now);
    }

    /// Takes a commit back, sometimes, and sometimes brings it back again.
    fn take_back(
        &mut self,
        agent: &'static str,
        before: &Scan,
        earlier: (Tree, Workspace),
    ) -> Result<(), String> {
        if !self.rng.one_in(3) {
            return Ok(());
        }
        let after = self.world.folder();
        self.story.push(format!("{agent} takes it back"));
        self.count.undone += 1;
        self.world.undo(agent)?;
        scans_differ(before, &self.world.folder()).map_err(|why| format!("undone: {why}"))?;
        if self.rng.one_in(2) {
            (self.folder, _) = earlier.clone();
            self.workspaces.insert(agent, earlier.1);
            return self.check_workspace(agent);
        }
        self.story.push(format!("{agent} brings it back"));
        self.world.redo(agent)?;
        scans_differ(&after, &self.world.folder()).map_err(|why| format!("redone: {why}"))
    }

    fn pull(&mut self, agent: &'static str) -> Result<(), String> {
        self.story.push(format!("{agent} pulls"));
        let Workspace { tree, base } = self.workspaces[agent].clone();
        let before = self.world.folder();
        let merged = self.expected(&base, &tree, &self.folder);
        let ended = self.world.pull(agent)?;
        scans_differ(&before, &self.world.folder())?;
        let expected = match merged.conflicts.is_empty() {
            true => Ended::Well,
            false => Ended::Conflicts(merged.conflicts.keys().cloned().collect()),
        };
        same(&ended, &expected)?;
        let decided = self.decide(agent, &tree, merged)?;
        self.workspaces.insert(agent, Workspace { tree: decided, base: self.folder.clone() });
        self.check_workspace(agent)
    }

    fn check_workspace(&mut self, agent: &'static str) -> Result<(), String> {
        let found = self.world.state(&["-w", agent])?;
        none(&differences(&found, &self.workspaces[agent].tree))
    }

    fn expected(&self, base: &Tree, one: &Tree, other: &Tree) -> Merged {
        let mut merged = merge(base, [one, other]);
        if self.plan.fault == Fault::NoTouching {
            merged.conflicts.retain(|_, clash| *clash != Clash::Lines);
        }
        merged
    }

    /// Damages the folder, where that is asked for.
    fn spoil(&mut self) {
        if self.plan.fault == Fault::LostLine {
            let path = "src/keeper".to_owned();
            let body = Body::Text(vec!["another line".to_owned()]);
            self.world.edit_on_disk(&Edit::Write { path, body }).expect("the folder is there");
        }
    }

    fn note(&mut self, who: &str, edit: &Edit) {
        self.count.edits += 1;
        self.story.push(match edit {
            Edit::Write { path, body: Body::Text(lines) } => {
                format!("{who} writes {path}: {}", lines.join("; "))
            }
            other => format!("{who}: {other:?}"),
        });
    }
}

fn same(found: &Ended, expected: &Ended) -> Result<(), String> {
    if found == expected { Ok(()) } else { Err(format!("{found:?}, expected {expected:?}")) }
}

fn none(problems: &[String]) -> Result<(), String> {
    if problems.is_empty() { Ok(()) } else { Err(problems.join("\n")) }
}
