//! Running a command in this process, whoever wants it.

use std::sync::Arc;

use offshoot_protocol::ExecEnvelopeDoc;
use offshoot_sandbox::{Room, Signals, Stream};
use offshoot_vault::Approval;
use offshoot_workspace::{
    ExecutionObserver, ExecutionRequest, ExecutionResult, ExecutionWorkspace, ProxyRuntime, wire,
};

use super::events::Event;
use super::request::explain;
use crate::opened::Opened;
use crate::sandbox::Rules;

/// Decides about a request by the rules, runs it, answers, and does what is due afterwards. `signals` are those to a process that
/// has nothing else to do; `room` is that for output, as long as whoever is told has not passed it on.
pub(super) fn run(
    project: &Opened,
    request: ExecutionRequest,
    (rules, caches): (Rules, bool),
    signals: Option<Signals>,
    (tell, room): (&dyn Fn(Event), &Arc<Room>),
    answer: impl FnOnce(ExecEnvelopeDoc),
) {
    let options = project.engine().runtime_options(rules, caches, signals, explain);
    let runtime = ProxyRuntime::new(project.vault(), project.name(), &options);
    let place = request.place.clone();
    let envelope = runtime.exec(request, &mut Telling { project, place: &place, tell, room });
    let result = &envelope.result;
    let stays = result.workspace.as_ref().filter(|_| !result.removed);
    let due = stays.and_then(|(workspace, _)| project.due(workspace));
    answer(wire::envelope(&envelope));
    if let Some(signals) = options.signals {
        // Those that came while the command was recorded had nothing left to end.
        let _too_late = signals.ask_to_end();
        signals.give_back();
    }
    // Nobody waits for that. Where nothing is due the vault is not touched any more.
    if let Some(due) = due {
        due.run();
    }
}

/// Passes on what happens.
struct Telling<'a> {
    project: &'a Opened,
    place: &'a ExecutionWorkspace,
    tell: &'a dyn Fn(Event),
    room: &'a Arc<Room>,
}

impl ExecutionObserver for Telling<'_> {
    fn allowed(&mut self) -> offshoot_workspace::Result<()> {
        self.project.make_ready(self.place)
    }

    fn pending(&mut self, approval: &Approval) -> bool {
        self.project.engine().notify_of(approval, self.project.name());
        (self.tell)(Event::Pending { approval: approval.id });
        true
    }

    fn in_use(&mut self, _workspace: &str, holder: &str) {
        (self.tell)(Event::Waiting { holder: holder.to_owned() });
    }

    fn started(&mut self, result: &ExecutionResult) {
        let workspace = result.workspace.as_ref().map(|(_, name)| name.clone());
        let (workspace, warnings) = (workspace.unwrap_or_default(), result.warnings.clone());
        (self.tell)(Event::Started { workspace, warnings });
    }

    fn sealing(&mut self) {
        (self.tell)(Event::Sealing);
    }

    fn output(&mut self, stream: Stream, bytes: &[u8]) {
        (self.tell)(Event::Output { stream, bytes: bytes.to_vec() });
    }

    fn room(&self) -> Option<Arc<Room>> {
        Some(Arc::clone(self.room))
    }
}
