//! What merges start from is there after a collection, whoever is merged with whom.

use std::time::Duration;

use offshoot_store::Id;
use offshoot_tests::rng::{Rng, SEED_VARIABLE, seed_from_env_or};
use offshoot_tests::tier::cases;
use offshoot_tree::RootId;
use offshoot_tree::merge::Base;
use offshoot_vault::{
    COMMIT, GcOptions, NewSnapshot, UNDO, Vault, WorkspaceRecord, WorkspaceState,
};

use crate::support::{Scratch, actor, edit, empty_vault, file, path};

const LITTLE: GcOptions = GcOptions {
    keep_operations: 0,
    keep_age: Duration::ZERO,
    max_size: None,
    pack: false,
    dry_run: false,
};

/// Workspaces that write, take in each other's work and that of the main line, bring theirs there and have it undone.
struct Case {
    vault: Vault,
    rng: Rng,
    ids: Vec<Id>,
    /// What the last commit was, while nothing else happened to the main line.
    committed: Option<Id>,
    /// Whether commits are undone.
    undoes: bool,
    files: u64,
    _scratch: Scratch,
}

impl Case {
    fn new(seed: u64) -> Self {
        let scratch = Scratch::new();
        let vault = empty_vault(&scratch);
        let first = vault.head().unwrap().id;
        let made = vault.transact("fork", &actor(), |tx| {
            let mut ids = Vec::new();
            for number in 0..4 {
                let (name, created_ms) = (format!("w{number}"), tx.time_ms());
                let state = WorkspaceState {
                    head: first,
                    base: first,
                    parent: None,
                    created_ms,
                    expires_ms: None,
                };
                let workspace = WorkspaceRecord { id: tx.new_id(), name, state };
                ids.push(workspace.id);
                tx.set_workspace(&workspace)?;
            }
            Ok(ids)
        });
        let ids = made.unwrap().value;
        let rng = Rng::new(seed);
        Self {
            vault,
            rng,
            ids,
            committed: None,
            undoes: seed.is_multiple_of(2),
            files: 0,
            _scratch: scratch,
        }
    }

    fn tip(&self, workspace: Id) -> Id {
        self.vault.workspace(&workspace).unwrap().unwrap().state.head
    }

    /// A state that nothing else has.
    fn fresh(&mut self, from: Id) -> RootId {
        self.files += 1;
        let entry = file(&self.vault, &self.files.to_le_bytes());
        let root = self.vault.snapshot(&from).unwrap().root;
        edit(&self.vault, &root, |editor| editor.put(&path("file"), entry).unwrap())
    }

    fn add(&mut self, parents: Vec<Id>, root: RootId, reason: &str, to: Option<Id>) -> Id {
        let top = self.vault.objects().unwrap().root(&root).unwrap();
        let content = top.directory().unwrap().content;
        let mut workspace = to.map(|id| self.vault.workspace(&id).unwrap().unwrap());
        let added = self.vault.transact("write", &actor(), |tx| {
            let reason = reason.to_owned();
            let new = NewSnapshot { root, content, parents, reason, message: None };
            let snapshot = tx.add_snapshot(new)?;
            match &mut workspace {
                Some(workspace) => {
                    workspace.state.head = snapshot.id;
                    tx.set_workspace(workspace)?;
                }
                None => tx.set_head(snapshot.id)?,
            }
            Ok(snapshot.id)
        });
        added.unwrap().value
    }

    fn step(&mut self) {
        let one = *self.rng.pick(&self.ids).unwrap();
        let other = *self.rng.pick(&self.ids).unwrap();
        let (tip, head) = (self.tip(one), self.vault.head().unwrap());
        match self.rng.below(8) {
            0 => {
                let root = self.fresh(head.id);
                self.committed = Some(self.add(vec![head.id, tip], root, COMMIT, None));
            }
            1 => {
                let root = self.fresh(tip);
                self.add(vec![tip, head.id], root, "pull", Some(one));
            }
            2 if self.undoes => {
                if let Some(commit) = self.committed.take() {
                    let root = self.fresh(commit);
                    self.add(vec![commit], root, UNDO, None);
                }
            }
            3 if one != other => {
                let (root, taken) = (self.fresh(tip), self.tip(other));
                self.add(vec![tip, taken], root, "merge", Some(one));
            }
            _ => {
                let root = self.fresh(tip);
                self.add(vec![tip], root, "write", Some(one));
            }
        }
    }

    /// What is given up cannot be undone any more.
    fn collect(&mut self) {
        let keep_operations = self.rng.below(2) * 100;
        self.vault.collect(&GcOptions { keep_operations, ..LITTLE }, &actor()).unwrap();
        if keep_operations == 0 {
            self.committed = None;
        }
    }

    /// Whether what any two start from is there; where nothing was undone, that is all that they have in common.
    fn compare(&self) -> Result<(), String> {
        let mut tips: Vec<Id> = self.ids.iter().map(|id| self.tip(*id)).collect();
        tips.push(self.vault.head().unwrap().id);
        for (at, one) in tips.iter().enumerate() {
            for other in &tips[..at] {
                let base = self.vault.merge_base(&[*one, *other]).unwrap();
                let roots = roots_of(&base);
                let objects = self.vault.objects().unwrap();
                if let Some(root) = roots.iter().find(|root| !objects.has_root(root).unwrap()) {
                    return Err(format!("{one} and {other} start from {root}, which is gone"));
                }
                let common = self.vault.common_ancestors(&[*one, *other]).unwrap();
                let states = common.iter().map(|id| self.vault.snapshot(id).unwrap().root);
                if !self.undoes && states.ne(roots) {
                    return Err(format!("{one} and {other} do not start from all of {common:?}"));
                }
            }
        }
        Ok(())
    }
}

fn roots_of(base: &Base) -> Vec<RootId> {
    match base {
        Base::Nothing => Vec::new(),
        Base::Root(root) => vec![*root],
        Base::Several { roots, .. } => roots.clone(),
    }
}

#[test]
fn what_merges_start_from_stays() {
    let first = seed_from_env_or(0);
    for seed in first..first + cases(3, 1000) {
        let mut case = Case::new(seed);
        for step in 0..50 {
            case.step();
            if case.rng.one_in(6) {
                case.collect();
            }
            if let Err(why) = case.compare() {
                panic!("{SEED_VARIABLE}={seed}, step {step}: {why}");
            }
        }
    }
}
