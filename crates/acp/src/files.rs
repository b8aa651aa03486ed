//! Files that an agent asks the editor for: answered from its workspace.

use std::path::PathBuf;
use std::sync::Arc;

use agent_client_protocol::Error;
use agent_client_protocol::v1::Responder;
use serde_json::{Value, json};
use tokio::task::{spawn_blocking, spawn_local};

use crate::fault::{fault, of_engine, refused};
use crate::link::Link;
use crate::message::respond;

/// Answers `fs/read_text_file`.
pub(crate) fn read(link: &Arc<Link>, params: Value, responder: Responder) {
    in_workspace(link, responder, move |link| {
        let bytes = link.workspace.project().live_read(&link.exec.id(), &path(&params)?);
        let bytes = bytes.map_err(|error| of_engine(&error))?;
        let text = String::from_utf8(bytes).map_err(|_| fault("the file is not UTF-8"))?;
        let number = |name: &str| params.get(name).and_then(Value::as_u64);
        Ok(json!({ "content": part(&text, number("line"), number("limit")) }))
    });
}

/// Answers `fs/write_text_file`.
pub(crate) fn write(link: &Arc<Link>, params: Value, responder: Responder) {
    in_workspace(link, responder, move |link| {
        let content = params.get("content").and_then(Value::as_str);
        let content = content.ok_or_else(|| refused("content is missing"))?.as_bytes();
        let project = link.workspace.project();
        let written = project.live_write(&link.exec.id(), &path(&params)?, content);
        written.map_err(|error| of_engine(&error))?;
        Ok(json!({}))
    });
}

fn in_workspace(
    link: &Arc<Link>,
    responder: Responder,
    work: impl FnOnce(&Link) -> Result<Value, Error> + Send + 'static,
) {
    let link = Arc::clone(link);
    spawn_local(async move {
        let done = spawn_blocking(move || work(&link)).await;
        respond(responder, done.unwrap_or_else(|error| Err(fault(error.to_string()))));
    });
}

fn path(params: &Value) -> Result<PathBuf, Error> {
    let path = params.get("path").and_then(Value::as_str).map(PathBuf::from);
    path.filter(|path| path.is_absolute()).ok_or_else(|| refused("path has to be absolute"))
}

/// So many lines of a text, from this one on; the first is 1.
fn part(text: &str, line: Option<u64>, limit: Option<u64>) -> String {
    let place = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    let before = line.map_or(0, |line| place(line.saturating_sub(1)));
    text.split_inclusive('\n').skip(before).take(limit.map_or(usize::MAX, place)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_a_text_is_whole_lines() {
        let text = "one\ntwo\nthree";
        for (line, limit, expected) in [
            (None, None, text),
            (Some(2), None, "two\nthree"),
            (Some(0), Some(1), "one\n"),
            (Some(2), Some(1), "two\n"),
            (Some(9), Some(1), ""),
        ] {
            assert_eq!(part(text, line, limit), expected);
        }
    }
}
