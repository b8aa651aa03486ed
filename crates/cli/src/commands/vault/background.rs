//! This program once more, in the background.

use std::process::{Command, Stdio};

use crate::context::{Context, OpenVault};

/// Starts `offshoot vault WORDS` apart from whoever waits for this process. It says that it is in the background, and gets the
/// settings that matter there.
pub(super) fn start(context: &Context, opened: &OpenVault, words: &[&str]) -> std::io::Result<()> {
    let config = &context.config();
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("vault").args(words).args(["--background", "--quiet"]).arg(&opened.name);
    // It works in no folder, so what a project's file says is passed on.
    let settings = [
        format!("compact.auto={}", config.compact.auto),
        format!("compact.depth={}", config.compact.depth),
        format!("gc.auto={}", config.gc.auto),
        format!("gc.auto_operations={}", config.gc.auto_operations),
        format!("gc.auto_size={}B", config.gc.auto_size),
        format!("gc.keep_operations={}", config.gc.keep_operations),
        format!("gc.keep_age={}ms", config.gc.keep_age.as_millis()),
        format!("gc.max_size={}B", config.gc.max_size),
        format!("store.busy_timeout={}ms", config.store.busy_timeout.as_millis()),
    ];
    command.args(settings.iter().flat_map(|setting| ["-c", setting]));
    command.arg("--home").arg(context.registry().dir());
    command.env_remove("OFFSHOOT_VAULT").env_remove("OFFSHOOT_WORKSPACE");
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.current_dir("/").spawn().map(drop)
}

/// Makes this process one of the background: no terminal ends it, and everybody else goes first.
pub(super) fn withdraw() {
    // A leader of a group has a session of its own already, or was started by hand from a shell.
    let _leader = rustix::process::setsid().is_err();
    offshoot_engine::maintenance::give_way();
}
