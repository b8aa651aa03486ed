//! Telling another program of a new approval.

use std::io::Write;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::thread;

use offshoot_vault::Approval;
use offshoot_workspace::wire;

use crate::offshoot::Offshoot;

/// Runs the line in a group of its own and ends all of that when the line has ended, or after ten seconds: whoever started it may have
/// ended long before.
const WATCHED: &str =
    r#"group=$$; (sleep 10; kill -9 -- "-$group") & sh -c "$1"; kill -9 -- "-$group""#;

/// A longer command is cut: what is told has to fit into a pipe that nobody reads.
const LONGEST: usize = 8 << 10;

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
        let mut told = wire::approval(approval);
        for text in [&mut told.command, &mut told.reason] {
            if let Some((at, _)) = text.char_indices().nth(LONGEST) {
                text.truncate(at);
            }
        }
        let told = serde_json::to_vec(&told).unwrap_or_default();
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
