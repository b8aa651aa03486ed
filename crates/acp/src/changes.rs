//! What an agent changed, as the editor shows it.

use std::path::Path;
use std::sync::Arc;

use offshoot_engine::live::LiveChange;
use serde_json::{Value, json};

use crate::hub::Hub;
use crate::message::text;
use crate::session::Session;

/// Longer texts are named alone.
pub(crate) const LONGEST: u64 = 64 << 10;
/// So many files are shown with their lines, and so many bytes of them together.
const MOST_FILES: usize = 20;
const MOST_BYTES: usize = 256 << 10;
/// So many others are named.
const MOST_NAMES: usize = 50;

/// Shows what the agent has changed, where that is news.
pub(crate) async fn show(hub: &Arc<Hub>, session: &Arc<Session>, turn: u64) {
    let link = Arc::clone(&session.link);
    if link.is_over() {
        return;
    }
    let found = tokio::task::spawn_blocking(move || {
        link.workspace.project().live_changes(&link.exec.id(), LONGEST)
    });
    let changes = match found.await {
        Ok(Ok(changes)) => changes,
        Ok(Err(error)) => {
            return (hub.log)(&format!("offshoot: what changed cannot be shown: {error}"));
        }
        Err(_) => return,
    };
    if !session.is_news(&changes) || changes.is_empty() {
        return;
    }
    let top = session.link.workspace.project().folder().ok().flatten().unwrap_or_default();
    let update = update(&session.link.name, turn, &top, &changes);
    hub.tell("session/update", json!({ "sessionId": session.ours, "update": update }));
}

/// Changes as an editor shows them: a diff for each text, as far as there is room, and the names of the others.
pub(crate) fn blocks(top: &Path, changes: &[LiveChange]) -> (Vec<Value>, Vec<String>) {
    let (mut content, mut named, mut bytes) = (Vec::new(), Vec::new(), 0);
    for change in changes {
        let size = |side: &Option<String>| side.as_ref().map_or(0, String::len);
        let takes = size(&change.before) + size(&change.after);
        if !change.is_text || content.len() == MOST_FILES || bytes + takes > MOST_BYTES {
            named.push(format!("{} {}", change.kind.word(), change.path));
            continue;
        }
        bytes += takes;
        content.push(json!({
            "type": "diff",
            "path": place(top, &change.path),
            "oldText": change.before,
            "newText": change.after.as_deref().unwrap_or_default(),
        }));
    }
    let more = named.len().saturating_sub(MOST_NAMES);
    named.truncate(MOST_NAMES);
    if more > 0 {
        named.push(format!("and {more} more"));
    }
    (content, named)
}

/// Where the editor has a file.
fn place(top: &Path, path: &str) -> String {
    top.join(path.trim_start_matches('/')).display().to_string()
}

/// A tool call that has all of it.
fn update(workspace: &str, turn: u64, top: &Path, changes: &[LiveChange]) -> Value {
    let (mut content, mut named) = blocks(top, changes);
    named.push(format!(
        "Your folder is unchanged. `/offshoot-save` makes a workspace of this to review and commit; once the session is closed, `offshoot review -w {workspace}` and `offshoot commit -w {workspace}` do."
    ));
    content.push(text(&named.join("\n")));
    let locations: Vec<Value> = changes
        .iter()
        .take(MOST_FILES)
        .map(|change| json!({ "path": place(top, &change.path) }))
        .collect();
    let (count, files) = (changes.len(), if changes.len() == 1 { "file" } else { "files" });
    json!({
        "sessionUpdate": "tool_call",
        "toolCallId": format!("offshoot-changes-{turn}"),
        "title": format!("{count} {files} changed in workspace {workspace}"),
        "kind": "edit",
        "status": "completed",
        "content": content,
        "locations": locations,
    })
}

#[cfg(test)]
mod tests {
    use offshoot_engine::change::ChangeKind;

    use super::*;

    #[test]
    fn what_is_shown_has_a_bound() {
        let change = |number: usize| LiveChange {
            path: format!("/f{number}"),
            kind: ChangeKind::Modified,
            before: Some("a\n".to_owned()),
            after: Some("b\n".to_owned()),
            is_text: number != 1,
        };
        let changes: Vec<LiveChange> = (0..100).map(change).collect();
        let shown = update("fix", 3, Path::new("/p"), &changes);
        let content = shown["content"].as_array().expect("a list");
        assert_eq!(content.len(), MOST_FILES + 1);
        assert_eq!(content[0]["path"], "/p/f0");
        let text = content[MOST_FILES]["content"]["text"].as_str().expect("a text");
        assert!(text.starts_with("modified /f1\nmodified /f21\n"), "{text}");
        assert!(text.contains("and 30 more\n"), "{text}");
    }
}
