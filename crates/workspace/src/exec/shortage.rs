//! What a command ran out of, where only what it printed tells.

use offshoot_protocol::ResourceLimit;
use offshoot_sandbox::Keeper;
use rustix::fs::fstatvfs;

use super::envelope::ExecutionResult;

/// What programs print where no further process or thread can be started.
const NO_PROCESS: [&str; 3] =
    ["resource temporarily unavailable", "cannot fork", "can't start new thread"];
/// What they print where a directory is full.
const NO_SPACE: &str = "no space left on device";

/// Looks at what a command that failed printed. The kernel refuses a process without a trace, and a full directory is seen by looking.
pub(super) fn look(result: &mut ExecutionResult, keeper: &Keeper) {
    let Some(in_force) = &result.in_force else { return };
    if result.exit_code.is_none_or(|code| code == 0) || result.limit_reached.is_some() {
        return;
    }
    let printed = if result.terminal { &result.stdout } else { &result.stderr };
    let printed = String::from_utf8_lossy(&printed.bytes).to_lowercase();
    if in_force.limits.processes.is_some() && NO_PROCESS.iter().any(|said| printed.contains(said)) {
        result.limit_reached = Some(ResourceLimit::Processes);
        return;
    }
    if !printed.contains(NO_SPACE) {
        return;
    }
    let scratch = in_force
        .scratch
        .iter()
        .map(|scratch| (scratch.path.display().to_string(), keeper.open_scratch(scratch)));
    let temporary = [("/tmp".to_owned(), keeper.open_temporary())];
    let full = temporary.into_iter().chain(scratch).find_map(|(path, opened)| {
        let found = fstatvfs(opened.ok()?).ok()?;
        (found.f_bavail == 0 || found.f_favail == 0).then_some(path)
    });
    result.warnings.extend(full.map(|path| {
        format!(
            "{path} was full: commands have it in memory; exec.max_tmpfs says how much it holds"
        )
    }));
}
