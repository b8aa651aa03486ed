//! Histories: workspaces are forked, merged, committed, undone and redone in any order. After each step every command says the same
//! about what would be committed, a commit does exactly that, and what was undone comes back only by whoever has it otherwise.

#[path = "history/observe.rs"]
mod observe;

use std::collections::{BTreeMap, BTreeSet};

use offshoot_tests::product::{document_of, with_json};
use offshoot_tests::rng::Rng;
use serde_json::Value;

use crate::case::Failure;
use observe::{FILES, Files, Place, contents, folder, paths};

/// At most so many workspaces at a time.
const MOST: usize = 4;
/// The exit code of a conflict.
const CONFLICT: i32 = 4;

/// How a history is told.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    pub(crate) seed: u64,
    pub(crate) steps: u64,
    pub(crate) fault: Fault,
}

/// A mistake that must be found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    None,
    /// Nobody counts as having anything but from head.
    NobodyOwns,
    /// `status` leaves a path out.
    Unlisted,
}

/// How much was done.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Count {
    pub(crate) commits: u64,
    pub(crate) conflicts: u64,
    pub(crate) undone: u64,
    pub(crate) redone: u64,
    pub(crate) forks: u64,
    pub(crate) merges: u64,
}

/// What somebody made of a file: its content, or nothing where it was deleted.
type Version = (&'static str, Option<String>);

#[derive(Clone, Debug, Default)]
struct Member {
    /// What it has otherwise than from head: made by itself, or by whom it was forked from or merged with.
    own: BTreeSet<Version>,
    checkpoints: BTreeMap<String, BTreeSet<Version>>,
    /// A commit is the last that was done to it.
    committed: bool,
}

/// What a commit changed in the folder: before and after.
type Changed = BTreeMap<&'static str, (Option<String>, Option<String>)>;

struct History {
    place: Place,
    rng: Rng,
    plan: Plan,
    members: BTreeMap<String, Member>,
    commits: BTreeMap<String, Changed>,
    /// Somebody changed the folder since it was read.
    unread: bool,
    made: u64,
    count: Count,
    story: Vec<String>,
}

/// Tells a history.
pub(crate) fn run(plan: Plan) -> Result<Count, Failure> {
    let place = Place::new();
    for file in FILES {
        place.write(file, format!("{file} at first\n"));
    }
    place.ok(["init"]);
    let mut history = History {
        place,
        rng: Rng::new(plan.seed),
        plan,
        members: BTreeMap::new(),
        commits: BTreeMap::new(),
        unread: false,
        made: 0,
        count: Count::default(),
        story: Vec::new(),
    };
    match history.tell() {
        Ok(()) => Ok(history.count),
        Err(why) => Err(Failure { why, story: history.story }),
    }
}

impl History {
    fn tell(&mut self) -> Result<(), String> {
        for _ in 0..2 {
            self.fork_from("head", BTreeSet::new())?;
        }
        for _ in 0..self.plan.steps {
            let who = self.anybody();
            let kind = self.rng.below(24);
            if !matches!(kind, 4..17) {
                self.member(&who).committed = false;
            }
            match kind {
                0..4 => self.edit(&who)?,
                4..10 => {
                    if !self.rng.one_in(3) {
                        self.edit(&who)?;
                    }
                    self.commit(&who)?;
                }
                10..15 => {
                    let who = self.last_to_commit().unwrap_or(who.clone());
                    self.undo(&who)?;
                }
                15..17 => self.redo(&who)?,
                17 | 18 => self.pull(&who)?,
                19 => self.merge(&who)?,
                20 => self.fork()?,
                21 => self.checkpoint(&who)?,
                22 => self.restore(&who)?,
                _ => self.person_edits()?,
            }
            let other = self.anybody();
            for who in BTreeSet::from([who, other]) {
                if self.members.contains_key(&who) && !self.unread {
                    self.agree(&who)?;
                }
            }
        }
        self.run(&["vault", "check"]).map(drop)
    }

    fn anybody(&mut self) -> String {
        let names: Vec<String> = self.members.keys().cloned().collect();
        self.rng.pick(&names).cloned().expect("there is always somebody")
    }

    /// Somebody whose commit an undo would take back; sometimes nobody, so that other things are undone, too.
    fn last_to_commit(&mut self) -> Option<String> {
        let members = self.members.iter().filter(|(_, member)| member.committed);
        let names: Vec<String> = members.map(|(name, _)| name.clone()).collect();
        if self.rng.one_in(4) { None } else { self.rng.pick(&names).cloned() }
    }

    fn member(&mut self, who: &str) -> &mut Member {
        self.members.get_mut(who).expect("it is there")
    }

    fn file(&mut self) -> &'static str {
        self.rng.pick(&FILES).expect("there are files")
    }

    /// What nobody ever wrote before.
    fn something(&mut self, who: &str) -> String {
        self.made += 1;
        format!("{who} {} {:x}\n", self.made, self.rng.next_u64())
    }

    /// Runs a command for programs; gives its exit code and document.
    fn run(&mut self, words: &[&str]) -> Result<(i32, Value), String> {
        self.run_with(words, b"")
    }

    fn run_with(&mut self, words: &[&str], input: &[u8]) -> Result<(i32, Value), String> {
        let output = self.place.run_with(with_json(words), input);
        let code = output.status.code().ok_or("the command was killed")?;
        let document = document_of(&output);
        if ![0, CONFLICT].contains(&code) {
            return Err(format!("{words:?} ended with {code}: {document}"));
        }
        Ok((code, document))
    }

    fn edit(&mut self, who: &str) -> Result<(), String> {
        let file = self.file();
        let has = contents(&self.place, &["-w", who]).contains_key(file);
        let version = match has && self.rng.one_in(4) {
            true => None,
            false => Some(self.something(who)),
        };
        self.story.push(format!("{who}: {file} = {version:?}"));
        match &version {
            None => self.run(&["fs", "rm", file, "-w", who])?,
            Some(text) => self.run_with(&["fs", "write", file, "-w", who], text.as_bytes())?,
        };
        self.member(who).own.insert((file, version));
        Ok(())
    }

    fn person_edits(&mut self) -> Result<(), String> {
        let file = self.file();
        let text = self.something("person");
        self.story.push(format!("the person: {file} = {text:?}"));
        self.place.write(file, text);
        self.unread = true;
        if self.rng.one_in(2) {
            self.story.push("the folder is read".to_owned());
            self.run(&["pull", "--head"])?;
            self.unread = false;
        }
        Ok(())
    }

    fn commit(&mut self, who: &str) -> Result<(), String> {
        let file = self.file();
        let mut words = vec!["commit", "-w", who];
        if self.rng.one_in(4) {
            words.extend(["--only", file]);
        }
        self.story.push(words.join(" "));
        let (dry_code, dry) = self.run(&[&words[..], &["--dry-run"]].concat())?;
        let before = folder(&self.place);
        let (code, done) = self.run(&words)?;
        let after = folder(&self.place);
        self.unread = false;
        same("the exit codes of a dry run and a commit", &dry_code, &code)?;
        same("their kinds", &dry["kind"], &done["kind"])?;
        let changed = changed(&before, &after);
        if code == CONFLICT {
            self.count.conflicts += 1;
            return same("a commit with conflicts", &changed, &Changed::new());
        }
        self.count.commits += 1;
        let expected = paths(&dry["result"]["changes"]);
        same("what a dry run says", &expected, &kinds(&changed))?;
        same("what a commit says", &paths(&done["result"]["changes"]), &expected)?;
        if let Some(operation) = done["result"]["operation"].as_str() {
            self.commits.insert(operation.to_owned(), changed.clone());
            self.member(who).committed = true;
        }
        self.owned(who, &changed)?;
        self.decide(who)
    }

    /// Whatever is committed is somebody's who brings it, and not only passed on from head.
    fn owned(&self, who: &str, changed: &Changed) -> Result<(), String> {
        let own = &self.members[who].own;
        for (file, (_, after)) in changed {
            let owns =
                self.plan.fault != Fault::NobodyOwns && own.contains(&(*file, after.clone()));
            if !owns {
                return Err(format!(
                    "{who} brought {file} = {after:?}, and never had it but from head"
                ));
            }
        }
        Ok(())
    }

    fn undo(&mut self, who: &str) -> Result<(), String> {
        let Some(changed) = self.revert(who, "undo")? else { return Ok(()) };
        self.count.undone += 1;
        // The workspace has its work again, and says so.
        let (_, status) = self.run(&["status", "-w", who])?;
        given_back(who, &changed, &paths(&status["result"]["changes"]))
    }

    fn redo(&mut self, who: &str) -> Result<(), String> {
        self.count.redone += u64::from(self.revert(who, "redo")?.is_some());
        Ok(())
    }

    /// Undoes or redoes; gives what the commit had changed, if it was one.
    fn revert(&mut self, who: &str, verb: &str) -> Result<Option<Changed>, String> {
        self.story.push(format!("{verb} -w {who}"));
        let before = folder(&self.place);
        let (code, document) = self.run(&[verb, "-w", who])?;
        if let Some(member) = self.members.get_mut(who) {
            member.committed = false;
        }
        let happened = changed(&before, &folder(&self.place));
        let target = document.pointer("/result/target/id").and_then(Value::as_str);
        let commit = target.and_then(|target| self.commits.get(target)).cloned();
        let deleted = (verb == "undo").then(|| document.pointer("/result/target/kind"));
        if deleted.flatten().is_some_and(|kind| kind == "workspace create") {
            self.members.remove(who);
            self.keep_somebody()?;
        }
        let Some(commit) = commit.filter(|_| code == 0) else {
            same("a folder that no commit was taken back from", &happened, &Changed::new())?;
            return Ok(None);
        };
        self.unread = false;
        let expected = match verb {
            "undo" => commit.iter().map(|(file, (b, a))| (*file, (a.clone(), b.clone()))).collect(),
            _ => commit.clone(),
        };
        same(&format!("what {verb} does to the folder"), &happened, &expected)?;
        Ok(Some(commit))
    }

    fn pull(&mut self, who: &str) -> Result<(), String> {
        self.story.push(format!("pull -w {who}"));
        let before = folder(&self.place);
        self.run(&["pull", "-w", who])?;
        self.unread = false;
        same("a folder that was pulled", &changed(&before, &folder(&self.place)), &Changed::new())?;
        self.decide(who)
    }

    fn merge(&mut self, who: &str) -> Result<(), String> {
        let other = self.anybody();
        if other == who {
            return Ok(());
        }
        self.story.push(format!("merge {other} --into {who}"));
        self.run(&["merge", &other, "--into", who])?;
        self.count.merges += 1;
        let theirs = self.members[&other].own.clone();
        self.member(who).own.extend(theirs);
        self.decide(who)
    }

    /// Decides all conflicts for one side.
    fn decide(&mut self, who: &str) -> Result<(), String> {
        let (_, open) = self.run(&["conflicts", "-w", who])?;
        if paths(&open["result"]["conflicts"]).is_empty() {
            return Ok(());
        }
        let side = if self.rng.one_in(2) { "--ours" } else { "--theirs" };
        self.story.push(format!("resolve --all {side} -w {who}"));
        self.run(&["resolve", "--all", side, "-w", who])?;
        // Whatever was decided for is what this workspace decided for.
        for (file, text) in contents(&self.place, &["-w", who]) {
            self.member(who).own.insert((file, Some(text)));
        }
        let now = contents(&self.place, &["-w", who]);
        let gone = FILES.iter().filter(|file| !now.contains_key(**file));
        let gone: Vec<Version> = gone.map(|file| (*file, None)).collect();
        self.member(who).own.extend(gone);
        Ok(())
    }

    fn fork(&mut self) -> Result<(), String> {
        if self.members.len() >= MOST {
            let who = self.anybody();
            self.story.push(format!("workspace delete {who}"));
            self.run(&["workspace", "delete", &who])?;
            self.members.remove(&who);
            self.keep_somebody()?;
        }
        let parent = self.anybody();
        let Member { own, mut checkpoints, .. } = self.members[&parent].clone();
        // One may have been undone with the operation that made it.
        checkpoints.retain(|name, _| {
            self.place.run(["checkpoint", "show", name, "-w", &parent]).status.success()
        });
        match (self.rng.below(3), checkpoints.into_iter().next_back()) {
            (0, _) => self.fork_from("head", BTreeSet::new()),
            (1, Some((name, own))) => self.fork_from(&format!("{parent}@{name}"), own),
            _ => self.fork_from(&parent, own),
        }
    }

    fn fork_from(&mut self, from: &str, own: BTreeSet<Version>) -> Result<(), String> {
        self.made += 1;
        let name = format!("w{}", self.made);
        self.story.push(format!("workspace create {name} --from {from}"));
        self.run(&["workspace", "create", &name, "--from", from])?;
        self.count.forks += 1;
        self.members.insert(name, Member { own, ..Member::default() });
        Ok(())
    }

    fn keep_somebody(&mut self) -> Result<(), String> {
        match self.members.is_empty() {
            true => self.fork_from("head", BTreeSet::new()),
            false => Ok(()),
        }
    }

    fn checkpoint(&mut self, who: &str) -> Result<(), String> {
        self.made += 1;
        let name = format!("c{}", self.made);
        self.story.push(format!("checkpoint create {name} -w {who}"));
        self.run(&["checkpoint", "create", &name, "-w", who])?;
        let own = self.members[who].own.clone();
        self.member(who).checkpoints.insert(name, own);
        Ok(())
    }

    fn restore(&mut self, who: &str) -> Result<(), String> {
        let names: Vec<String> = self.members[who].checkpoints.keys().cloned().collect();
        let Some(name) = self.rng.pick(&names).cloned() else { return Ok(()) };
        self.story.push(format!("checkpoint restore {name} -w {who}"));
        // It may have been undone with the operation that made it.
        let output = self.place.run(["checkpoint", "restore", &name, "-w", who]);
        if !output.status.success() {
            self.member(who).checkpoints.remove(&name);
        }
        Ok(())
    }

    /// Every command says the same about what a workspace would commit.
    fn agree(&mut self, who: &str) -> Result<(), String> {
        let (_, status) = self.run(&["status", "-w", who])?;
        let (_, review) = self.run(&["review", "--list", "-w", who])?;
        let (_, dry) = self.run(&["commit", "--dry-run", "-w", who])?;
        if dry["kind"] == "error" {
            // An undo brought undecided conflicts back.
            let refused = status["result"]["refused"].clone();
            return same("why a commit is refused", &refused, &dry["error"]["message"]);
        }
        let mut listed = paths(&status["result"]["changes"]);
        if self.plan.fault == Fault::Unlisted {
            listed.pop_first();
        }
        let told = |what: &str| format!("{what} of {who}");
        same(&told("dry run and status"), &paths(&dry["result"]["changes"]), &listed)?;
        same(&told("review and status"), &paths(&review["result"]["items"]), &listed)?;
        let clashes = paths(&status["result"]["clashes"]);
        same(&told("conflicts"), &paths(&dry["result"]["conflicts"]), &clashes)
    }
}

/// How two states of the folder differ.
fn changed(before: &Files, after: &Files) -> Changed {
    let mut changed = Changed::new();
    for file in FILES {
        let (before, after) = (before.get(file).cloned(), after.get(file).cloned());
        if before != after {
            changed.insert(file, (before, after));
        }
    }
    changed
}

/// The same in the words of documents.
fn kinds(changed: &Changed) -> BTreeMap<String, String> {
    let kind = |(file, sides): (&&str, &(Option<String>, Option<String>))| {
        let kind = match sides {
            (None, _) => "added",
            (_, None) => "deleted",
            _ => "modified",
        };
        (format!("/{file}"), kind.to_owned())
    };
    changed.iter().map(kind).collect()
}

fn given_back(
    who: &str,
    changed: &Changed,
    listed: &BTreeMap<String, String>,
) -> Result<(), String> {
    let lost: Vec<&&str> =
        changed.keys().filter(|file| !listed.contains_key(&format!("/{file}"))).collect();
    match lost.is_empty() {
        true => Ok(()),
        false => Err(format!("{who} does not have what was undone: {lost:?}, only {listed:?}")),
    }
}

fn same<T: PartialEq + std::fmt::Debug>(what: &str, one: &T, other: &T) -> Result<(), String> {
    if one == other { Ok(()) } else { Err(format!("{what} differ: {one:?} and {other:?}")) }
}
