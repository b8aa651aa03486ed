//! `offshoot sessions replay`: whether the agent would decide the same again.

use offshoot_coder::{ReplayError, replay};
use offshoot_engine::vault::Vault;
use offshoot_protocol::{SessionReplayDifferenceDoc, SessionReplayDoc};

use super::which::{NameArgs, find, records};
use crate::context::Context;
use crate::error::Result;
use crate::render::{self, NAME, paint};

pub(super) fn run(args: &NameArgs, context: &Context, vault: &Vault) -> Result<()> {
    let session = find(args, context, vault)?;
    let records = records(&session, vault)?;
    let difference = match replay(&records) {
        Ok(_) => None,
        Err(error) => {
            let (number, made) = match &error {
                ReplayError::Differs { number, made, .. } => (*number, made.as_deref()),
                ReplayError::Impossible { number, .. } => (*number, None),
            };
            let made = made.and_then(|event| serde_json::to_value(event).ok());
            Some(SessionReplayDifferenceDoc { number, message: error.to_string(), made })
        }
    };
    let document = SessionReplayDoc {
        id: session.record.id.to_string(),
        name: session.record.name,
        events: records.len() as u64,
        difference,
    };
    context.output.checked(document, |document| {
        let name = paint(NAME, &document.name);
        let events = render::count(document.events, "event");
        match &document.difference {
            None => format!("session {name}: {events}, each as the agent makes it now\n"),
            Some(difference) => format!("session {name}: {}\n", difference.message),
        }
    })
}
