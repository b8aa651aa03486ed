//! `offshoot audit verify`: whether a log is what was recorded.

use std::io::BufReader;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use clap::Args;
use offshoot_engine::audit::{
    AuditReport, Known, LinesError, PublicKey, advice, parse_head, verify_export,
};
use offshoot_engine::vault::VaultError;
use offshoot_engine::wire;
use offshoot_protocol::{AuditVerifyDoc, ExitCode, Text};

use crate::context::Context;
use crate::error::{CliError, Result};
use crate::render::{self, BAD, GOOD, WARN, paint};

#[derive(Debug, Args)]
pub(crate) struct VerifyArgs {
    /// File from `audit export`, - for standard input [default: the log of the vault]
    file: Option<PathBuf>,
    /// Public key to trust, as `audit key` prints it
    #[arg(long, value_name = "KEY", value_parser = key)]
    key: Option<PublicKey>,
    /// End that you noted, as `audit head` prints it
    #[arg(long, value_name = "SEQ:CHAIN", value_parser = head)]
    head: Vec<(u64, [u8; 32])>,
}

fn key(text: &str) -> Result<PublicKey, String> {
    text.parse()
        .map_err(|_| "expected 64 hexadecimal digits, as `audit key` prints them".to_owned())
}

fn head(text: &str) -> Result<(u64, [u8; 32]), String> {
    let expected = "expected SEQ:CHAIN, as `audit head` prints it";
    parse_head(text).ok_or_else(|| expected.to_owned())
}

pub(super) fn run(args: &VerifyArgs, context: &Context) -> Result<()> {
    let known = Known { key: args.key, heads: args.head.clone() };
    let document = match &args.file {
        Some(path) => of_file(path, &known)?,
        None => of_vault(context, &known)?,
    };
    context.output.data(document, told)
}

fn of_vault(context: &Context, known: &Known) -> Result<AuditVerifyDoc> {
    let vault = &context.vault_as_left()?.vault;
    let trusted = context.engine.trusted(vault, known)?;
    let pruned = vault.audit_pruned()?.map(|pruned| pruned.seq);
    let verified = context.engine.verify_audit(vault, known)?;
    let document = AuditVerifyDoc {
        vault: Some(vault.id().to_string()),
        trusted: trusted.map(|key| key.to_string()),
        pruned,
        ..empty()
    };
    Ok(match verified {
        Ok(report) => {
            let mut differences = vault.audit_differences()?;
            // What an older catalog has is as its log says, which is older too.
            differences
                .extend(vault.cut_short().map(|lost| VaultError::CutShort(lost).to_string()));
            filled(AuditVerifyDoc { differences, ..document }, &report)
        }
        Err(flaw) => {
            AuditVerifyDoc { problem: Some(format!("{flaw}; {}", advice(&flaw))), ..document }
        }
    })
}

fn of_file(path: &Path, known: &Known) -> Result<AuditVerifyDoc> {
    let file = BufReader::with_capacity(1 << 20, super::open(path)?);
    let document = AuditVerifyDoc {
        file: Some(Text::new(path.as_os_str().as_bytes())),
        trusted: known.key.map(|key| key.to_string()),
        ..empty()
    };
    match verify_export(file, known) {
        Ok(report) => {
            let vault = Some(report.head.vault.to_string());
            let pruned = Some(report.head.seq - report.events).filter(|pruned| *pruned > 0);
            Ok(filled(AuditVerifyDoc { vault, pruned, ..document }, &report))
        }
        Err(LinesError::Io(error)) => {
            let path = render::host_path(path);
            Err(CliError::new(ExitCode::Storage, format!("cannot read {path}: {error}")))
        }
        Err(error) => Ok(AuditVerifyDoc { problem: Some(error.to_string()), ..document }),
    }
}

fn empty() -> AuditVerifyDoc {
    AuditVerifyDoc {
        vault: None,
        file: None,
        events: 0,
        head: None,
        trusted: None,
        keys: Vec::new(),
        pruned: None,
        uncompared: Vec::new(),
        differences: Vec::new(),
        problem: None,
    }
}

fn filled(document: AuditVerifyDoc, report: &AuditReport) -> AuditVerifyDoc {
    AuditVerifyDoc {
        events: report.events,
        head: Some(report.head.to_string()),
        keys: report.keys.iter().map(wire::audit_signer).collect(),
        uncompared: report.uncompared.clone(),
        ..document
    }
}

fn told(document: &AuditVerifyDoc) -> String {
    if let Some(problem) = &document.problem {
        return format!("{} {}\n", paint(BAD, "not what was recorded:"), render::line(problem));
    }
    let events = render::count(document.events, "event");
    let mut text = paint(GOOD, &format!("{events} as recorded\n"));
    if let Some(pruned) = document.pruned {
        text.push_str(&format!("events until {pruned} were removed with `audit prune`\n"));
    }
    for seq in &document.uncompared {
        let gone = format!("event {seq} is among them: its head cannot be compared any more");
        text.push_str(&format!("{}\n", paint(WARN, &gone)));
    }
    for difference in &document.differences {
        let other = format!("the vault is not what its log says: {}", render::line(difference));
        text.push_str(&format!("{}\n", paint(BAD, &other)));
    }
    if document.trusted.is_none() {
        let unknown = "signed by a key that nobody named: --key says which one to trust";
        text.push_str(&format!("{}\n", paint(WARN, unknown)));
    }
    for signer in &document.keys {
        let since = match signer.handed_over {
            true => format!("handed over at event {}", signer.since),
            false => format!("from event {}", signer.since),
        };
        text.push_str(&format!("key {} {since}\n", signer.key));
    }
    text.push_str(&format!("head {}\n", document.head.as_deref().unwrap_or_default()));
    text
}
