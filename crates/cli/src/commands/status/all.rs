//! `offshoot status --all`: what every workspace has changed so far.

use offshoot_engine::live::{WorkSoFar, overlap_groups, overlap_way_out};
use offshoot_engine::vault::Vault;
use offshoot_engine::wire;
use offshoot_protocol::{Hint, StatusAllDoc, WorkSoFarDoc};

use crate::commands::ps::{elapsed, now_ms};
use crate::context::Context;
use crate::error::Result;
use crate::invocation::{next, said};
use crate::render::{self, DIM, NAME, WARN, overlap, paint, table};

pub(super) fn run(context: &Context, vault: &Vault, name: &str) -> Result<()> {
    context.engine.offer_left(vault, None);
    let (all, overlaps) = context.engine.work_so_far(vault)?;
    let document = wire::status_all(name, &all, &overlaps, now_ms());
    context.output.data(document, |document| {
        if all.is_empty() {
            let next = next(Hint::command("offshoot workspace create NAME"));
            return format!("vault {} has no workspace yet; `{next}` forks one\n", name);
        }
        let mut text = listed(&all, document);
        for group in overlap_groups(&overlaps) {
            text.push_str(&format!("{}\n", paint(WARN, &overlap::heading(&group))));
            text.push_str(&overlap::lines(&group));
            text.push_str(&format!("  {}\n", paint(DIM, &said(overlap_way_out(&group)))));
        }
        text
    })
}

fn listed(all: &[WorkSoFar], document: &StatusAllDoc) -> String {
    let rows = all.iter().zip(&document.workspaces).map(|(work, document)| {
        vec![
            paint(NAME, &work.workspace.name),
            document.added.to_string(),
            document.modified.to_string(),
            document.deleted.to_string(),
            running(document),
        ]
    });
    table(&["WORKSPACE", "ADDED", "MODIFIED", "DELETED", "RUNNING"], rows.collect())
}

/// What runs in a workspace, and for how long.
fn running(document: &WorkSoFarDoc) -> String {
    let Some(first) = document.running.first() else { return "-".to_owned() };
    let what = first.preset.as_ref().unwrap_or(&first.command);
    let more = match document.running.len() {
        1 => String::new(),
        count => format!(" and {} more", count - 1),
    };
    format!("{} ({}){more}", render::line(what), elapsed(first.running_ms))
}
