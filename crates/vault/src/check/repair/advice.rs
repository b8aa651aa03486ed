//! What only a person can decide: refs that lead to nothing are not changed by a repair.

use std::collections::BTreeMap;

use offshoot_store::{Id, RefChange, RefKey, RefRow};

use crate::error::{Result, VaultError};
use crate::operation::Scope;
use crate::refs::snapshots_of;
use crate::vault::Vault;

/// The log is followed back so far.
const LONGEST_WAY: u32 = 10_000;

impl Vault {
    /// Names the refs whose files are not there, and the last operation after which all were.
    pub(super) fn advice(&self) -> Result<Vec<String>> {
        let mut state: BTreeMap<RefKey, RefRow> =
            self.read(|reader| Ok(reader.all_refs()?.into_iter().collect()))?;
        let broken: Vec<String> = state
            .iter()
            .filter(|(key, row)| !self.is_whole(key, row))
            .map(|(key, row)| format!("{} {}", key.kind, row.name.as_deref().unwrap_or("")))
            .collect();
        if broken.is_empty() {
            return Ok(Vec::new());
        }
        let mut advice: Vec<String> = broken
            .iter()
            .map(|name| format!("{} points at files that are not there", name.trim_end()))
            .collect();
        advice.push(match self.last_good(&mut state)? {
            Some(id) => {
                let short = id.short();
                format!("`offshoot op restore {short} --vault-wide` goes back to when all were")
            }
            None => "no operation of the log leads back to when all were".to_owned(),
        });
        Ok(advice)
    }

    /// The newest operation after which every ref led to files that are there now.
    fn last_good(&self, state: &mut BTreeMap<RefKey, RefRow>) -> Result<Option<Id>> {
        for operation in self.operations(Scope::Vault, None, LONGEST_WAY)? {
            if state.iter().all(|(key, row)| self.is_whole(key, row)) {
                return Ok(Some(operation.id));
            }
            for RefChange { key, before, .. } in operation.changes {
                match before {
                    Some(row) => drop(state.insert(key, row)),
                    None => drop(state.remove(&key)),
                }
            }
        }
        Ok(None)
    }

    fn is_whole(&self, key: &RefKey, row: &RefRow) -> bool {
        let there = |id: &Id| {
            let snapshot = self.snapshot(id)?;
            self.objects()?.root(&snapshot.root)?;
            Ok::<(), VaultError>(())
        };
        snapshots_of(key, row.clone()).is_ok_and(|ids| ids.iter().all(|id| there(id).is_ok()))
    }
}
