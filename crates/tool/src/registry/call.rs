//! One call: looked up, judged, made, limited, told.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;

use super::ToolRegistry;
use crate::arguments::{self, Repair, closest};
use crate::context::CallContext;
use crate::contract::ToolContract;
use crate::error::{ToolError, ToolRefusal};
use crate::full_texts::ResultId;
use crate::outcome::{CallEnding, CallOutcome, CallResult};
use crate::output::{ApprovalNeeded, TextOutput, ToolOutput};
use crate::policy::CallVerdict;
use crate::shorten::shorten;
use crate::tool::Tool;

/// So long a tool that changes something may take to say what came of it.
const GRACE: Duration = Duration::from_secs(10);

/// Makes a call.
pub(super) async fn call(
    registry: &ToolRegistry,
    name: &str,
    raw: &str,
    context: CallContext,
) -> CallOutcome {
    let Some(tool) = registry.tool(name) else {
        return refused(&unknown(registry, name));
    };
    let contract = tool.contract();
    if let Some(missing) = contract.capabilities.iter().find(|it| !context.has(it)) {
        let message = format!("{name} needs the capability {missing}, which this agent lacks");
        return refused(&ToolRefusal { message, hint: Some("do without it".to_owned()) });
    }
    let prepared = match arguments::prepare(&contract.schema, raw) {
        Ok(prepared) => prepared,
        Err(refusal) => return refused(&refusal),
    };
    match context.host().call_policy().judge(contract, &prepared.value) {
        CallVerdict::Allow => {}
        CallVerdict::Ask { .. } if context.is_approved() => {}
        CallVerdict::Ask { reason } => {
            let text = format!("{name} needs the approval of a person: {reason}");
            let needed = ApprovalNeeded { text, reason, approval: None, exec: None };
            return CallOutcome::NeedsApproval(needed);
        }
        CallVerdict::Deny { reason, instead } => {
            return refused(&ToolRefusal { message: format!("denied: {reason}"), hint: instead });
        }
    }
    let (output, ending) = run(tool, prepared.value, &context).await;
    told(contract, output, ending, prepared.repairs, &context).await
}

/// Runs a tool within its time, and until nobody wants it any more.
async fn run(
    tool: &Arc<dyn Tool>,
    arguments: serde_json::Value,
    context: &CallContext,
) -> (Result<ToolOutput, ToolError>, CallEnding) {
    let limits = tool.contract().limits;
    let own = context.child();
    // A tool that panics has to leave the agent in peace.
    let work = AssertUnwindSafe(async { tool.call(arguments, own.clone()).await }).catch_unwind();
    let mut work = Box::pin(work.map(|done| {
        done.unwrap_or_else(|_| Err(ToolError::fatal(format!("{} panicked", tool.contract().name))))
    }));
    let time = async {
        match limits.time {
            Some(time) => tokio::time::sleep(time).await,
            None => std::future::pending().await,
        }
    };
    let ending = tokio::select! {
        biased;
        done = &mut work => return (done, CallEnding::Finished),
        () = context.token().cancelled() => CallEnding::Cancelled,
        () = time => CallEnding::TimedOut,
    };
    own.token().cancel();
    let what = match (ending, limits.time) {
        (CallEnding::TimedOut, Some(time)) => format!("timed out after {} s", time.as_secs_f32()),
        _ => "cancelled".to_owned(),
    };
    if tool.contract().effects.may_be_repeated() {
        return (Err(ToolError::refused(what)), ending);
    }
    let done = tokio::time::timeout(GRACE, work).await;
    let unsure = || {
        let hint = "look at what is there before you try again";
        Err(ToolError::refused(format!("{what}; it may have taken effect")).hint(hint))
    };
    (done.unwrap_or_else(|_| unsure()), ending)
}

/// What the loop is told.
async fn told(
    contract: &ToolContract,
    output: Result<ToolOutput, ToolError>,
    ending: CallEnding,
    repairs: Vec<Repair>,
    context: &CallContext,
) -> CallOutcome {
    let note = note(&repairs);
    let output = match output {
        Ok(ToolOutput::Text(text)) => text,
        Ok(ToolOutput::NeedsApproval(needed)) => {
            let text = format!("{note}{}", needed.text);
            return CallOutcome::NeedsApproval(ApprovalNeeded { text, ..needed });
        }
        Ok(ToolOutput::AskUser(question)) => return CallOutcome::AskUser(question),
        Err(ToolError::Fatal(fatal)) => return CallOutcome::Fatal(fatal),
        Err(ToolError::Refused(refusal)) => TextOutput::new(refusal.text()).failed(true),
    };
    let (text, full) = limited(contract.limits.output, output.text, context).await;
    let text = format!("{note}{text}");
    let TextOutput { failed, exec, .. } = output;
    CallOutcome::Done(CallResult { text, failed, ending, full, exec, repairs })
}

/// The line that tells of repairs.
fn note(repairs: &[Repair]) -> String {
    if repairs.is_empty() {
        return String::new();
    }
    let all: Vec<String> = repairs.iter().map(ToString::to_string).collect();
    format!("note: the arguments were repaired: {}\n", all.join("; "))
}

/// What the model reads of a text, and where all of it is.
async fn limited(most: usize, text: String, context: &CallContext) -> (String, Option<ResultId>) {
    let Some(short) = shorten(&text, most) else { return (text, None) };
    let (head, tail, left_out) = (short.head.to_owned(), short.tail.to_owned(), short.left_out);
    let host = Arc::clone(context.host());
    let kept = tokio::task::spawn_blocking(move || host.texts().keep(&text)).await;
    let (says, full) = match kept {
        Ok(Ok(id)) => {
            let offset = head.len();
            let says = format!(
                "[{left_out} bytes left out; read_result with id \"{id}\" and offset {offset} has them]"
            );
            (says, Some(id))
        }
        Ok(Err(error)) => (format!("[{left_out} bytes left out, and not kept: {error}]"), None),
        Err(_) => (format!("[{left_out} bytes left out, and not kept]"), None),
    };
    let break_before = if head.is_empty() || head.ends_with('\n') { "" } else { "\n" };
    (format!("{head}{break_before}{says}\n{tail}"), full)
}

fn unknown(registry: &ToolRegistry, name: &str) -> ToolRefusal {
    let names = || registry.contracts().map(|contract| contract.name.clone());
    let hint = match closest(name, names()) {
        Some(meant) => format!("did you mean {meant}?"),
        None => format!("tools are {}", names().collect::<Vec<_>>().join(", ")),
    };
    ToolRefusal { message: format!("there is no tool {name:?}"), hint: Some(hint) }
}

/// A call that was not made.
fn refused(refusal: &ToolRefusal) -> CallOutcome {
    CallOutcome::Done(CallResult {
        text: refusal.text(),
        failed: true,
        ending: CallEnding::Finished,
        full: None,
        exec: None,
        repairs: Vec::new(),
    })
}
