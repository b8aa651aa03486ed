//! Being called by a command that runs in a workspace.

use offshoot_engine::exec::{INSIDE, INSIDE_VAULT};
use offshoot_protocol::{ExitCode, Hint};

use crate::error::{CliError, Result};
use crate::global::Global;

/// Fails where this process runs inside of a workspace: the vaults of whoever started that cannot be seen from here. Who names
/// another place for vaults means that one, and some commands need none.
pub(crate) fn check(global: &Global, needs_no_vault: bool) -> Result<()> {
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let names_home = global.home.is_some() || variable("OFFSHOOT_HOME").is_some();
    let Some(workspace) = variable(INSIDE).filter(|_| !needs_no_vault && !names_home) else {
        return Ok(());
    };
    let vault = variable(INSIDE_VAULT).map(|vault| format!(" of vault {vault}"));
    let message = format!(
        "this is the inside of workspace {workspace}{}; its vault cannot be seen from here",
        vault.unwrap_or_default()
    );
    let hint = Hint::from("leave the shell, then ").then("offshoot status -w").arg(workspace);
    Err(CliError::new(ExitCode::Inside, message).hint(hint))
}
