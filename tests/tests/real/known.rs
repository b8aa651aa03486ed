//! What is known not to work yet.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// Runs a test that fails today, with a message that has `words` in it, for a reason that is known.
/// Once it passes the mark must go, so that what works keeps working.
pub(crate) fn fails_today(why: &str, words: &str, test: impl FnOnce()) {
    let Err(panic) = catch_unwind(AssertUnwindSafe(test)) else {
        panic!("this works now and is to be an ordinary test; it was known that {why}");
    };
    if !panic.downcast_ref::<String>().is_some_and(|message| message.contains(words)) {
        // It fails, but for another reason.
        resume_unwind(panic);
    }
}
