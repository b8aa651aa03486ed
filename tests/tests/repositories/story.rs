//! One story: three people, one repository, and the product between them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use offshoot_tests::product::with_json;
use offshoot_tests::rng::Rng;
use serde_json::Value;

use crate::world::{AUTHOR, Said, Side, World};

const AGENTS: [&str; 2] = ["ada", "bea"];
const HISTORY: &str = "git init -q .; echo one > a; seq 20 > b; mkdir d; echo c > d/c; git add -A
    git commit -qm first; echo more >> a; git commit -qam second; git branch old HEAD~1; git tag v0";

/// What went wrong, and what was done before.
#[derive(Debug)]
pub(crate) struct Failure {
    why: String,
    story: Vec<String>,
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(formatter, "{}\nafter:", self.why)?;
        self.story.iter().try_for_each(|line| writeln!(formatter, "  {line}"))
    }
}

struct Case {
    world: World,
    rng: Rng,
    /// The commits that a side reached when it was last looked at.
    reach: BTreeMap<Side, BTreeSet<String>>,
    /// Every commit that must be within reach.
    made: BTreeSet<String>,
    /// What each workspace did last that can be taken back without losing what it made: commits, pulls and merges.
    undoable: BTreeMap<&'static str, Vec<Done>>,
    story: Vec<String>,
    number: u64,
}

/// Something that the product did.
struct Done {
    /// It was not taken back.
    stands: bool,
    /// What the folder was before it and after it.
    folder: [String; 2],
}

/// Tells a story of some steps.
pub(crate) fn tell(seed: u64, steps: u64) -> Result<(), Failure> {
    let mut case = Case::new(seed)?;
    for _ in 0..steps {
        case.step()?;
    }
    Ok(())
}

/// The same, where a commit is lost between two steps.
pub(crate) fn tell_with_a_loss(seed: u64) -> Result<(), Failure> {
    let mut case = Case::new(seed)?;
    let script = "echo lost > lost; git add lost; git commit -qm lost";
    case.by_hand(Side::Workspace("ada"), script)?;
    case.world.ok(
        Side::Workspace("ada"),
        "git reset -q --hard HEAD~1; git reflog expire --expire=now --all",
    );
    case.by_product(&["pull", "-w", "ada"], "ada")
}

impl Case {
    fn new(seed: u64) -> Result<Self, Failure> {
        let world = World::new(HISTORY, &AGENTS);
        let mut case = Self {
            world,
            rng: Rng::new(seed),
            reach: BTreeMap::new(),
            made: BTreeSet::new(),
            undoable: BTreeMap::new(),
            story: Vec::new(),
            number: 0,
        };
        for side in [Side::Folder, Side::Workspace("ada"), Side::Workspace("bea")] {
            case.look(side)?;
        }
        case.made = case.reach.values().flatten().cloned().collect();
        Ok(case)
    }

    fn fail<T>(&self, why: impl Into<String>) -> Result<T, Failure> {
        Err(Failure { why: why.into(), story: self.story.clone() })
    }

    fn step(&mut self) -> Result<(), Failure> {
        let agent = AGENTS[self.rng.below(2) as usize];
        match self.rng.below(24) {
            0..=5 => {
                let script = self.work("person");
                self.by_hand(Side::Folder, &script)
            }
            6..=11 => {
                let script = self.work(agent);
                self.by_hand(Side::Workspace(agent), &script)
            }
            12 => self.commit(agent, false),
            13 | 14 => self.commit(agent, true),
            15 | 16 => self.by_product(&["pull", "-w", agent], agent),
            17 => self.revert("undo", agent),
            18 => self.revert("redo", agent),
            19 => self.broken(),
            20 | 21 => self.up_to_date(agent),
            22 => self.joined(agent),
            _ => {
                let other = if agent == "ada" { "bea" } else { "ada" };
                self.by_product(&["merge", other, "--into", agent], agent)
            }
        }
    }

    /// Something that somebody does with git.
    fn work(&mut self, who: &str) -> String {
        self.number += 1;
        let n = self.number;
        let branches =
            ["main", "old", "topic", "side/one", "offshoot/folder/main", "offshoot/ada/main"];
        let branch = self.rng.pick(&branches).copied().unwrap_or("main");
        let edit = match self.rng.below(4) {
            0 => format!("echo {who}{n} > {who}{}", self.rng.below(4)),
            1 => format!("echo {who}{n} > d/{who}"),
            2 => format!("rm -f {who}{}", self.rng.below(4)),
            _ => format!("printf '{who}{n}\\n' >> {who}.log"),
        };
        let commit = format!("git add -A; git commit -qm {who}{n}");
        match self.rng.below(27) {
            0..=4 => format!("{edit}; {commit}"),
            5 => format!("{edit}; {commit}; {}", left(who, n)),
            6 => edit,
            7 => format!("{edit}; git add -A"),
            8 => format!("{edit}; git add -A; git commit -q --amend --allow-empty -m amended{n}"),
            9 => format!("git branch topic; git branch side/one {branch}"),
            10 => format!("git branch -f topic {branch}"),
            11 => format!("git tag -f v{}", n % 3),
            12 => format!("git checkout -q {branch}"),
            13 => format!("{edit}; git checkout -q -b topic{n}; {commit}"),
            14 => format!("git checkout -q --detach; {edit}; {commit}"),
            15 => format!("{edit}; git stash push -q -u"),
            16 => "git stash pop -q || git checkout -q -f && git stash drop -q".to_owned(),
            17 => format!("git rebase -q {branch} || git rebase --abort"),
            18 => format!("git rebase -q {branch}"),
            19 => format!("git merge -q --no-edit {branch} || git merge --abort"),
            20 => format!("git merge -q --no-edit {branch}"),
            21 => "git rebase --abort; git merge --abort; git cherry-pick --abort; git reset -q --hard".to_owned(),
            22 => "git gc -q --prune=now".to_owned(),
            23 => "git pack-refs --all".to_owned(),
            25 => "git reflog expire --expire=now --all".to_owned(),
            24 => format!("git worktree add -q -b wt{n} tree{} || git worktree remove --force tree{0}", n % 2),
            _ => format!("git branch -D topic side/one; {edit}; {commit}"),
        }
    }

    /// Somebody works with git; what git makes them lose is theirs to lose.
    fn by_hand(&mut self, side: Side, script: &str) -> Result<(), Failure> {
        self.story.push(format!("{side:?}: {script}"));
        let said = self.world.sh(side, script);
        self.note(&said);
        if let Side::Workspace(agent) = side {
            self.undoable.insert(agent, Vec::new());
        }
        self.look(side)?;
        let new: Vec<String> = self.reach[&side].iter().cloned().collect();
        self.made.extend(new);
        let lost = self.out_of_reach();
        self.made.retain(|commit| !lost.contains(commit));
        Ok(())
    }

    /// The product does something to a workspace, and to the folder.
    fn by_product(&mut self, arguments: &[&str], agent: &'static str) -> Result<(), Failure> {
        self.story.push(format!("offshoot {}", arguments.join(" ")));
        let before = self.world.state(Side::Folder);
        let said = self.world.product(&with_json(arguments));
        self.note(&said);
        if !matches!(said.code, Some(0 | 4)) {
            return self.fail(format!("{arguments:?} failed: {said:#?}"));
        }
        let told: Value = serde_json::from_str(&said.out).unwrap_or_default();
        if told["result"]["operation"].is_string() {
            let folder = [before, self.world.state(Side::Folder)];
            let done = self.undoable.entry(agent).or_default();
            done.retain(|done| done.stands);
            done.push(Done { stands: true, folder });
        }
        if !said.is_well() && arguments[0] != "commit" {
            // Files that do not fit are decided somehow.
            self.world.product(&["resolve", "--all", "--ours", "-w", agent]);
            self.undoable.insert(agent, Vec::new());
        }
        self.look(Side::Folder)?;
        self.look(Side::Workspace(agent))?;
        if let Err(why) = self.world.status_is_true() {
            return self.fail(why);
        }
        let lost = self.out_of_reach();
        let named = self.named(&said.out, agent);
        if let Some(commit) = lost.iter().find(|commit| !named.contains(*commit)) {
            return self.fail(format!("{commit} is out of reach: {said:#?}"));
        }
        self.made.retain(|commit| !lost.contains(commit));
        Ok(())
    }

    /// A workspace breaks its repository and is committed: nothing of the folder's goes.
    fn broken(&mut self) -> Result<(), Failure> {
        let breaks = [
            "git reflog expire --expire=now --all",
            "rm -rf .git/logs",
            "rm -rf .git/refs",
            "rm -rf .git/refs/heads",
            "rm -f .git/packed-refs",
            "rm .git/HEAD",
            "echo 'ref: refs/heads/nowhere' > .git/refs/heads/dangling",
            "echo 'ref: refs/heads/b' > .git/refs/heads/a; echo 'ref: refs/heads/a' > .git/refs/heads/b",
        ];
        let script = self.rng.pick(&breaks).copied().unwrap_or("rm -rf .git/refs");
        self.story.push(format!("broken: {script}"));
        let state = "git for-each-ref; cat .git/HEAD; git ls-files -s; find .git/logs -type f | LC_ALL=C sort | xargs cat";
        let before = self.world.ok(Side::Folder, state);
        self.world.done(&["workspace", "create", "broken"]);
        self.world.ok(Side::Workspace("broken"), script);
        let said = self.world.product(&["commit", "-w", "broken"]);
        self.note(&said);
        self.world.done(&["workspace", "delete", "broken"]);
        if !said.is_well() {
            return self.fail(format!("a broken workspace cannot be committed: {said:#?}"));
        }
        let after = self.world.ok(Side::Folder, state);
        if before != after {
            return self.fail(format!("{before}became{after}by a broken repository: {said:#?}"));
        }
        self.look(Side::Folder)
    }

    /// Both sides commit; the agent's commits reach the folder beside the branch, are merged, taken apart, and merged again.
    fn joined(&mut self, agent: &'static str) -> Result<(), Failure> {
        self.number += 1;
        let commit = |who: &str, n: u64| {
            format!("echo {n} > {who}.both; git add {who}.both; git commit -qm {who}{n}")
        };
        self.by_hand(Side::Folder, &commit("person", self.number))?;
        self.by_hand(Side::Workspace(agent), &commit(agent, self.number))?;
        self.commit(agent, false)?;
        self.commit(agent, true)?;
        self.revert("undo", agent)?;
        self.revert("redo", agent)
    }

    fn commit(&mut self, agent: &'static str, git: bool) -> Result<(), Failure> {
        let arguments = ["commit", "-w", agent];
        let with_git = ["commit", "-w", agent, "--git", "-m", "by offshoot", "--author", AUTHOR];
        self.by_product(if git { &with_git } else { &arguments }, agent)?;
        // Often at once, while nobody did anything else.
        let times = self.rng.below(6) as usize;
        ["undo", "redo", "undo"].iter().take(times).try_for_each(|verb| self.revert(verb, agent))
    }

    /// An agent that has what the folder has commits something, leaves something else, and all of it is committed.
    fn up_to_date(&mut self, agent: &'static str) -> Result<(), Failure> {
        self.by_product(&["pull", "-w", agent], agent)?;
        self.number += 1;
        let n = self.number;
        let commit =
            format!("echo {n} > {agent}.own; git add {agent}.own; git commit -qm {agent}{n}");
        self.by_hand(Side::Workspace(agent), &format!("{commit}; {}", left(agent, n)))?;
        self.commit(agent, true)
    }

    /// Takes back, or brings back, what the product did, and never what an agent made.
    fn revert(&mut self, verb: &str, agent: &'static str) -> Result<(), Failure> {
        let done = self.undoable.entry(agent).or_default();
        let wanted = verb == "undo";
        let Some(at) = (match wanted {
            true => done.iter().rposition(|done| done.stands),
            false => done.iter().position(|done| !done.stands),
        }) else {
            return Ok(());
        };
        self.story.push(format!("offshoot {verb} -w {agent}"));
        let [before, after] = done[at].folder.clone();
        let (left, expected) = if wanted { (after, before) } else { (before, after) };
        let is_as_left = self.world.state(Side::Folder) == left;
        let said = self.world.product(&[verb, "-w", agent]);
        self.note(&said);
        if said.is_well() {
            self.undoable.entry(agent).or_default()[at].stands = !wanted;
        }
        // Where the workspace did something else last, that is taken back.
        let is_commit = said.is_well() && said.out.contains("done: commit ");
        let now = self.world.state(Side::Folder);
        if is_commit && is_as_left && now != expected {
            return self.fail(format!("{verb} made {now}and not {expected}of {left}: {said:#?}"));
        }
        if said.err.contains("/.git") {
            return self.fail(format!("{verb} is refused because of git: {said:#?}"));
        }
        self.look(Side::Folder)?;
        self.look(Side::Workspace(agent))?;
        let new: Vec<String> = self.reach.values().flatten().cloned().collect();
        self.made.extend(new);
        if let Err(why) = self.world.status_is_true() {
            return self.fail(why);
        }
        let lost = self.out_of_reach();
        let named = self.named(&said.out, agent);
        if let Some(commit) = lost.iter().find(|commit| !named.contains(*commit)) {
            return self.fail(format!("{commit} is out of reach: {said:#?}"));
        }
        self.made.retain(|commit| !lost.contains(commit));
        Ok(())
    }

    fn note(&mut self, said: &Said) {
        let told: Value = serde_json::from_str(&said.out).unwrap_or_default();
        let notes = told["result"]["repositories"].as_array().cloned().unwrap_or_default();
        self.story.extend(notes.iter().map(|note| format!("    {note}")));
        let lines = said.out.lines().chain(said.err.lines()).filter(|line| {
            let said = line.starts_with("git:") || line.contains("rror") || line.contains("undone");
            said && !line.starts_with('{')
        });
        self.story.extend(lines.take(4).map(|line| format!("    {line}")));
    }

    /// Looks at a side again, which must be whole.
    fn look(&mut self, side: Side) -> Result<(), Failure> {
        if let Some(damage) = self.world.damage(side) {
            return self.fail(damage);
        }
        match self.world.reachable(side) {
            Ok(reach) => self.reach.insert(side, reach),
            Err(why) => return self.fail(why),
        };
        Ok(())
    }

    /// The commits that a text names, and what they came from.
    fn named(&self, text: &str, agent: &'static str) -> BTreeSet<String> {
        let is_id = |word: &&str| {
            (12..=40).contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_hexdigit())
        };
        let words = text.split(|c: char| !c.is_ascii_alphanumeric()).filter(is_id);
        let ids: BTreeSet<&str> = words.collect();
        let list = ids.into_iter().map(|id| format!("git rev-list {id} 2> /dev/null || true"));
        let script = list.collect::<Vec<_>>().join("\n");
        let sides = [Side::Folder, Side::Workspace(agent)];
        let told = sides.map(|side| self.world.sh(side, &script).out);
        told.iter().flat_map(|out| out.lines()).map(str::to_owned).collect()
    }

    fn out_of_reach(&self) -> BTreeSet<String> {
        let within = |commit: &&String| self.reach.values().any(|reach| reach.contains(*commit));
        self.made.iter().filter(|commit| !within(commit)).cloned().collect()
    }
}

/// Leaves something that is not committed.
fn left(who: &str, n: u64) -> String {
    format!("echo {who}{n} > {who}.left")
}
