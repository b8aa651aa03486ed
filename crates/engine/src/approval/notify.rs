//! Telling another program of a new approval.

use std::io::Write;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use offshoot_vault::Approval;
use offshoot_workspace::wire;

use crate::offshoot::Offshoot;

/// How long the program has.
const PATIENCE: Duration = Duration::from_secs(10);
/// How often to look whether it has ended.
const LOOK: Duration = Duration::from_millis(20);

impl Offshoot {
    /// Starts the command that `approvals.notify` names, with the approval on its standard input. Nobody waits for it, and it is killed after ten seconds.
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
        let line = &self.config().approvals.notify;
        if line.trim().is_empty() {
            return;
        }
        let text = serde_json::to_vec(&wire::approval(approval)).unwrap_or_default();
        let mut command = Command::new("/bin/sh");
        command.args(["-c", line]).env_clear().envs(self.options().environment.iter().cloned());
        command.env("OFFSHOOT_APPROVAL", approval.id.to_string()).env("OFFSHOOT_VAULT", vault);
        // A group of its own, so that all of it can be ended, and a terminal's signals are not for it.
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
        // What cannot be told stays in the list of approvals.
        let Ok(child) = command.spawn() else { return };
        let told = thread::Builder::new().name("offshoot-notify".to_owned());
        let _untold = told.spawn(move || see_off(child, &text)).is_err();
    }
}

/// Gives the program its input and sees to it that it ends.
fn see_off(mut child: Child, text: &[u8]) {
    let deadline = Instant::now() + PATIENCE;
    if let Some(mut stdin) = child.stdin.take() {
        // One that does not read is none of our business; a pipe holds more than this.
        let _unread = stdin.write_all(text).is_err();
    }
    while Instant::now() < deadline {
        match child.try_wait() {
            Ok(None) => thread::sleep(LOOK),
            _ => return,
        }
    }
    if let Some(group) = rustix::process::Pid::from_raw(child.id().cast_signed()) {
        let _gone = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
    let _reaped = child.wait().is_err();
}
