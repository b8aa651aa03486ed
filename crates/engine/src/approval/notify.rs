//! Telling another program of a new approval.

use std::io::Write;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::thread;

use offshoot_protocol::ApprovalListItemDoc;
use offshoot_vault::Approval;
use offshoot_workspace::wire;

use crate::offshoot::Offshoot;

/// Runs the line in a group of its own and ends all of that when the line has ended, or after ten seconds: whoever started it may have
/// ended long before.
const WATCHED: &str =
    r#"group=$$; (sleep 10; kill -s KILL -- "-$group") & sh -c "$1"; kill -s KILL -- "-$group""#;

/// Longer texts are cut: what is told has to fit into a pipe that nobody reads, with six bytes for a character and all of these in it.
const LONGEST: usize = 4 << 10;
/// Names are cut to this.
const LONGEST_NAME: usize = 256;

impl Offshoot {
    /// Starts the command that `approvals.notify` names, with the approval as JSON on its standard input. Nobody waits for it, and it
    /// is killed after ten seconds.
    ///
    /// ```
    /// # fn example(project: &offshoot_engine::Project) -> offshoot_engine::Result<()> {
    /// for approval in project.pending()? {
    ///     project.engine().notify_of(&approval, project.name());
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn notify_of(&self, approval: &Approval, vault: &str) {
        let line = self.approval_settings().notify;
        if line.trim().is_empty() {
            return;
        }
        let told = serde_json::to_vec(&told(approval)).unwrap_or_default();
        let mut command = Command::new("/bin/sh");
        command.args(["-c", WATCHED, "sh", &line]).env_clear();
        command.envs(self.options().environment.iter().cloned());
        command.env("OFFSHOOT_APPROVAL", approval.id.to_string()).env("OFFSHOOT_VAULT", vault);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
        // What cannot be told stays in the list of approvals.
        let Ok(mut child) = command.spawn() else { return };
        if let Some(mut stdin) = child.stdin.take() {
            let _unread = stdin.write_all(&told).is_err();
        }
        let thread = thread::Builder::new().name("offshoot-notify".to_owned());
        let _unreaped = thread.spawn(move || child.wait()).is_err();
    }
}

/// What is told of an approval.
fn told(approval: &Approval) -> ApprovalListItemDoc {
    // It was asked for a moment ago: its workspace has the name that it had then.
    let mut told = wire::listed_approval(approval, &[]);
    told.workspace.clone_from(&approval.named);
    let doc = &mut told.approval;
    [&mut doc.command, &mut doc.reason].into_iter().for_each(|text| cut(text, LONGEST));
    let by = &mut doc.asked_by;
    let names = [Some(&mut by.user), by.agent.as_mut(), by.session.as_mut()];
    names
        .into_iter()
        .chain([told.workspace.as_mut()])
        .flatten()
        .for_each(|name| cut(name, LONGEST_NAME));
    told
}

fn cut(text: &mut String, longest: usize) {
    if let Some((at, _)) = text.char_indices().nth(longest) {
        text.truncate(at);
        text.push('…');
    }
}

#[cfg(test)]
mod tests {
    use offshoot_store::Id;
    use offshoot_vault::Actor;

    use super::*;

    /// Whatever is asked for, nobody waits until it is read.
    #[test]
    fn what_is_told_fits_into_a_pipe() {
        let long = "\u{1}".repeat(1 << 20);
        let approval = Approval {
            id: Id::random(),
            workspace: None,
            named: Some(long.clone()),
            state: offshoot_protocol::ApprovalState::Pending,
            created_ms: 0,
            expires_ms: 1,
            command: long.clone(),
            reason: long.clone(),
            asked_by: Actor { user: long.clone(), agent: Some(long.clone()), session: Some(long) },
            digest: "0".repeat(64),
            repeats: "0".repeat(64),
            from: None,
            network: None,
            base: Some(Id::random()),
            trial: Some(Id::random()),
            changed: Some(1),
            roots: std::collections::BTreeMap::new(),
            untried: None,
            request: None,
            waiter: None,
            decision: None,
        };
        let said = told(&approval);
        assert_eq!(said.approval.command.chars().count(), LONGEST + 1);
        assert!(said.approval.command.ends_with('…'));
        assert_eq!(said.workspace.as_ref().unwrap().chars().count(), LONGEST_NAME + 1);
        let bytes = serde_json::to_vec(&said).unwrap().len();
        assert!(bytes < 64 << 10, "{bytes}");
    }
}
