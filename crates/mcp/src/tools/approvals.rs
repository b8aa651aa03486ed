//! Looking at what waits for a person. Nothing here decides.

use std::time::{Duration, Instant};

use offshoot_engine::approval::Approval;
use offshoot_engine::report::changes;
use offshoot_engine::text::{head, plain};
use offshoot_engine::{Error, Result, wire};
use offshoot_protocol::{
    ApprovalListDoc, ApprovalListItemDoc, ApprovalShowDoc, ApprovalState, ChangeDoc, Document,
    ExitCode, Text,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::answer::{Answer, MOST_TEXT};
use crate::arguments::Arguments;
use crate::session::Session;

/// How often to look whether somebody has decided.
const LOOK: Duration = Duration::from_millis(100);
/// Without another word so long.
const WAIT: u32 = 60;
/// And never longer than this.
const MOST_WAIT: u32 = 3_600;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ApprovalsArgs {
    /// What to do.
    #[serde(default)]
    action: Action,
    /// The approval, for `show` and `wait`: its id, or the start of it.
    id: Option<String>,
    /// List those that were decided as well.
    #[serde(default)]
    all: bool,
    /// How many seconds to `wait`. Without it, 60.
    wait_seconds: Option<u32>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Action {
    #[default]
    List,
    Show,
    Wait,
}

/// What there is to see.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "the schema of two answers")]
pub(super) enum ApprovalsAnswer {
    List(Document<ApprovalListDoc>),
    Show(Box<Document<ApprovalShowDoc>>),
}

pub(super) fn approvals(session: &Session, arguments: &Arguments) -> Result<Answer> {
    let args: ApprovalsArgs = arguments.parse()?;
    let project = &session.project;
    let service = project.engine().approvals(project.vault());
    service.expire()?;
    if args.action == Action::List {
        let mut found = visible(session, service.list()?)?;
        found.retain(|item| args.all || item.approval.state.is_pending());
        let lines = found.iter().map(summary).collect::<String>();
        let text =
            if lines.is_empty() { "nothing waits for an approval".to_owned() } else { lines };
        return Ok(Answer::framed(ApprovalListDoc { approvals: found }, session.notes(), text));
    }
    let id = args.id.ok_or_else(|| Error::usage("`id` says which approval"))?;
    let deadline = match args.action {
        Action::Wait => {
            Duration::from_secs(args.wait_seconds.unwrap_or(WAIT).min(MOST_WAIT).into())
        }
        _ => Duration::ZERO,
    };
    let started = Instant::now();
    let approval = loop {
        let found = service.find(&id)?;
        let is_open = matches!(
            found.state,
            ApprovalState::Pending | ApprovalState::Granted | ApprovalState::Running
        );
        if !is_open || started.elapsed() >= deadline {
            break found;
        }
        std::thread::sleep(LOOK);
        service.expire()?;
    };
    let Some(item) = visible(session, vec![approval.clone()])?.pop() else {
        let message = format!("approval {id} belongs to another session");
        return Err(Error::new(ExitCode::NotFound, message));
    };
    let trial = trial(session, &approval)?;
    let mut text = summary(&item);
    let exec = project.envelope(&approval.id)?;
    let error = exec.as_ref().and_then(|exec| exec.result.error.as_ref());
    if let Some(error) = error.filter(|_| approval.state == ApprovalState::Gone) {
        let hint = error.hint.as_deref().unwrap_or_default();
        text.push_str(&format!("  {}: {hint}\n", error.message));
    }
    if let Some((patch, besides)) = &trial {
        text.push_str(&changes(besides));
        text.push_str(&head(&plain(patch), MOST_TEXT));
    }
    let shown = ApprovalShowDoc {
        item,
        variables: wire::approval_variables(&approval, exec.as_ref()),
        moved: match service.moved(&approval)? {
            Some(moved) => Some(wire::moved_workspace(&moved, service.conflicts(&approval)?)),
            None => None,
        },
        refused: service.obstacle(&approval),
        exec,
        patch: trial.map(|(patch, _)| Text::new(&patch)),
    };
    Ok(Answer::framed(shown, session.notes(), text))
}

/// Those that this session may see.
fn visible(session: &Session, all: Vec<Approval>) -> Result<Vec<ApprovalListItemDoc>> {
    let workspaces = session.project.vault().workspaces()?;
    let items = all.iter().map(|one| wire::listed_approval(one, &workspaces));
    let own = |item: &ApprovalListItemDoc| {
        let asked_by = &item.approval.asked_by;
        session.may_see(item.workspace.as_deref(), asked_by.session.as_deref())
    };
    Ok(items.filter(own).collect())
}

fn summary(item: &ApprovalListItemDoc) -> String {
    let approval = &item.approval;
    let mut text = format!("{} {}: {}\n", approval.id, approval.state, approval.command);
    match approval.changes {
        Some(0) => text.push_str("  it was tried and changed nothing\n"),
        Some(1) => text.push_str("  it was tried: 1 path would change\n"),
        Some(many) => text.push_str(&format!("  it was tried: {many} paths would change\n")),
        None => {}
    }
    if let Some(grant) = approval.grant.as_ref().filter(|_| approval.state.is_pending()) {
        text.push_str(&format!("  a person grants it with: {}\n", grant.argv.join(" ")));
    }
    if let Some(decision) = &approval.decision {
        let reason = decision.reason.as_ref().map(|reason| format!(": {reason}"));
        text.push_str(&format!(
            "  decided by {}{}\n",
            decision.by.user,
            reason.unwrap_or_default()
        ));
    }
    text
}

/// What the trial would change, as a patch, and what that says nothing of.
fn trial(session: &Session, approval: &Approval) -> Result<Option<(Vec<u8>, Vec<ChangeDoc>)>> {
    let (engine, vault) = (session.project.engine(), session.project.vault());
    let changes = engine.approvals(vault).trial_changes(approval, engine.diff_options())?;
    let Some(changes) = changes else { return Ok(None) };
    let (patch, besides) = engine.changes(vault).told_patch(&changes)?;
    Ok(Some((patch, besides.into_iter().map(wire::change).collect())))
}
