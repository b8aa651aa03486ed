//! What the machine tells the model.

use crate::call::EndedBy;
use crate::event::NoteReason;

/// What is wrong with the answer, and what to do instead.
pub(super) fn note(about: NoteReason) -> String {
    let text = match about {
        NoteReason::Empty => {
            "Your answer was empty. Call a tool, or say what the result is if you are done."
        }
        NoteReason::Cut => "Your answer was cut because it was too long. Go on where it ends.",
        NoteReason::TooLong => {
            "Your answer was stopped because it was too long, and is not kept. Answer in fewer words, and write long texts with tools."
        }
        // Whoever knows of it has the words.
        NoteReason::Outside => "",
        NoteReason::Repeats => {
            "You made the same call several times, with the same result. It will not change. Try something else, or say what keeps you from going on."
        }
    };
    text.to_owned()
}

/// What the result of a call is that did not end by itself.
pub(super) fn unfinished(by: EndedBy, was_started: bool) -> String {
    let text = match (by, was_started) {
        (EndedBy::Cancel, true) => {
            "The user cancelled while this call ran. It may have taken effect, in whole or in part."
        }
        (EndedBy::Cancel, false) => "The user cancelled before this call ran.",
        (EndedBy::Limit, _) => {
            "This call was stopped because the time of the conversation was over. It may have taken effect, in whole or in part."
        }
        (EndedBy::Crash, true) => {
            "The program was interrupted while this call ran, and it is not known whether it took effect. Look before you make it again."
        }
        (EndedBy::Crash, false) => {
            "The program was interrupted before this call ran. Its arguments held a credential, which is not kept. Make the call again if it is still needed."
        }
        _ => "This call did not run.",
    };
    text.to_owned()
}
