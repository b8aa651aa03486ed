//! Bringing what a workspace changed into the folder.

use offshoot_engine::commit::{Commit, CommitEvent, Pattern};
use offshoot_engine::report::changes;
use offshoot_engine::{Error, Result, Workspace, wire};
use offshoot_protocol::{CommitDoc, ExitCode, Hint};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::answer::Answer;
use crate::arguments::Arguments;
use crate::consent::{Consent, Outcome, Proposal};
use crate::session::Session;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CommitArgs {
    /// What the commit is about.
    message: Option<String>,
    /// Commit only these paths, with all below them, or globs.
    #[serde(default)]
    only: Vec<String>,
    /// Leave these paths, or globs, in the workspace.
    #[serde(default)]
    exclude: Vec<String>,
    /// Change nothing, and say what would be committed.
    #[serde(default)]
    dry_run: bool,
}

pub(super) fn commit(
    session: &Session,
    arguments: &Arguments,
    consent: Consent,
) -> Result<Outcome> {
    let args: CommitArgs = arguments.parse()?;
    let Some(workspace) = session.workspace(arguments.workspace())? else {
        return Err(Error::new(ExitCode::NotFound, "there is no workspace yet: nothing to commit"));
    };
    let asked = |dry_run| -> Result<Commit> {
        let patterns = |texts: &[String]| -> Result<Vec<Pattern>> {
            texts.iter().map(|text| session.pattern(text)).collect()
        };
        Ok(Commit::new(args.message.clone().unwrap_or_default())
            .only(patterns(&args.only)?)
            .exclude(patterns(&args.exclude)?)
            .dry_run(dry_run))
    };
    let state = workspace.record()?.state.head.to_string();
    let mut agreed_to = None;
    let may = match consent {
        Consent::Given => true,
        Consent::To(agreed) if agreed.state == state => {
            // It is recorded as the word of the person who gave it.
            let project = session.project.as_elicited(&session.client)?;
            agreed_to = Some(project.workspace(&workspace.name()?)?);
            true
        }
        Consent::To(_) | Consent::Ask | Consent::None if args.dry_run => true,
        Consent::To(_) | Consent::Ask => {
            let planned = perform(&workspace, &asked(true)?)?;
            if planned.changes.is_empty() || !planned.conflicts.is_empty() {
                // Nothing would be done, so nobody is asked.
                return Ok(Outcome::Done(answer(session, planned)));
            }
            let message = question(session, &planned);
            return Ok(Outcome::Question { message, proposal: Proposal { state } });
        }
        Consent::None => false,
    };
    if !may {
        let name = workspace.name()?;
        let hint = Hint::from("the user brings the changes into the folder with: ")
            .then("offshoot commit -w")
            .arg(&name)
            .text("; or starts this server with --allow-commit");
        let message = "only the user commits to their folder";
        return Err(Error::new(ExitCode::Denied, message).hint(hint));
    }
    let workspace = agreed_to.as_ref().unwrap_or(&workspace);
    let document = perform(workspace, &asked(args.dry_run)?)?;
    Ok(Outcome::Done(answer(session, document)))
}

fn perform(workspace: &Workspace, commit: &Commit) -> Result<CommitDoc> {
    let project = workspace.project();
    let (engine, vault) = (project.engine(), project.vault());
    let told = |event: &CommitEvent| engine.tell_event(event);
    let outcome = engine.commit(vault, &workspace.record()?, commit, &told)?;
    let end = &outcome.end;
    Ok(CommitDoc {
        repositories: wire::repositories(&end.git),
        workspace_repositories: wire::repositories(&end.workspace_git),
        ways_on: wire::commit_ways_on(&outcome.brought),
        ..wire::commit(&outcome.brought)
    })
}

fn question(session: &Session, planned: &CommitDoc) -> String {
    let message = match planned.message.is_empty() {
        true => String::new(),
        false => format!(" ({})", offshoot_engine::text::line(&planned.message)),
    };
    format!(
        "{} wants to bring the changes of workspace {} into your folder{message}:\n\n{}\nAccept to commit, decline to leave the folder as it is. Details: offshoot diff -w {}",
        session.client,
        planned.workspace,
        changes(&planned.changes),
        planned.workspace,
    )
}

fn answer(session: &Session, document: CommitDoc) -> Answer {
    let mut text = match (&*document.changes, &*document.conflicts) {
        (_, [_, ..]) => format!(
            "{} conflicts with the user's folder: nothing was committed",
            document.conflicts.len()
        ),
        ([], []) => "nothing to commit".to_owned(),
        (all, []) => {
            let what = if document.dry_run { "would commit" } else { "committed" };
            format!("{what}:\n{}", changes(all))
        }
    };
    if !document.held.is_empty() {
        let held = document.held.iter().map(|held| held.path.as_str());
        let held = held.take(10).collect::<Vec<_>>().join(", ");
        text = format!("{}\nheld back: {held}", text.trim_end());
    }
    let failed = !document.conflicts.is_empty();
    Answer::framed(document, session.notes(), text).failed(failed)
}
