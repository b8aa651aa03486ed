//! The audit log: what was done to a vault, by whom, and whether the log is what was recorded.

use std::io::{BufRead, Write};

use offshoot_protocol::{ExitCode, Hint};
use offshoot_store::Hash;
use offshoot_vault::Vault;
pub use offshoot_vault::{
    AuditEvent, AuditFlaw, AuditHead, AuditReport, AuditVerifier, LinesError, LinesWriter,
    PrunedAudit, PublicKey, Signature, SignedHead, SigningKey, verify_lines,
};
pub use offshoot_workspace::{AUDIT_KINDS, AuditEntry, AuditFilter, AuditService};

use crate::error::{Error, Result};
use crate::offshoot::Offshoot;
use crate::project::Project;
use crate::settings::SettingEdit;

/// What a verifier knows beside the log itself.
///
/// ```
/// # fn example(project: &offshoot_engine::Project) -> offshoot_engine::Result<()> {
/// use offshoot_engine::audit::Known;
///
/// let head: (u64, [u8; 32]) = offshoot_engine::audit::parse_head("1:00")
///     .unwrap_or((project.vault().audit_head()?.0.seq, project.vault().audit_head()?.0.chain));
/// let known = Known { key: None, heads: vec![head] };
/// assert!(project.engine().verify_audit(project.vault(), &known)?.is_ok());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Known {
    /// The key that is trusted.
    pub key: Option<PublicKey>,
    /// Events that somebody saw, with the chain up to each.
    pub heads: Vec<(u64, Hash)>,
}

/// What an export wrote.
///
/// ```
/// # fn example(project: &offshoot_engine::Project) -> offshoot_engine::Result<()> {
/// let exported = project.engine().export_audit(project.vault(), &mut Vec::new())?;
/// println!("{} events, to {}", exported.events, exported.head);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExportedAudit {
    /// How many events.
    pub events: u64,
    /// How far they go.
    pub head: AuditHead,
}

/// Reads a head as `audit head` prints it: SEQ:CHAIN. Nothing where it is none.
///
/// ```
/// use offshoot_engine::audit::parse_head;
///
/// let text = format!("7:{}", "0f".repeat(32));
/// assert_eq!(parse_head(&text), Some((7, [15; 32])));
/// assert_eq!(parse_head("7"), None);
/// ```
pub fn parse_head(text: &str) -> Option<(u64, Hash)> {
    let (seq, chain) = text.split_once(':')?;
    // A public key has the same form.
    let chain: PublicKey = chain.parse().ok()?;
    Some((seq.parse().ok()?, *chain.as_bytes()))
}

/// Whether a log that was exported is what was recorded; who reads it needs a public key, and no vault.
///
/// ```
/// # fn example(project: &offshoot_engine::Project) -> Result<(), Box<dyn std::error::Error>> {
/// use offshoot_engine::audit::{Known, verify_export};
///
/// let mut file = Vec::new();
/// project.engine().export_audit(project.vault(), &mut file)?;
/// let key = project.vault().audit_key()?;
/// let report = verify_export(file.as_slice(), &Known { key, heads: Vec::new() })?;
/// println!("{} events", report.events);
/// # Ok(())
/// # }
/// ```
pub fn verify_export(from: impl BufRead, known: &Known) -> Result<AuditReport, LinesError> {
    verify_lines(from, known.key, &known.heads)
}

impl Offshoot {
    /// Reads the audit log of a vault.
    ///
    /// ```
    /// # fn example(project: &offshoot_engine::Project) -> offshoot_engine::Result<()> {
    /// use offshoot_engine::audit::AuditFilter;
    ///
    /// let (engine, vault) = (project.engine(), project.vault());
    /// let filter = AuditFilter { kind: Some("exec".to_owned()), ..AuditFilter::default() };
    /// for entry in engine.audit(vault).list(&filter, 10)?.0 {
    ///     println!("{} {}", entry.actor.user, entry.summary);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn audit<'v>(&self, vault: &'v Vault) -> AuditService<'v> {
        AuditService::new(vault)
    }

    /// Whether the log of a vault is what was recorded. Where no key is named, that of this machine is trusted.
    ///
    /// ```
    /// # fn example(project: &offshoot_engine::Project) -> offshoot_engine::Result<()> {
    /// use offshoot_engine::audit::Known;
    ///
    /// match project.engine().verify_audit(project.vault(), &Known::default())? {
    ///     Ok(report) => println!("{} events", report.events),
    ///     Err(flaw) => println!("{flaw}"),
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn verify_audit(
        &self,
        vault: &Vault,
        known: &Known,
    ) -> Result<Result<AuditReport, AuditFlaw>> {
        let mut verifier = AuditVerifier::new(vault.id(), self.trusted(vault, known)?);
        for (seq, chain) in &known.heads {
            verifier.expect(*seq, *chain);
        }
        Ok(vault.verify_audit(verifier)?)
    }

    /// The key that is trusted where a vault is verified: the one that is named, or that of this machine.
    ///
    /// ```
    /// # fn example(project: &offshoot_engine::Project) -> offshoot_engine::Result<()> {
    /// use offshoot_engine::audit::Known;
    ///
    /// let key = project.engine().trusted(project.vault(), &Known::default())?;
    /// assert_eq!(key, project.vault().audit_key()?);
    /// # Ok(())
    /// # }
    /// ```
    pub fn trusted(&self, vault: &Vault, known: &Known) -> Result<Option<PublicKey>> {
        Ok(match known.key {
            Some(key) => Some(key),
            None => vault.audit_key()?,
        })
    }

    /// Writes the log of a vault as lines of JSON that can be verified without the vault.
    ///
    /// ```
    /// # fn example(project: &offshoot_engine::Project) -> offshoot_engine::Result<()> {
    /// project.engine().export_audit(project.vault(), &mut std::io::stdout())?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn export_audit(&self, vault: &Vault, to: &mut dyn Write) -> Result<ExportedAudit> {
        let failed = |error: std::io::Error| {
            Error::new(ExitCode::Storage, format!("cannot write the audit log: {error}"))
        };
        let (head, signed) = self.audit(vault).durable_head()?;
        let pruned = vault.audit_pruned()?;
        let mut after = pruned.as_ref().map_or(0, |pruned| pruned.seq);
        let mut writer = LinesWriter::new(to, vault.id(), pruned).map_err(failed)?;
        let mut events = 0;
        while after < head.seq {
            let page = vault.audit_events(after)?;
            let Some(last) = page.last() else { break };
            after = last.seq;
            for event in page.iter().filter(|event| event.seq <= head.seq) {
                writer.event(event).map_err(failed)?;
                events += 1;
            }
        }
        writer.finish(signed.as_ref()).map_err(failed)?;
        Ok(ExportedAudit { events, head })
    }

    /// Records in the vault of the folder that the caller stands in that a setting was changed. Nothing is recorded elsewhere: other vaults
    /// note other rules when a command runs in them.
    ///
    /// ```
    /// # fn example(offshoot: &offshoot_engine::Offshoot) -> offshoot_engine::Result<()> {
    /// use offshoot_engine::settings::{Whose, edit};
    ///
    /// let edited = edit(&offshoot.options().sources(), Whose::User, "exec.timeout", Some("30m"))?;
    /// offshoot.record_setting(&edited)?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn record_setting(&self, edited: &SettingEdit) -> Result<()> {
        let Ok(directory) = self.directory() else { return Ok(()) };
        let Some((listed, _)) = self.bound_to(&directory)?.filter(|_| edited.changed) else {
            return Ok(());
        };
        let vault = self.registry().open_listed(&listed).map_err(|e| self.registry_error(e))?;
        let SettingEdit { key, value, path, .. } = edited;
        let kind = if value.is_some() { "config set" } else { "config unset" };
        vault.record_event(kind, self.actor(), |tx| {
            tx.summary(match value {
                Some(value) => format!("set {key} to {value}"),
                None => format!("unset {key}"),
            });
            tx.detail("key", key);
            tx.detail("value", value);
            tx.detail("file", path.to_string_lossy());
            Ok(())
        })?;
        Ok(())
    }
}

impl Project {
    /// Records what governance decided about something that an agent wants to do. It is durable when this returns.
    ///
    /// ```
    /// # fn example(project: &offshoot_engine::Project) -> offshoot_engine::Result<()> {
    /// let details = serde_json::json!({ "rule": "mail-is-read-first" });
    /// project.record_governance("helper", "denied send_message mailto:a@example.org", &details)?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn record_governance(
        &self,
        agent: &str,
        summary: &str,
        details: &serde_json::Value,
    ) -> Result<()> {
        self.vault().record_event("governance", self.engine().actor(), |tx| {
            tx.summary(summary.to_owned());
            tx.detail("agent", agent);
            tx.detail("governance", details);
            Ok(())
        })?;
        Ok(())
    }
}

/// What to do about a log that is not what was recorded.
///
/// ```
/// use offshoot_engine::audit::{AuditFlaw, advice};
///
/// assert!(advice(&AuditFlaw::Altered(3)).to_string().contains("backup"));
/// ```
pub fn advice(flaw: &AuditFlaw) -> Hint {
    match flaw {
        AuditFlaw::AnotherKey(_) => Hint::from(
            "the vault came from another machine, its key was lost, or somebody else signed: `--key` names the key to trust",
        ),
        AuditFlaw::NeverSigned(_) => {
            Hint::from("the log is from before there were signatures; the next change signs it")
        }
        _ => Hint::from("compare it with a backup or an export from before"),
    }
}
