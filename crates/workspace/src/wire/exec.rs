//! The envelope of an exec as a document.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use offshoot_egress::{Connection, EgressReport, RefusedHost};
use offshoot_profile::Profile;
use offshoot_protocol::{
    Confinement, ConnectionDoc, DiscardedDoc, Durability, ExecCredentialDoc, ExecEnvelopeDoc,
    ExecPresetDoc, ExecRequestDoc, ExecResultDoc, ExecState, ExecSummaryDoc, ExecUsageDoc,
    LimitsDoc, NetworkDoc, RefusedHostDoc, RerunDoc, SandboxDoc, Text, TruncatedDoc,
};
use offshoot_sandbox::{InForce, Limits, Renames};
use offshoot_store::Id;
use offshoot_vault::{ExecRecord, WorkspaceRecord};

use super::change::change;
use super::history::actor;
use super::time::time;
use super::workspace::workspace_name;
use crate::exec::envelope::{ExecutionEnvelope, ExecutionResult, KeptCredential, PresetUse};
use crate::exec::request::{CommandLine, ExecutionRequest, ExecutionWorkspace};
use crate::exec::state::state_of;
use crate::resolve::HEAD;

/// The envelope of an exec.
pub fn envelope(envelope: &ExecutionEnvelope) -> ExecEnvelopeDoc {
    let result = &envelope.result;
    let mut document = document(&envelope.request, result, result.state);
    document.result.stdout = Text::new(result.stdout());
    document.result.stderr = Text::new(result.stderr());
    document
}

/// The envelope as it is stored: what was printed is kept beside it.
pub(crate) fn stored_envelope(
    request: &ExecutionRequest,
    result: &ExecutionResult,
    state: ExecState,
) -> String {
    let document = document(request, result, state);
    serde_json::to_string(&document).unwrap_or_else(|_| "null".to_owned())
}

/// The envelope of a recorded exec, with what was printed put back.
pub fn recorded_envelope(
    record: &ExecRecord,
    (stdout, stderr): (&[u8], &[u8]),
) -> Option<ExecEnvelopeDoc> {
    let mut document: ExecEnvelopeDoc = serde_json::from_str(record.envelope.as_deref()?).ok()?;
    document.result.stdout = Text::new(stdout);
    document.result.stderr = Text::new(stderr);
    Some(document)
}

/// How far a recorded exec came.
pub fn exec_state(record: &ExecRecord) -> ExecState {
    state_of(record)
}

/// One exec of a list.
pub fn exec_summary(record: &ExecRecord, all: &[WorkspaceRecord]) -> ExecSummaryDoc {
    ExecSummaryDoc {
        exec: record.id.to_string(),
        workspace: record.workspace.as_ref().map(|id| workspace_name(id, all)),
        started: time(record.started_ms),
        total_ms: record.ended_ms.saturating_sub(record.started_ms),
        state: exec_state(record),
        command: record.command.clone(),
        exit_code: record.exit_code,
        signal: record.signal,
        changed: record.changed,
        actor: actor(&record.actor),
    }
}

/// Everything but what was printed.
fn document(
    request: &ExecutionRequest,
    result: &ExecutionResult,
    state: ExecState,
) -> ExecEnvelopeDoc {
    let result = ExecResultDoc { state, ..result_document(request, result) };
    ExecEnvelopeDoc::new(request_document(request), result)
}

fn request_document(request: &ExecutionRequest) -> ExecRequestDoc {
    let (command, shell) = match &request.command {
        CommandLine::Argv(arguments) => {
            (arguments.iter().map(|argument| Text::new(argument.as_bytes())).collect(), false)
        }
        CommandLine::Shell(text) => (vec![Text::new(text.as_bytes())], true),
    };
    let (workspace, from, ephemeral) = match &request.place {
        ExecutionWorkspace::Workspace(name) | ExecutionWorkspace::Existing { name, .. } => {
            (Some(name.clone()), None, false)
        }
        ExecutionWorkspace::Fork { from, lifetime } => {
            let from = from.as_deref().unwrap_or(HEAD);
            (None, Some(from.to_owned()), lifetime.is_some())
        }
    };
    ExecRequestDoc {
        command,
        shell,
        cwd: request.cwd.as_deref().map(path_text),
        env: request.environment.iter().map(|(name, _)| Text::new(name.as_bytes())).collect(),
        env_set: request.set_by_caller.iter().map(|name| Text::new(name.as_bytes())).collect(),
        stdin: request.has_stdin,
        timeout_ms: request.timeout.duration().map(millis),
        readonly: request.read_only,
        net: request.reach(),
        allow: request.allow.clone(),
        workspace,
        from,
        ephemeral,
        checkpoint: request.checkpoint,
        actor: actor(&request.actor),
    }
}

fn result_document(request: &ExecutionRequest, result: &ExecutionResult) -> ExecResultDoc {
    let changed = result.before != result.after;
    let workspace = result.workspace.as_ref().map(|(_, name)| name.as_str());
    // Nothing is looked up for what may not run.
    let named = request.place.workspace().filter(|_| result.state.is_refusal());
    ExecResultDoc {
        vault: Some(result.vault.clone()).filter(|vault| !vault.is_empty()),
        workspace: workspace.or(named).map(str::to_owned),
        forked: result.forked,
        workspace_removed: result.removed,
        exec: result.id.to_string(),
        mountpoint: result.mountpoint.as_deref().map(path_text),
        cwd: result.cwd.as_deref().map(path_text),
        terminal: result.terminal,
        command: request.command.display(),
        exit_code: result.exit_code,
        signal: result.signal,
        stdout: Text::new(b""),
        stderr: Text::new(b""),
        truncated: TruncatedDoc {
            stdout_bytes: result.stdout.dropped,
            stderr_bytes: result.stderr.dropped,
        },
        readonly: result.read_only,
        duration_ms: millis(result.duration),
        total_ms: millis(result.total),
        checkpoint: result.checkpoint.clone(),
        snapshot_before: result.before.as_ref().map(Id::to_string),
        snapshot_after: result.after.as_ref().map(Id::to_string),
        changed_files: result.changes.iter().map(change).collect(),
        patch: result.patch.as_deref().map(Text::new),
        decision: result.decision.as_ref().map(super::policy::verdict),
        approval: result
            .pending_approval()
            .or(result.approved_by.as_deref())
            .map(super::approval::approval),
        state: result.state,
        failed_in: result.failed_in,
        timed_out: result.timed_out,
        limit_reached: result.limit_reached,
        interrupted: result.interrupted,
        rerun: result.rerun.map(|first| RerunDoc {
            reason: first.reason,
            exit_code: first.exit_code,
            signal: first.signal,
            duration_ms: millis(first.duration),
        }),
        durability: match changed && result.after.is_some() {
            true => Durability::Flushed,
            false => Durability::None,
        },
        driver: result.driver.map(|driver| driver.name()),
        profile: result.profile.as_ref().map(|profile| profile.name.clone()),
        unconfined: result.profile.as_ref().is_some_and(Profile::is_open),
        sandbox: result
            .in_force
            .as_ref()
            .map(|in_force| sandbox(result.mountpoint.as_deref(), in_force))
            .map(|sandbox| SandboxDoc {
                own_sandbox: result.preset.as_ref().map(|used| used.own_sandbox),
                ..sandbox
            }),
        usage: ExecUsageDoc {
            user_ms: millis(result.usage.user),
            system_ms: millis(result.usage.system),
            max_resident_bytes: result.usage.max_resident,
            written_bytes: result.usage.written,
            kept_bytes: result.kept_bytes,
            processes: result.usage.processes,
        },
        network: result.in_force.as_ref().map(|in_force| network(in_force, result)),
        discarded: (result.discarded.count > 0).then(|| DiscardedDoc {
            count: result.discarded.count,
            bytes: result.discarded.bytes,
            paths: result.discarded.paths.iter().map(|path| path_text(path)).collect(),
        }),
        conflicts: result.conflicts,
        preset: result.preset.as_ref().map(preset),
        warnings: result.warnings.clone(),
        error: result.error.clone(),
        recoverable: result.recoverable,
    }
}

fn preset(used: &PresetUse) -> ExecPresetDoc {
    let credential = |kept: &KeptCredential| ExecCredentialDoc {
        path: kept.path.clone(),
        to_host: kept.to_host,
        from_host: kept.from_host,
    };
    let credentials = used.credentials.iter().map(credential).collect();
    let host_state = used.host_state.iter().map(|path| path_text(path)).collect();
    ExecPresetDoc { name: used.name.clone(), origin: used.origin, credentials, host_state }
}

fn network(in_force: &InForce, result: &ExecutionResult) -> NetworkDoc {
    let EgressReport { connections, left_out, refused, refused_left_out, .. } =
        result.egress.clone().unwrap_or_default();
    NetworkDoc {
        mode: in_force.network,
        attempted: result.unreached,
        connections: connections.iter().map(connection).collect(),
        connections_left_out: left_out,
        refused: refused.iter().map(refused_host).collect(),
        refused_left_out,
    }
}

fn connection(connection: &Connection) -> ConnectionDoc {
    let host = connection.host.as_ref().map(ToString::to_string);
    let since = connection.at.duration_since(UNIX_EPOCH).unwrap_or_default();
    let about = host.as_deref().unwrap_or("the server");
    ConnectionDoc {
        time: time(millis(since)),
        duration_ms: connection.millis,
        route: connection.route.as_str().to_owned(),
        port: connection.port,
        address: connection.address.map(|address| address.to_string()),
        method: connection.method.clone(),
        path: connection.path.clone(),
        sent_bytes: connection.up,
        received_bytes: connection.down,
        allowed: connection.refusal.is_none(),
        reason: connection.refusal.as_ref().map(|refusal| refusal.message(about)),
        host,
    }
}

fn refused_host(refused: &RefusedHost) -> RefusedHostDoc {
    let host = refused.host.to_string();
    RefusedHostDoc {
        reason: refused.refusal.message(&host),
        host,
        port: refused.port,
        count: refused.times,
        option: refused.flag.clone(),
    }
}

/// What the sandbox found to be in force, and nothing that was only asked for.
fn sandbox(mountpoint: Option<&Path>, in_force: &InForce) -> SandboxDoc {
    let mode = match (in_force.is_bare(), in_force.landlock) {
        (false, _) => Confinement::Namespaces,
        (true, Some(_)) => Confinement::Rules,
        (true, None) => Confinement::None,
    };
    let paths = |paths: &[std::path::PathBuf]| paths.iter().map(|path| path_text(path)).collect();
    let Limits { processes, file_size, memory, cpu, tmpfs, .. } = in_force.limits;
    let restrictions = in_force.restrictions.iter();
    SandboxDoc {
        mode,
        namespaces: in_force.namespaces.iter().map(|name| (*name).to_owned()).collect(),
        network: in_force.network,
        home: in_force.home,
        writable: mountpoint.filter(|_| in_force.writable).map(path_text).into_iter().collect(),
        private: paths(&in_force.private),
        hidden: paths(&in_force.hidden),
        broker: in_force.renames == Renames::Brokered,
        caches: in_force.caches.iter().map(|name| (*name).to_owned()).collect(),
        limits: LimitsDoc { processes, file_size, memory, cpu_ms: cpu.map(millis), tmpfs },
        landlock_abi: in_force.landlock,
        restrictions: restrictions.map(|one| one.as_str().to_owned()).collect(),
        own_sandbox: None,
        gaps: in_force.gaps().into_iter().map(str::to_owned).collect(),
    }
}

fn path_text(path: &Path) -> Text {
    Text::new(path.as_os_str().as_bytes())
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use offshoot_protocol::Network;
    use offshoot_sandbox::Restriction;

    use super::*;

    #[test]
    fn what_is_not_in_force_is_not_told() {
        let nothing = sandbox(Some(Path::new("/project")), &InForce::nothing());
        assert_eq!((nothing.mode.as_str(), nothing.network.as_str()), ("none", "host"));
        assert_eq!((nothing.namespaces, nothing.broker), (Vec::new(), false));
        assert_eq!((nothing.restrictions, nothing.limits), (Vec::new(), LimitsDoc::default()));
        assert_eq!(nothing.writable.len(), 1);
        let some = InForce {
            namespaces: vec!["user", "net"],
            network: Network::None,
            writable: false,
            restrictions: vec![Restriction::NoNewPrivs],
            limits: Limits { memory: Some(7), ..Limits::default() },
            ..InForce::nothing()
        };
        let some = sandbox(Some(Path::new("/project")), &some);
        assert_eq!((some.mode.as_str(), some.network.as_str()), ("namespaces", "none"));
        assert_eq!(
            (some.restrictions, some.limits.memory),
            (vec!["no_new_privs".to_owned()], Some(7))
        );
        assert_eq!((some.limits.file_size, some.writable), (None, Vec::new()));
    }
}
