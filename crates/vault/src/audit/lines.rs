//! The log as lines of JSON, for other places and programs: a header, an event in each line, and at the end the head with its signature.
//!
//! A line is read only if writing what it says gives the same bytes. So there is no second way to say anything, and no byte that could be
//! another one unseen.

use std::io::{self, BufRead, Write};

use offshoot_store::{Hash, Id};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::key::{PublicKey, Signature, hex, unhex};
use super::log::AuditEvent;
use super::verify::{AuditFlaw, AuditReport, AuditVerifier};
use super::{PrunedAudit, SignedHead};

/// The name of the format, and its version.
const FORMAT: &str = "offshoot-audit";
const VERSION: u32 = 1;
/// A longer line is none: no catalog holds an event of that length.
const LONGEST: u64 = 1 << 30;

/// Why lines are no log that can be trusted.
#[derive(Debug, thiserror::Error)]
pub enum LinesError {
    /// They cannot be read.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// A line is not as it was written.
    #[error("line {0} is not as it was written")]
    Line(u64),
    /// The file ends before the log does.
    #[error("the file ends in line {0}, before the end of the log")]
    Ends(u64),
    /// The log is not what was recorded.
    #[error(transparent)]
    Flaw(#[from] AuditFlaw),
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    format: String,
    version: u32,
    vault: String,
    /// Where it begins, if events were removed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    after: Option<PrunedAudit>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct EventLine {
    seq: u64,
    chain: String,
    event: Box<RawValue>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct EndLine {
    head: u64,
    key: PublicKey,
    signature: Signature,
}

/// Writes a log.
#[derive(Debug)]
pub struct LinesWriter<W> {
    to: W,
}

impl<W: Write> LinesWriter<W> {
    /// Begins with the header.
    pub fn new(mut to: W, vault: Id, after: Option<PrunedAudit>) -> io::Result<Self> {
        let (format, vault) = (FORMAT.to_owned(), vault.to_string());
        let header = Header { format, version: VERSION, vault, after };
        put(&mut to, &header)?;
        Ok(Self { to })
    }

    /// The next event.
    pub fn event(&mut self, event: &AuditEvent) -> io::Result<()> {
        let raw = RawValue::from_string(event.text.clone())?;
        put(&mut self.to, &EventLine { seq: event.seq, chain: hex(&event.chain), event: raw })
    }

    /// The end.
    pub fn finish(mut self, signed: Option<&SignedHead>) -> io::Result<W> {
        if let Some(&SignedHead { seq, key, signature }) = signed {
            put(&mut self.to, &EndLine { head: seq, key, signature })?;
        }
        self.to.flush()?;
        Ok(self.to)
    }
}

fn put(to: &mut impl Write, line: &impl Serialize) -> io::Result<()> {
    let mut text = serde_json::to_vec(line)?;
    text.push(b'\n');
    to.write_all(&text)
}

/// Reads a log and says whether it is what was recorded.
pub fn verify_lines(
    from: impl BufRead,
    trusted: Option<PublicKey>,
    saved: &[(u64, Hash)],
) -> Result<AuditReport, LinesError> {
    let mut lines = Lines { from, number: 0, text: Vec::new() };
    let header: Header = lines.next_as()?.ok_or(LinesError::Ends(0))?;
    let known = (header.format.as_str(), header.version) == (FORMAT, VERSION);
    // An id can be written in more than one way, and is only in one.
    let vault: Option<Id> = header.vault.parse().ok();
    let vault = vault.filter(|vault| known && vault.to_string() == header.vault);
    let vault = vault.ok_or(LinesError::Line(1))?;
    let mut verifier = AuditVerifier::new(vault, trusted);
    if let Some(pruned) = header.after {
        verifier.start_after(pruned)?;
    }
    for (seq, chain) in saved {
        verifier.expect(*seq, *chain);
    }
    let mut end: Option<SignedHead> = None;
    while lines.advance()? {
        // Nothing comes after the end.
        if end.is_some() {
            return Err(LinesError::Line(lines.number));
        }
        match lines.read::<EventLine>() {
            Ok(EventLine { seq, chain, event }) => {
                let chain = unhex(&chain).ok_or(LinesError::Line(lines.number))?;
                verifier.add(seq, event.get(), &chain)?;
            }
            Err(_) => {
                let EndLine { head: seq, key, signature } = lines.read()?;
                end = Some(SignedHead { seq, key, signature });
            }
        }
    }
    if end.is_none() {
        return Err(LinesError::Ends(lines.number));
    }
    Ok(verifier.finish(end.as_ref())?)
}

struct Lines<R> {
    from: R,
    number: u64,
    text: Vec<u8>,
}

impl<R: BufRead> Lines<R> {
    /// Goes to the next line; not where there is none.
    fn advance(&mut self) -> Result<bool, LinesError> {
        self.text.clear();
        self.number += 1;
        io::Read::take(&mut self.from, LONGEST).read_until(b'\n', &mut self.text)?;
        match self.text.pop() {
            None => Ok(false),
            Some(b'\n') => Ok(true),
            Some(_) => Err(LinesError::Ends(self.number)),
        }
    }

    /// What this line says, if it says it in the one way there is.
    fn read<T: Serialize + for<'t> Deserialize<'t>>(&self) -> Result<T, LinesError> {
        let no = || LinesError::Line(self.number);
        let read: T = serde_json::from_slice(&self.text).map_err(|_| no())?;
        let again = serde_json::to_vec(&read).map_err(|_| no())?;
        if again == self.text { Ok(read) } else { Err(no()) }
    }

    fn next_as<T: Serialize + for<'t> Deserialize<'t>>(&mut self) -> Result<Option<T>, LinesError> {
        if self.advance()? { self.read().map(Some) } else { Ok(None) }
    }
}
