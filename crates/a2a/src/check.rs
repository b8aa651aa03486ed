//! What a message of a client has to be.

use crate::fault::{A2aCode, A2aFault};
use crate::limits::A2aLimits;
use crate::wire::{A2aContent, A2aMessage, A2aPart, A2aRole};

/// Names of tasks, contexts, messages and artifacts are no longer than this.
pub(crate) const LONGEST_NAME: usize = 256;
/// Extensions and other tasks that a message names.
const MOST_NAMED: usize = 64;

/// Checks a message that came from a client.
pub(crate) fn message(
    message: &A2aMessage,
    modes: &[String],
    limits: &A2aLimits,
) -> Result<(), A2aFault> {
    name("message.messageId", &message.message_id)?;
    for (field, id) in
        [("message.contextId", &message.context_id), ("message.taskId", &message.task_id)]
    {
        if let Some(id) = id {
            name(field, id)?;
        }
    }
    if message.role != A2aRole::User {
        return Err(A2aFault::params("message.role: a client sends ROLE_USER"));
    }
    if message.extensions.len() > MOST_NAMED || message.reference_task_ids.len() > MOST_NAMED {
        let what = format!("message: more than {MOST_NAMED} extensions or referenced tasks");
        return Err(A2aFault::params(what));
    }
    for named in message.extensions.iter().chain(&message.reference_task_ids) {
        name("message: an extension or a referenced task", named)?;
    }
    parts("message.parts", &message.parts, limits)?;
    message.parts.iter().try_for_each(|part| reads(part, modes))
}

/// Checks how many parts there are.
pub(crate) fn parts(field: &str, parts: &[A2aPart], limits: &A2aLimits) -> Result<(), A2aFault> {
    match parts.len() {
        0 => Err(A2aFault::params(format!("{field}: at least one part is needed"))),
        many if many > limits.parts => {
            Err(A2aFault::params(format!("{field}: more than {} parts", limits.parts)))
        }
        _ => Ok(()),
    }
}

/// Checks a name that a peer gives to something.
pub(crate) fn name(field: &str, name: &str) -> Result<(), A2aFault> {
    if name.is_empty() || name.len() > LONGEST_NAME || name.chars().any(char::is_control) {
        let what =
            format!("{field}: a name has 1 to {LONGEST_NAME} bytes and no control characters");
        return Err(A2aFault::params(what));
    }
    Ok(())
}

/// Whether the agent reads a part by its media type. A part that names none is taken for what its content is.
fn reads(part: &A2aPart, modes: &[String]) -> Result<(), A2aFault> {
    let kind = match (&part.media_type, &part.content) {
        (Some(named), _) => named.split(';').next().unwrap_or_default().trim(),
        (None, A2aContent::Text(_)) => "text/plain",
        (None, A2aContent::Data(_)) => "application/json",
        (None, A2aContent::Raw(_) | A2aContent::Url(_)) => "application/octet-stream",
    };
    if modes.iter().any(|mode| covers(mode, kind)) {
        return Ok(());
    }
    let message = format!("the agent reads {}", modes.join(", "));
    Err(A2aFault::new(A2aCode::ContentTypeNotSupported, message).with("mediaType", kind))
}

fn covers(mode: &str, kind: &str) -> bool {
    if mode == "*/*" || mode.eq_ignore_ascii_case(kind) {
        return true;
    }
    let (Some(family), Some((of, _))) = (mode.strip_suffix("/*"), kind.split_once('/')) else {
        return false;
    };
    family.eq_ignore_ascii_case(of)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_checked() {
        let limits = A2aLimits { parts: 2, ..A2aLimits::default() };
        let modes = ["text/plain".to_owned(), "image/*".to_owned()];
        let ok = |one: &A2aMessage| message(one, &modes, &limits).map_err(|fault| fault.code);
        let good = A2aMessage::user(vec![A2aPart::text("a")]);
        assert_eq!(ok(&good), Ok(()));
        let part = |media_type: &str| {
            let part = A2aPart { media_type: Some(media_type.to_owned()), ..A2aPart::raw("a") };
            A2aMessage::user(vec![part])
        };
        assert_eq!(ok(&part("image/png")), Ok(()));
        assert_eq!(ok(&part("Text/Plain; charset=utf-8")), Ok(()));
        for wrong in
            [part("video/mp4"), part("image"), part(""), A2aMessage::user(vec![A2aPart::raw("a")])]
        {
            assert_eq!(ok(&wrong), Err(A2aCode::ContentTypeNotSupported));
        }
        let long = "x".repeat(LONGEST_NAME + 1);
        for wrong in [
            A2aMessage::user(Vec::new()),
            A2aMessage::user(vec![A2aPart::text("a"); 3]),
            A2aMessage::agent(vec![A2aPart::text("a")]),
            A2aMessage { message_id: String::new(), ..good.clone() },
            A2aMessage { message_id: "a\nb".to_owned(), ..good.clone() },
            A2aMessage { context_id: Some(long.clone()), ..good.clone() },
            A2aMessage { task_id: Some(String::new()), ..good.clone() },
            A2aMessage { reference_task_ids: vec![long], ..good.clone() },
            A2aMessage { extensions: vec!["a".to_owned(); MOST_NAMED + 1], ..good.clone() },
        ] {
            assert_eq!(ok(&wrong), Err(A2aCode::InvalidParams), "{wrong:?}");
        }
    }
}
