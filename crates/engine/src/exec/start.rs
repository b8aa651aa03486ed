//! Starting a command, on a thread or in a worker.

use std::sync::Arc;

use offshoot_protocol::ExitCode;
use offshoot_workspace::ExecutionWorkspace;

use super::command::Command;
use super::handle::{Exec, Shared};
use super::run::run;
use super::steering::Wheel;
use super::turns::Turns;
use super::worker;
use crate::error::{Error, Result};
use crate::opened::Opened;

/// Starts a command: in a worker where the options name one, else on a thread of its own.
pub(crate) fn start(
    project: &Arc<Opened>,
    place: ExecutionWorkspace,
    command: Command,
) -> Result<Exec> {
    match &project.engine().options().worker {
        Some(program) => worker::start(program, project, place, command),
        None => on_thread(project, place, command),
    }
}

fn on_thread(project: &Arc<Opened>, place: ExecutionWorkspace, command: Command) -> Result<Exec> {
    let engine = project.engine();
    let rules = project.rules(&command.rules)?;
    let caches = command.caches;
    let wheel = Wheel::new()?;
    let mut request = engine.request(command, place, None, Some(Arc::clone(&wheel.cancel)));
    let turn = Turns::stand(project.turns(), &request);
    let shared = Arc::new(Shared::new(request.id, Arc::new(wheel.clone())));
    let (project, busy, told) = (Arc::clone(project), project.busy(), Arc::clone(&shared));
    let work = move || {
        request.wait = turn.wait(request.wait, &|| !wheel.cancel.is_cancelled());
        let tell = |event| {
            turn.heed(&event);
            told.tell(event);
        };
        let answer = |envelope| {
            turn.pass();
            told.finish(envelope);
        };
        run(&project, request, (rules, caches), None, (&tell, &wheel.room), answer);
        drop(project);
        drop(busy);
    };
    let thread = std::thread::Builder::new().name("offshoot-exec".to_owned());
    thread.spawn(work).map_err(|error| {
        Error::new(ExitCode::Failure, format!("cannot start a thread: {error}"))
    })?;
    Ok(Exec::of(shared))
}
