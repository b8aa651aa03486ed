//! What becomes of one file: planned first, so that it can be shown, and then done.

use std::fs;
use std::path::{Path, PathBuf};

use offshoot_engine::config_file;
use offshoot_protocol::{
    ExitCode, IntegratedAgent, IntegratedFileDoc, IntegrationPart, IntegrationState, Text,
};
use serde_json::Value;

use super::agents::{Entry, Part};
use super::edit::{Insertion, Piece, difference, put_in, taken_out};
use super::json_text::{is_empty_object, means_the_same};
use super::record::{Record, Records};
use crate::error::{CliError, Result};
use crate::render::host_path;

/// What is to be done to one file.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) part: IntegrationPart,
    pub(super) path: PathBuf,
    pub(super) state: IntegrationState,
    /// It is the whole file, not an entry in it.
    pub(super) is_file: bool,
    before: Option<String>,
    /// None where the file goes.
    after: Option<String>,
    /// What is noted of it afterwards.
    record: Option<Record>,
    /// Folders that go if they are empty, outermost first.
    folders: Vec<PathBuf>,
}

impl Step {
    pub(super) fn changes(&self) -> bool {
        self.before != self.after
    }

    /// What is written, for people: the file, and what differs in it.
    pub(super) fn diff(&self) -> String {
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        if self.changes() {
            difference(&text(&self.before), &text(&self.after))
        } else {
            String::new()
        }
    }

    pub(super) fn verb(&self) -> &'static str {
        match (&self.before, &self.after) {
            (None, Some(_)) => "new",
            (Some(_), None) => "deleted",
            _ => "changed",
        }
    }

    pub(super) fn document(&self) -> IntegratedFileDoc {
        IntegratedFileDoc {
            part: self.part,
            path: Text::new(self.path.as_os_str().as_encoded_bytes()),
            state: self.state,
            changed: self.changes(),
            diff: self.diff(),
        }
    }

    /// What takes it back, to what was recorded before.
    fn reversed(&self, record: Option<Record>) -> Self {
        let made = self.record.iter().filter(|_| self.before.is_none());
        Self {
            part: self.part,
            path: self.path.clone(),
            state: self.state,
            is_file: self.is_file,
            before: self.after.clone(),
            after: self.before.clone(),
            record,
            folders: made.flat_map(|record| record.folders.clone()).collect(),
        }
    }

    /// Does it, unless somebody changed the file since it was planned.
    fn carry_out(&self, records: &mut Records) -> Result<()> {
        if self.changes() && read(&self.path)? != self.before {
            let message = format!("{} was changed just now", host_path(&self.path));
            return Err(CliError::new(ExitCode::Conflict, message).hint("try again"));
        }
        let failed = |error: std::io::Error| {
            let message = format!("cannot write {}: {error}", host_path(&self.path));
            CliError::new(ExitCode::Storage, message)
        };
        // Noted before it is written: what is there and not noted could not be taken back exactly.
        if self.record.is_some() && records.of(&self.path) != self.record.as_ref() {
            records.set(&self.path, self.record.clone())?;
        }
        match &self.after {
            _ if !self.changes() => {}
            Some(after) => config_file::replace(&self.path, after).map_err(failed)?,
            None => {
                fs::remove_file(&self.path).map_err(failed)?;
                // A folder that somebody put something into stays.
                self.folders
                    .iter()
                    .rev()
                    .take_while(|folder| fs::remove_dir(folder).is_ok())
                    .count();
            }
        }
        if self.record.is_none() && records.of(&self.path).is_some() {
            records.set(&self.path, None)?;
        }
        Ok(())
    }
}

/// Does everything or nothing.
pub(super) fn carry_out(
    agent: IntegratedAgent,
    steps: &[Step],
    records: &mut Records,
) -> Result<()> {
    let before: Vec<_> = steps.iter().map(|step| records.of(&step.path).cloned()).collect();
    for (at, step) in steps.iter().enumerate() {
        let Err(error) = step.carry_out(records) else { continue };
        let mut done = steps[..at].iter().zip(&before).rev();
        let taken_back = done
            .try_for_each(|(step, record)| step.reversed(record.clone()).carry_out(records))
            .and_then(|()| records.set(&step.path, before[at].clone()));
        return Err(match taken_back {
            Ok(()) => error.hint("nothing was changed; try again when it can be written"),
            Err(_) => error.hint(format!(
                "`offshoot integrate {agent} --remove` takes back what was written before"
            )),
        });
    }
    Ok(())
}

/// Whether the part is in its file.
pub(super) fn state(part: &Part) -> Result<IntegrationState> {
    let text = read(&part.path)?;
    state_in(part, text.as_deref()).map_err(|what| unusable(&part.path, &what))
}

/// Plans to put the part in.
pub(super) fn add(part: &Part, records: &Records) -> Result<Step> {
    let before = read(&part.path)?;
    let wrong = |what: String| unusable(&part.path, &what);
    let state = state_in(part, before.as_deref()).map_err(wrong)?;
    let recorded = records.of(&part.path);
    let is_file = matches!(part.entry, Entry::File(_));
    let text = match (state, recorded) {
        (IntegrationState::Absent, _) => before.clone().unwrap_or_default(),
        // What an earlier version put there, or one at another place. What somebody changed since is theirs.
        (IntegrationState::Other, Some(record))
            if is_as_recorded(part, text_of(&before), record) =>
        {
            let out = remove(part, records)?;
            if out.state != IntegrationState::Absent {
                return Ok(Step { after: out.before.clone(), record: recorded.cloned(), ..out });
            }
            out.after.unwrap_or_default()
        }
        _ => {
            let (after, record) = (before.clone(), recorded.cloned());
            let (path, part, folders) = (part.path.clone(), part.part, Vec::new());
            return Ok(Step { part, path, state, is_file, before, after, record, folders });
        }
    };
    let insertion = match &part.entry {
        Entry::Json(entry) => entry.insertion(&text).map_err(wrong)?,
        Entry::Toml(entry) => entry.insertion(&text).map_err(wrong)?,
        Entry::Keys(entry) => entry.insertion(&text).map_err(wrong)?,
        Entry::File(whole) => {
            let pieces = vec![Piece { at: 0, text: whole.clone() }];
            Insertion { pieces, made: 0 }
        }
    };
    let (after, pieces) = put_in(&text, &insertion.pieces);
    let state = state_in(part, Some(&after)).map_err(wrong)?;
    let missing = part.path.ancestors().skip(1).take_while(|folder| !folder.exists());
    let mut folders: Vec<PathBuf> = missing.map(Path::to_owned).collect();
    folders.reverse();
    let earlier = recorded.filter(|_| before.is_some());
    let record = Record {
        path: part.path.clone(),
        existed: earlier.map_or(before.is_some(), |earlier| earlier.existed),
        folders: earlier.map_or(folders, |earlier| earlier.folders.clone()),
        made: insertion.made,
        pieces,
    };
    Ok(Step {
        part: part.part,
        path: part.path.clone(),
        state,
        is_file,
        before,
        after: Some(after),
        record: Some(record),
        folders: Vec::new(),
    })
}

/// Plans to take the part out.
pub(super) fn remove(part: &Part, records: &Records) -> Result<Step> {
    let before = read(&part.path)?;
    let wrong = |what: String| unusable(&part.path, &what);
    let state = state_in(part, before.as_deref()).map_err(wrong)?;
    let record = records.of(&part.path);
    let mut step = Step {
        part: part.part,
        path: part.path.clone(),
        state,
        is_file: matches!(part.entry, Entry::File(_)),
        after: before.clone(),
        before,
        record: None,
        folders: record.map(|record| record.folders.clone()).unwrap_or_default(),
    };
    let Some(text) = &step.before else { return Ok(step) };
    // An entry of this name that somebody else wrote is theirs.
    let is_ours = state == IntegrationState::Present || record.is_some();
    if state == IntegrationState::Absent || !is_ours {
        return Ok(step);
    }
    let pieces = record.map(|record| record.pieces.as_slice()).unwrap_or_default();
    let is_out = |text: &String| {
        state_in(part, Some(text)).is_ok_and(|state| state == IntegrationState::Absent)
    };
    let made = record.map_or(0, |record| record.made);
    let cut = taken_out(text, pieces).filter(is_out);
    let after = match &part.entry {
        Entry::Json(entry) => {
            let removed = entry.removed(text, made).map_err(wrong)?;
            // Nothing but the entry goes: what stands at the places of the pieces may be somebody else's by now.
            cut.filter(|cut| means_the_same(cut, &removed)).unwrap_or(removed)
        }
        Entry::Toml(entry) => match cut {
            Some(cut) => cut,
            None => entry.removed(text).map_err(wrong)?,
        },
        Entry::Keys(entry) => cut.unwrap_or_else(|| entry.removed(text, pieces)),
        Entry::File(whole) => match cut {
            Some(cut) => cut,
            None if text == whole => String::new(),
            None => return Ok(step),
        },
    };
    step.state = state_in(part, Some(&after)).map_err(wrong)?;
    let existed = record.map_or(!matches!(part.entry, Entry::File(_)), |record| record.existed);
    let nothing_left = after.trim().is_empty() || is_empty_object(&after);
    step.after = (existed || !nothing_left).then_some(after);
    Ok(step)
}

fn text_of(text: &Option<String>) -> &str {
    text.as_deref().unwrap_or_default()
}

/// Whether what is in the file is as it was put there.
fn is_as_recorded(part: &Part, text: &str, record: &Record) -> bool {
    let written = |was_written: &dyn Fn(&str, &Value) -> bool, found: Option<Value>| {
        found
            .is_some_and(|found| record.pieces.iter().any(|piece| was_written(&piece.text, &found)))
    };
    match &part.entry {
        Entry::Json(entry) => entry
            .find(text)
            .is_ok_and(|found| written(&|piece, found| entry.was_written(piece, found), found)),
        Entry::Toml(entry) => entry
            .find(text)
            .is_ok_and(|found| written(&|piece, found| entry.was_written(piece, found), found)),
        // They have no older form, and what somebody set is theirs.
        Entry::Keys(_) => false,
        Entry::File(_) => record.pieces.iter().any(|piece| piece.text == text),
    }
}

fn state_in(part: &Part, text: Option<&str>) -> Result<IntegrationState, String> {
    let Some(text) = text else { return Ok(IntegrationState::Absent) };
    let judged = |found: Option<Value>, is_own: &dyn Fn(&Value) -> bool| match found {
        None => IntegrationState::Absent,
        Some(found) if is_own(&found) => IntegrationState::Present,
        Some(_) => IntegrationState::Other,
    };
    Ok(match &part.entry {
        Entry::Json(entry) => judged(entry.find(text)?, &|found| entry.is_own(found)),
        Entry::Toml(entry) => judged(entry.find(text)?, &|found| entry.is_own(found)),
        Entry::Keys(entry) => judged(entry.find(text)?, &|found| entry.is_own(found)),
        Entry::File(whole) if whole == text => IntegrationState::Present,
        Entry::File(_) if text.is_empty() => IntegrationState::Absent,
        Entry::File(_) => IntegrationState::Other,
    })
}

fn read(path: &Path) -> Result<Option<String>> {
    config_file::read(path).map_err(|error| {
        let message = format!("cannot read {}: {error}", host_path(path));
        CliError::new(ExitCode::Storage, message)
    })
}

fn unusable(path: &Path, what: &str) -> CliError {
    let message = format!("cannot use {}: {what}", host_path(path));
    CliError::new(ExitCode::Usage, message)
        .hint("correct the file, then try again; nothing was changed")
}
