//! Commands that may not run, before the catalog knows of them.
//!
//! A refusal changes nothing, so nothing else has to wait for its record, and opening the catalog takes longer than all the
//! rest of refusing. It is appended to a file beside the catalog and synced; whoever next writes to the catalog, or asks it
//! about commands or operations, takes in what waits there first. The format is in `docs/design/storage-format.md`.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use offshoot_store::{Id, Writer};
use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::actor::Actor;
use crate::disk;
use crate::error::{Result, io_error};
use crate::exec::ExecRecord;
use crate::refs::{WORKSPACE, from_json, to_json};
use crate::transact::Transaction;
use crate::vault::Vault;

/// The file, in the directory of a vault.
const FILE: &str = "refusals";
/// More bytes than this should not wait.
const MOST_WAITING: u64 = 1 << 20;
/// Shorter texts are no starts of ids.
const SHORTEST_PREFIX: usize = 4;
/// Digits of the hash before each record.
const DIGITS: usize = 16;

/// A command that may not run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Refusal {
    /// Its id.
    pub exec: Id,
    /// The workspace that was named for it; whether there is one is looked up when it is taken in.
    pub workspace: Option<String>,
    /// When it was asked for.
    pub started_ms: u64,
    /// When it was refused.
    pub ended_ms: u64,
    /// How it was refused, in a word.
    pub state: String,
    /// The command line, for people.
    pub command: String,
    /// Who asked.
    pub actor: Actor,
    /// One line for the operation log.
    pub summary: String,
    /// What the audit event says beside that.
    pub details: Map<String, Value>,
    /// Everything else about it, as JSON that the vault does not look into.
    pub envelope: String,
}

impl Refusal {
    /// Records it for the vault in a directory, durably. Returns whether so much waits to be taken in that somebody should
    /// ([`Vault::take_in_refusals`]).
    pub fn record(&self, vault: &Path) -> Result<bool> {
        let path = vault.join(FILE);
        let mut options = File::options();
        let opened = options.append(true).create(true).mode(0o600).open(&path);
        let mut file = opened.map_err(io_error("open", &path))?;
        let written = self.append(&mut file).and_then(|before| {
            if before == 0 {
                // It may be new, and its name not on disk yet.
                disk::sync_dir(vault)?;
            }
            Ok(before > MOST_WAITING)
        });
        written.map_err(io_error("write", &path))
    }

    /// Appends it and waits until it is on disk. Returns what the file held before.
    fn append(&self, file: &mut File) -> io::Result<u64> {
        // Several may append at once; who takes in waits until they are done.
        lock(file, FlockOperation::LockShared)?;
        let before = file.metadata()?.len();
        file.write_all(line(self).as_bytes())?;
        file.sync_data()?;
        Ok(before)
    }

    /// Writes it to the catalog as an operation, unless it is there already: taking in was cut short before.
    fn take_in(&self, writer: &mut Writer<'_>) -> Result<()> {
        if writer.exec(&self.exec)?.is_some() {
            return Ok(());
        }
        let workspace = self.workspace.as_deref().map(|text| find_workspace(writer, text));
        let workspace = workspace.transpose()?.flatten();
        let mut transaction = Transaction::new(writer, "exec", &self.actor);
        transaction.happened(self.ended_ms);
        transaction.summary(self.summary.as_str());
        transaction.record_always();
        if let Some(workspace) = workspace {
            transaction.scope(workspace);
        }
        for (name, value) in &self.details {
            transaction.detail(name, value.clone());
        }
        transaction.add_exec(&self.as_exec(workspace), b"", b"")?;
        transaction.finish()?;
        Ok(())
    }

    fn as_exec(&self, workspace: Option<Id>) -> ExecRecord {
        ExecRecord {
            id: self.exec,
            workspace,
            operation: None,
            started_ms: self.started_ms,
            ended_ms: self.ended_ms,
            state: self.state.clone(),
            command: self.command.clone(),
            exit_code: None,
            signal: None,
            changed: 0,
            before: None,
            after: None,
            actor: self.actor.clone(),
            envelope: Some(self.envelope.clone()),
        }
    }
}

/// The workspace of a name, or the only one whose id starts with the text.
fn find_workspace(writer: &Writer<'_>, text: &str) -> Result<Option<Id>> {
    if let Some((key, _)) = writer.ref_by_name(WORKSPACE, "", text)? {
        return Ok(key.id.parse().ok());
    }
    if text.len() < SHORTEST_PREFIX {
        return Ok(None);
    }
    let (text, refs) = (text.to_ascii_lowercase(), writer.refs(WORKSPACE)?);
    let mut fitting = refs.iter().filter(|(key, _)| key.id.starts_with(&text));
    let (first, second) = (fitting.next(), fitting.next());
    Ok(first.filter(|_| second.is_none()).and_then(|(key, _)| key.id.parse().ok()))
}

/// Refusals that wait, with nobody appending others until this is dropped.
#[derive(Debug)]
pub(crate) struct Waiting {
    path: PathBuf,
    file: File,
    refusals: Vec<Refusal>,
}

impl Waiting {
    /// What waits in the directory of a vault; nothing is locked where nothing does.
    fn of(vault: &Path) -> Result<Option<Self>> {
        let path = vault.join(FILE);
        if std::fs::metadata(&path).map_or(0, |metadata| metadata.len()) == 0 {
            return Ok(None);
        }
        let mut bytes = Vec::new();
        let opened = File::options().read(true).write(true).open(&path).and_then(|mut file| {
            lock(&file, FlockOperation::LockExclusive)?;
            file.read_to_end(&mut bytes)?;
            Ok(file)
        });
        let file = opened.map_err(io_error("read", &path))?;
        let refusals = records(&bytes)?;
        Ok(Some(Self { path, file, refusals }))
    }

    fn take_in(&self, writer: &mut Writer<'_>) -> Result<()> {
        self.refusals.iter().try_for_each(|refusal| refusal.take_in(writer))
    }

    /// Forgets them; the catalog has them now, and has its rows for good. So nothing needs to be synced: what a power cut brings back
    /// is found to be there.
    fn clear(self) -> Result<()> {
        self.file.set_len(0).map_err(io_error("empty", &self.path))
    }
}

impl Vault {
    /// Takes what waits into the catalog, where something can be written.
    pub fn take_in_refusals(&self) -> Result<()> {
        let waits = || std::fs::metadata(self.dir().join(FILE)).is_ok_and(|file| file.len() > 0);
        if self.is_read_only() || self.cut_short().is_some() || !waits() {
            return Ok(());
        }
        let taken = self.catalog().write(|writer| {
            let waiting = Waiting::of(self.dir())?;
            waiting.iter().try_for_each(|waiting| waiting.take_in(writer))?;
            Ok::<_, crate::VaultError>(waiting)
        })?;
        taken.map_or(Ok(()), Waiting::clear)
    }

    /// The same as part of a transaction that is about something else. What cannot be read is left to those who ask for it.
    pub(crate) fn take_in_with(&self, writer: &mut Writer<'_>) -> Result<Option<Waiting>> {
        let waiting = Waiting::of(self.dir()).ok().flatten();
        waiting.iter().try_for_each(|waiting| waiting.take_in(writer))?;
        Ok(waiting)
    }

    /// Ends what [`take_in_with`](Self::take_in_with) began, once the transaction is committed.
    pub(crate) fn taken_in(waiting: Option<Waiting>) {
        // Those that stay are found to be in the catalog by whoever is next.
        drop(waiting.map(Waiting::clear));
    }
}

/// A record in the file. It starts on a line of its own, whatever a crash left before it.
fn line(refusal: &Refusal) -> String {
    let json = to_json(refusal);
    format!("\n{} {json}\n", digest(json.as_bytes()))
}

/// The records in the file. One that was cut short was never answered, and does not count.
fn records(bytes: &[u8]) -> Result<Vec<Refusal>> {
    let whole = |line: &[u8]| -> Option<String> {
        let (hash, json) = line.split_at_checked(DIGITS)?;
        let json = json.strip_prefix(b" ")?;
        let json = std::str::from_utf8(json).ok()?;
        (hash == digest(json.as_bytes()).as_bytes()).then(|| json.to_owned())
    };
    let lines = bytes.split(|byte| *byte == b'\n').filter_map(whole);
    lines.map(|json| from_json("a refused command", &json)).collect()
}

fn digest(bytes: &[u8]) -> String {
    let mut hex = blake3::hash(bytes).to_hex().to_string();
    hex.truncate(DIGITS);
    hex
}

fn lock(file: &File, how: FlockOperation) -> io::Result<()> {
    Ok(rustix::io::retry_on_intr(|| flock(file, how))?)
}
