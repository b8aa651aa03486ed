//! `offshoot execs` and `offshoot logs`: what was run.

use clap::Args;
use offshoot_protocol::{ExecListDoc, ExecLogsDoc, Text, TruncatedDoc};
use offshoot_workspace::{ExecService, Resolver, wire};

use crate::context::Context;
use crate::error::Result;
use crate::output;
use crate::render::{self, BAD, DIM, NAME, paint, table};

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  offshoot execs\n  offshoot execs -w fix -n 50\n  offshoot execs --json"
)]
pub(crate) struct ExecsArgs {
    /// How many at most
    #[arg(short = 'n', long, value_name = "COUNT", default_value_t = 20)]
    limit: u32,
}

/// Lists what was run, newest first.
pub(crate) fn run(args: &ExecsArgs, context: &Context) -> Result<()> {
    let vault = &context.vault()?.vault;
    let named = context.workspace_name().map(|name| Resolver::new(vault).workspace(name));
    let workspace = named.transpose()?.map(|workspace| workspace.id);
    let (records, more) = ExecService::new(vault).list(workspace, args.limit)?;
    let all = vault.workspaces()?;
    let execs = records.iter().map(|record| wire::exec_summary(record, &all)).collect();
    context.output.data(ExecListDoc { execs, more }, |document| {
        let rows: Vec<Vec<String>> = document
            .execs
            .iter()
            .zip(&records)
            .map(|(exec, record)| {
                let ending = match (exec.exit_code, exec.signal) {
                    (Some(0), _) => "ok".to_owned(),
                    (Some(code), _) => paint(BAD, &format!("exit {code}")),
                    (None, Some(signal)) => paint(BAD, &format!("signal {signal}")),
                    (None, None) => paint(BAD, &exec.state),
                };
                let workspace = exec.workspace.as_deref().unwrap_or("-");
                vec![
                    paint(DIM, &record.id.short()),
                    paint(NAME, workspace),
                    render::time(record.started_ms),
                    ending,
                    format!("{} changed", exec.changed),
                    render::line(&exec.command),
                ]
            })
            .collect();
        let older = if more { paint(DIM, "older ones with -n COUNT\n") } else { String::new() };
        format!("{}{older}", table(&rows))
    })
}

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  offshoot logs 01k9x2m4        what it printed, each stream to its own\n  offshoot logs 01k9x2m4 --json"
)]
pub(crate) struct LogsArgs {
    /// The exec, by the start of its id
    #[arg(value_name = "EXEC")]
    exec: String,
}

/// Prints what a command printed.
pub(crate) fn logs(args: &LogsArgs, context: &Context) -> Result<()> {
    let vault = &context.vault()?.vault;
    let service = ExecService::new(vault);
    let record = service.find(&args.exec)?;
    let (stdout, stderr) = service.output(&record.id)?;
    if let Some(time_ms) = vault.output_collected(&record.id)? {
        let time = render::time(time_ms);
        context.output.note(format!("what it printed was collected by gc ({time})"));
    }
    let envelope = wire::recorded_envelope(&record, (b"", b""));
    let truncated = envelope.map_or_else(TruncatedDoc::default, |e| e.result.truncated);
    if context.output.is_json() {
        let exec = record.id.to_string();
        let (stdout, stderr) = (Text::new(&stdout), Text::new(&stderr));
        let document = ExecLogsDoc { exec, stdout, stderr, truncated };
        return context.output.data(document, |_| String::new());
    }
    context.output.bytes(&stdout)?;
    output::eprint_bytes(&stderr);
    let missing = truncated.stdout_bytes + truncated.stderr_bytes;
    if missing > 0 {
        context.output.note(format!("{} more were printed and not kept", render::bytes(missing)));
    }
    Ok(())
}
