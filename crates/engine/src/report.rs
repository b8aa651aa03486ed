//! What became of a command, in words: for a model, and for a person who decides.

mod lost;

use std::collections::HashSet;

use offshoot_protocol::{ChangeDoc, EntryKindDoc, ExecEnvelopeDoc, ExecState};
use offshoot_store::Id;

use crate::error::Result;
use crate::live::overlap_notices;
use crate::project::Project;
use crate::text::{command, line, plain, tail};

/// More changes are counted.
const MOST_CHANGES: usize = 30;

/// How a command is reported.
///
/// ```
/// use offshoot_engine::report::Report;
///
/// let report = Report { hosts: &["crates.io".to_owned()], allows: "a person starts `offshoot mcp --net allow={hosts}`", pending: "a person decides", output: 12_000 };
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Report<'a> {
    /// The hosts that a call may ask for with `allow_hosts`.
    pub hosts: &'a [String],
    /// How a person lets calls ask for more; `{hosts}` stands for those.
    pub allows: &'a str,
    /// What to do where a person has to approve; `{id}` stands for the approval.
    pub pending: &'a str,
    /// How many bytes of each stream are shown, from its end.
    pub output: usize,
}

impl Report<'_> {
    /// What a model has to know about a command.
    ///
    /// ```
    /// # fn example(report: &offshoot_engine::report::Report, exec: &offshoot_engine::exec::Exec) {
    /// println!("{}", report.text(&exec.wait()));
    /// # }
    /// ```
    pub fn text(&self, envelope: &ExecEnvelopeDoc) -> String {
        let result = &envelope.result;
        let mut text = match &result.workspace {
            Some(workspace) => format!("{} in workspace {workspace}\n", ending(envelope)),
            None => format!("{}\n", ending(envelope)),
        };
        if let Some(error) = result.error.as_ref().filter(|_| !is_pending(envelope)) {
            text.push_str(&format!("error: {}\n", error.message));
            if let Some(hint) = &error.hint {
                text.push_str(&format!("hint: {hint}\n"));
            }
        }
        if let Some(approval) = result.approval.as_ref().filter(|_| is_pending(envelope)) {
            text.push_str(&format!("it needs the approval of a person: {}\n", approval.reason));
            let tried = match &approval.untried {
                Some(why) => format!("nothing ran yet: {why}"),
                None => {
                    "it was tried without the network, and nothing of it is real yet".to_owned()
                }
            };
            text.push_str(&format!("{tried}\n"));
            if let Some(grant) = &approval.grant {
                text.push_str(&format!("a person grants it with: {}\n", grant.argv.join(" ")));
            }
            text.push_str(&format!("{}\n", self.pending.replace("{id}", &approval.id)));
        }
        for (name, stream) in [("stdout", &result.stdout), ("stderr", &result.stderr)] {
            let printed = plain(stream.as_str().as_bytes());
            let printed = printed.trim_end();
            if !printed.is_empty() {
                text.push_str(&format!("--- {name}\n{}\n", tail(printed, self.output)));
            }
        }
        if !result.changed_files.is_empty() {
            let what = if is_pending(envelope) { "would change" } else { "changed" };
            text.push_str(&format!("--- {what}\n{}", changes(&result.changed_files)));
        }
        if !is_pending(envelope) {
            let lost = lost::network(envelope, self).into_iter().chain(lost::discarded(envelope));
            lost.for_each(|line| text.push_str(&format!("{line}\n")));
        }
        for note in envelope.notes.iter().chain(&result.warnings) {
            text.push_str(&format!("note: {note}\n"));
        }
        text.trim_end().to_owned()
    }
}

/// Whether a call that ran this command failed. What waits for a person has done nothing wrong.
///
/// ```
/// # fn example(exec: &offshoot_engine::exec::Exec) {
/// let failed = offshoot_engine::report::has_failed(&exec.wait());
/// # }
/// ```
pub fn has_failed(envelope: &ExecEnvelopeDoc) -> bool {
    match envelope.result.state {
        ExecState::PendingApproval => false,
        ExecState::Denied => true,
        _ => envelope.result.error.is_some(),
    }
}

/// How a command ended, in a few words.
///
/// ```
/// # fn example(exec: &offshoot_engine::exec::Exec) {
/// println!("{}", offshoot_engine::report::ending(&exec.wait()));
/// # }
/// ```
pub fn ending(envelope: &ExecEnvelopeDoc) -> String {
    let result = &envelope.result;
    let seconds = std::time::Duration::from_millis(result.duration_ms).as_secs_f32();
    match (result.state, result.exit_code, result.signal) {
        (ExecState::Denied, ..) if result.approval.as_ref().is_some_and(|one| one.tried) => {
            "denied: it was tried, and nothing of that was kept".to_owned()
        }
        (ExecState::Denied, ..) => "denied: it did not run".to_owned(),
        (ExecState::PendingApproval, ..) => "pending approval".to_owned(),
        _ if result.timed_out => format!("timed out after {seconds:.1} s"),
        _ if result.interrupted => format!("interrupted after {seconds:.1} s"),
        (_, Some(code), _) => format!("exit code {code} after {seconds:.1} s"),
        (_, _, Some(signal)) => format!("ended by signal {signal} after {seconds:.1} s"),
        (state, ..) => state.to_string(),
    }
}

/// Changes, a line each.
///
/// ```
/// # fn example(exec: &offshoot_engine::exec::Exec) {
/// print!("{}", offshoot_engine::report::changes(&exec.wait().result.changed_files));
/// # }
/// ```
pub fn changes(all: &[ChangeDoc]) -> String {
    let lines = all.iter().take(MOST_CHANGES).map(|change| {
        let side = change.after.as_ref().or(change.before.as_ref());
        let is_directory = side.is_some_and(|side| side.entry == EntryKindDoc::Directory);
        let slash = if is_directory && change.path.as_str() != "/" { "/" } else { "" };
        let from = change.from.as_ref().map(|from| format!(" (from {})", from.as_str()));
        format!(
            "{} {}{slash}{}\n",
            change.kind,
            line(change.path.as_str()),
            from.unwrap_or_default()
        )
    });
    let mut text: String = lines.collect();
    if all.len() > MOST_CHANGES {
        text.push_str(&format!("and {} more\n", all.len() - MOST_CHANGES));
    }
    text
}

/// Which other workspaces changed the same lines of what a command that has just ended changed. Where that cannot be found out, nothing is
/// said: the commit finds it.
///
/// ```
/// # fn example(project: &offshoot_engine::Project, exec: &offshoot_engine::exec::Exec) {
/// for notice in offshoot_engine::report::overlaps(project, &exec.wait()) {
///     println!("note: {notice}");
/// }
/// # }
/// ```
pub fn overlaps(project: &Project, envelope: &ExecEnvelopeDoc) -> Vec<String> {
    let result = &envelope.result;
    let is_kept = result.state == ExecState::Completed && !result.workspace_removed;
    let Some(name) = result.workspace.as_deref().filter(|_| is_kept) else { return Vec::new() };
    if result.changed_files.is_empty() || result.error.is_some() {
        return Vec::new();
    }
    let record = project.workspace(name).ok().and_then(|workspace| workspace.record().ok());
    let found = record.and_then(|it| project.engine().overlaps(project.vault(), &it).ok());
    let mut found = found.unwrap_or_default();
    let changed: HashSet<&str> =
        result.changed_files.iter().map(|change| change.path.as_str()).collect();
    found.retain(|overlap| changed.contains(overlap.path.to_string().as_str()));
    overlap_notices(&found).iter().map(ToString::to_string).collect()
}

/// What a person has to know who decides about a command that `client` wants to run.
///
/// ```
/// # fn example(project: &offshoot_engine::Project, id: &offshoot_engine::id::Id) -> offshoot_engine::Result<()> {
/// println!("{}", offshoot_engine::report::question(project, "claude-code", id)?);
/// # Ok(())
/// # }
/// ```
pub fn question(project: &Project, client: &str, approval: &Id) -> Result<String> {
    let service = project.engine().approvals(project.vault());
    let found = service.find(&approval.to_string())?;
    let envelope = project.envelope(approval)?;
    let result = envelope.as_ref().map(|envelope| &envelope.result);
    let place = result.and_then(|result| result.workspace.as_deref());
    let mut text = format!("{} wants to run", line(client));
    if let Some(workspace) = place {
        text.push_str(&format!(" in workspace {}", line(workspace)));
    }
    text.push_str(&format!(":\n\n    {}\n\n", command(&found.command)));
    text.push_str(&format!("Why you are asked: {}\n", line(&found.reason)));
    match &found.untried {
        Some(why) => text.push_str(&format!("Nothing ran yet: {}\n", line(why))),
        None => {
            let code = result.and_then(|result| result.exit_code);
            let code = code.map(|code| format!(" (exit code {code})")).unwrap_or_default();
            text.push_str(&format!(
                "It was tried without the network{code}. Approving makes this real:\n"
            ));
            match result.map(|result| &*result.changed_files).unwrap_or_default() {
                [] => text.push_str("no file changes\n"),
                all => text.push_str(&changes(all)),
            }
        }
    }
    if let Some(envelope) = &envelope {
        if envelope.result.unconfined {
            text.push_str(
                "It runs WITHOUT WALLS: it sees all of this machine and reaches its network.\n",
            );
        }
        if found.untried.is_some() && !envelope.request.allow.is_empty() {
            let hosts = line(&envelope.request.allow.join(", "));
            text.push_str(&format!("It may reach: {hosts}\n"));
        }
    }
    text.push_str(&format!(
        "\nAccept to approve, decline to deny. Details: offshoot approvals show {}",
        found.id.short()
    ));
    Ok(text)
}

fn is_pending(envelope: &ExecEnvelopeDoc) -> bool {
    envelope.result.state == ExecState::PendingApproval
}
