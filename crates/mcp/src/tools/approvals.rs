//! Looking at what waits for a person. Nothing here decides.

use std::time::{Duration, Instant};

use offshoot_engine::approval::Approval;
use offshoot_engine::change::BinaryForm;
use offshoot_engine::{Error, Result, wire};
use offshoot_protocol::{
    ApprovalListDoc, ApprovalListItemDoc, ApprovalShowDoc, ApprovalState, Document, ExitCode, Text,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::answer::{Answer, MOST_TEXT, plain, start};
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
    let patch = patch(session, &approval)?;
    let mut text = summary(&item);
    if let Some(patch) = &patch {
        text.push_str(&start(&plain(patch), MOST_TEXT));
    }
    let exec = project.envelope(&approval.id)?;
    let shown = ApprovalShowDoc {
        item,
        variables: wire::approval_variables(&approval, exec.as_ref()),
        moved: service.moved(&approval)?.as_ref().map(wire::moved_workspace),
        exec,
        patch: patch.as_deref().map(Text::new),
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

/// What the trial would change.
fn patch(session: &Session, approval: &Approval) -> Result<Option<Vec<u8>>> {
    let (Some(base), Some(trial)) = (approval.base, approval.trial) else { return Ok(None) };
    let vault = session.project.vault();
    // What was decided long ago may have been collected.
    let (Ok(base), Ok(trial)) = (vault.snapshot(&base), vault.snapshot(&trial)) else {
        return Ok(None);
    };
    let service = session.project.engine().changes(vault);
    let Ok(summary) = service.between(&base.root, &trial.root, false) else { return Ok(None) };
    let mut patch = Vec::new();
    service.patch(&summary.changes, BinaryForm::Named, &mut patch)?;
    Ok(Some(patch))
}
