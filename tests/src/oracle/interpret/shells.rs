//! Steps that are other programs: the shell, `mv`, and the one that writes through a mapping.

use std::process::{Command, Stdio};

use super::{Outcome, Run};
use crate::oracle::tree::os;

/// No fragment takes so many seconds unless it waits for what never comes.
const PATIENCE: &str = "120";

pub(super) fn step(run: &mut Run, verb: &[u8], words: &[&[u8]]) -> Result<(), Outcome> {
    match (verb, words) {
        (b"sh" | b"links", [script, arguments @ ..]) => {
            run.may_run_tools()?;
            if verb == b"links" {
                run.linked();
            }
            let mut command = Command::new("timeout");
            command
                .args([PATIENCE, "sh", "-c"])
                .arg(os(script))
                .arg("sh")
                .args(arguments.iter().map(|word| os(word)));
            finish(command)
        }
        (b"mv", [from, to]) => {
            run.may_run_tools()?;
            run.may_move(from)?;
            let mut command = Command::new("mv");
            command.args(["-f", "-T", "--"]).arg(os(from)).arg(os(to));
            finish(command)
        }
        (b"mmap", [path, offset, text]) => {
            let Some(mapper) = &run.mapper else {
                return Err(Outcome::Said("no mapper".to_owned()));
            };
            let mut command = Command::new(mapper);
            command.arg(os(path)).arg(os(offset)).arg(os(text));
            finish(command)
        }
        _ => Err(Outcome::Nonsense),
    }
}

/// Only how it ended is said: messages name descriptors, versions and the order of directories.
fn finish(mut command: Command) -> Result<(), Outcome> {
    command.env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin").env("LC_ALL", "C");
    command.env("TZ", "UTC").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let status = command.status()?;
    if status.success() { Ok(()) } else { Err(Outcome::Said(status.to_string())) }
}
