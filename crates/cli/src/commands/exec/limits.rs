//! What a command may use, by its options, and what is said where it used all of that.

use offshoot_engine::exec::{ExecutionResult, RuntimeOptions};
use offshoot_engine::settings::format_duration;
use offshoot_protocol::ResourceLimit;

use super::options::Options;
use crate::render;

/// How many times as much is suggested to whom the limit is too low.
const MORE: u64 = 2;

/// Puts what the options say in place of the settings.
pub(super) fn apply(options: &Options, runtime: &mut RuntimeOptions) {
    let limits = &mut runtime.limits;
    limits.memory = options.memory.or(limits.memory);
    limits.processes = options.processes.or(limits.processes);
    limits.cpu = options.cpu.or(limits.cpu);
}

/// One line about the limit that a command reached.
pub(super) fn line(reached: ResourceLimit, result: &ExecutionResult) -> String {
    let limits = result.in_force.as_ref().map(|in_force| in_force.limits).unwrap_or_default();
    let killed = if result.signal.is_some() { "; command killed" } else { "" };
    let number = |limit: Option<u64>| limit.unwrap_or_default();
    match reached {
        ResourceLimit::Memory => {
            let (shown, more) = (number(limits.memory), number(limits.memory).saturating_mul(MORE));
            let more = more.div_ceil(1 << 20);
            format!(
                "reached the memory limit of {}{killed}; for more: --memory {more}MiB",
                render::bytes(shown)
            )
        }
        ResourceLimit::Processes => {
            let (shown, more) =
                (number(limits.processes), number(limits.processes).saturating_mul(MORE));
            let processes = if shown == 1 { "process" } else { "processes" };
            format!(
                "reached the limit of {shown} {processes}{killed}; for more: --processes {more}"
            )
        }
        ResourceLimit::Cpu => {
            let cpu = limits.cpu.unwrap_or_default();
            let more = format_duration(cpu.saturating_mul(MORE as u32));
            let shown = format_duration(cpu);
            format!("used its {shown} of processor time{killed}; for more: --cpu {more}")
        }
        ResourceLimit::FileSize => {
            let shown = render::bytes(number(limits.file_size));
            format!("reached the file size limit of {shown}{killed}; exec.max_file_size raises it")
        }
        ResourceLimit::Disk => {
            format!("added more to the workspace than it may{killed}; exec.max_disk raises that")
        }
    }
}
