//! One tree and what programs do to it.

use std::fmt;
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use offshoot_tests::oracle::changes::changes;
use offshoot_tests::oracle::generate::{old_directories, program};
use offshoot_tests::oracle::listing;
use offshoot_tests::oracle::step::{Step, to_text};
use offshoot_tests::oracle::tree::{Plan, PlanOptions};
use offshoot_tests::product::Place;
use offshoot_tests::rng::Rng;
use offshoot_tests::scan::{Scan, scan};

use crate::judge::{Evidence, FUTURE, Window, judge};
use crate::product::{Product, place_of, remove_sockets, run_plainly};
use crate::user::{ROOT, Tools, User};

/// How many workspaces of one tree a case has.
const WORKSPACES: u64 = 2;

/// Who runs, and with what.
#[derive(Clone, Copy)]
pub(crate) struct Setting<'a> {
    pub(crate) tools: &'a Tools,
    pub(crate) user: User,
    /// Directories are renamed by a broker where overlayfs cannot.
    pub(crate) broker: bool,
}

impl<'a> Setting<'a> {
    /// Everything as it is for users.
    pub(crate) fn new(tools: &'a Tools, user: User) -> Self {
        Self { tools, user, broker: true }
    }

    /// A program as text. Without a broker it has to know which directories overlayfs cannot rename.
    pub(crate) fn text(self, tree: &Scan, steps: &[Step]) -> String {
        let old = (!self.broker).then(|| old_directories(tree));
        to_text(&[old.as_slice(), steps].concat())
    }
}

/// What a seed stands for: a tree, and for each workspace a generator of programs.
pub(crate) struct Case {
    pub(crate) plan: Plan,
    workspaces: Vec<Rng>,
}

/// How much was run.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Count {
    pub(crate) programs: u64,
    pub(crate) steps: u64,
    /// Steps that were done and not refused.
    pub(crate) done: u64,
    pub(crate) changes: u64,
}

impl Count {
    pub(crate) fn add(&mut self, other: Self) {
        self.programs += other.programs;
        self.steps += other.steps;
        self.done += other.done;
        self.changes += other.changes;
    }
}

/// What went wrong, and after which programs.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    pub(crate) problems: Vec<String>,
    pub(crate) programs: Vec<Vec<Step>>,
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        for problem in self.problems.iter().take(30) {
            writeln!(formatter, "{problem}")?;
        }
        if self.problems.len() > 30 {
            writeln!(formatter, "and {} more", self.problems.len() - 30)?;
        }
        for (number, steps) in self.programs.iter().enumerate() {
            writeln!(formatter, "program {number}:\n{}", to_text(steps))?;
        }
        Ok(())
    }
}

impl Case {
    pub(crate) fn new(seed: u64, user: User) -> Self {
        let mut rng = Rng::new(seed);
        // In a workspace everything belongs to whoever runs the command, so files of others are no part of this. Nor is
        // what only root can take in; programs shut files and directories all the same.
        let options = PlanOptions { foreign: false, readable: user != ROOT };
        let plan = Plan::new(&mut rng, options);
        let workspaces = (0..WORKSPACES).map(|_| Rng::new(rng.next_u64())).collect();
        Self { plan, workspaces }
    }

    /// Runs the programs of every workspace; gives how much that was.
    pub(crate) fn run(
        &self,
        setting: Setting,
        product: &mut dyn Product,
    ) -> Result<Count, Failure> {
        let mut count = Count::default();
        for (number, rng) in self.workspaces.iter().enumerate() {
            let mut rng = rng.clone();
            let mut left = 1 + rng.below(3);
            let next = |tree: &Scan| {
                let actions = 3 + rng.below(20);
                let steps = (left > 0).then(|| program(&mut rng, tree, actions));
                left = left.saturating_sub(1);
                steps
            };
            let name = format!("w{number}");
            count.add(play(&self.plan, setting, product, &name, next)?);
        }
        Ok(count)
    }
}

/// Runs programs one after the other in a new workspace and on a plain directory, and compares after each.
pub(crate) fn play(
    plan: &Plan,
    setting: Setting,
    product: &mut dyn Product,
    workspace: &str,
    mut next: impl FnMut(&Scan) -> Option<Vec<Step>>,
) -> Result<Count, Failure> {
    let (mut programs, mut count) = (Vec::new(), Count::default());
    let fail = |problem: String, programs: &[Vec<Step>]| Failure {
        problems: vec![problem],
        programs: programs.to_vec(),
    };
    let mut native = Native::new(plan, setting);
    product.fork(workspace).map_err(|why| fail(why, &programs))?;
    while let Some(steps) = next(&native.tree) {
        let text = setting.text(&native.tree, &steps);
        programs.push(steps);
        let expected = native.run(&text).map_err(|why| fail(why, &programs))?;
        let found = witness(setting, product, workspace, &text);
        let found = found.map_err(|why| fail(why, &programs))?;
        let problems = judge(&expected, &found, native.window);
        if !problems.is_empty() {
            return Err(Failure { problems, programs });
        }
        count.add(Count {
            programs: 1,
            steps: expected.said.lines().count() as u64,
            done: expected.said.lines().filter(|line| line.ends_with("done")).count() as u64,
            changes: expected.changes.len() as u64,
        });
    }
    Ok(count)
}

/// The directory that programs run on without any product.
pub(crate) struct Native<'a> {
    setting: Setting<'a>,
    place: Place,
    pub(crate) tree: Scan,
    host: Scan,
    pub(crate) window: Window,
}

impl<'a> Native<'a> {
    pub(crate) fn new(plan: &Plan, setting: Setting<'a>) -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs() as i64;
        let place = place_of(plan, setting.user);
        let tree = scan(&place.project()).unwrap();
        Self { setting, place, host: tree.clone(), tree, window: (now - 1, FUTURE) }
    }

    /// Runs a program, and says what is to be seen of it everywhere.
    pub(crate) fn run(&mut self, text: &str) -> Result<Evidence, String> {
        let project: PathBuf = self.place.project();
        let Setting { tools, user, .. } = self.setting;
        let said = run_plainly(user, &project, &run_words(tools, text))?;
        remove_sockets(&project).map_err(|error| error.to_string())?;
        let tree = scan(&project).map_err(|error| error.to_string())?;
        let inside = run_plainly(user, &project, &list_words(tools))?;
        let changes = changes(&self.tree, &tree);
        self.tree = tree.clone();
        let inside = listing::parse(&inside).ok_or("the listing cannot be read")?;
        Ok(Evidence { said, changes, tree, inside, host: self.host.clone() })
    }
}

/// Runs a program in a workspace, and says what is seen of it.
pub(crate) fn witness(
    setting: Setting,
    product: &mut dyn Product,
    workspace: &str,
    text: &str,
) -> Result<Evidence, String> {
    let tools = setting.tools;
    let answer = product.exec(workspace, &run_words(tools, text))?;
    let tree = product.state(workspace)?;
    let listed = product.exec(workspace, &list_words(tools))?;
    if let Some(change) = listed.changes.first() {
        return Err(format!("to look changed something: {change}"));
    }
    let inside = listing::parse(&listed.stdout).ok_or("the listing cannot be read")?;
    let host = scan(&product.host()).map_err(|error| error.to_string())?;
    Ok(Evidence { said: answer.stdout, changes: answer.changes, tree, inside, host })
}

fn run_words<'a>(tools: &'a Tools, text: &'a str) -> [&'a str; 4] {
    [tools.program.to_str().unwrap(), "run", text, tools.mapper.to_str().unwrap()]
}

fn list_words(tools: &Tools) -> [&str; 2] {
    [tools.program.to_str().unwrap(), "list"]
}
