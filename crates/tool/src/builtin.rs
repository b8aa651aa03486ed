//! The tools that every agent has.

mod ask;
mod edit;
mod fetch;
mod files;
mod history;
mod notes;
mod result;
mod run;
mod search;

use std::sync::Arc;

use crate::tool::Tool;

/// All of them.
pub(crate) fn all() -> Vec<Arc<dyn Tool>> {
    vec![
        Arc::new(files::ReadFile),
        Arc::new(files::ListFiles),
        Arc::new(files::FindFiles),
        Arc::new(search::Grep),
        Arc::new(edit::WriteFile),
        Arc::new(edit::EditFile),
        Arc::new(history::Diff),
        Arc::new(history::Checkpoint),
        Arc::new(history::Undo),
        Arc::new(run::RunCommand),
        Arc::new(run::PollCommand),
        Arc::new(run::EndCommand),
        Arc::new(fetch::FetchUrl),
        Arc::new(result::ReadResult),
        Arc::new(notes::Notes),
        Arc::new(ask::AskUser),
    ]
}
