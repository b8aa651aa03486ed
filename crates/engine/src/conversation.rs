//! Conversations with agents: which workspace each belongs to, and what was decided in them.

use std::fs;
use std::path::PathBuf;

use offshoot_protocol::ExitCode;
use offshoot_store::Id;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::project::Project;

const FOLDER: &str = "conversations";
/// Whose ids are longer are not noted.
const LONGEST: usize = 100;

/// Where a conversation takes place.
///
/// ```
/// use offshoot_engine::conversation::Conversation;
///
/// # fn example(workspace: &offshoot_engine::Workspace) {
/// let noted = Conversation { session: "0a1b".to_owned(), workspace: workspace.id().to_string() };
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Conversation {
    /// What the agent calls it.
    pub session: String,
    /// The id of its workspace.
    pub workspace: String,
}

/// What was decided about something that an agent asked for in a conversation.
///
/// ```
/// use offshoot_engine::conversation::Permission;
///
/// let asked = Permission { title: "make".to_owned(), command: None, decision: "allow_once".to_owned(), by: "editor".to_owned(), reason: None, approval: None };
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Permission {
    /// What it asked for, in its words.
    pub title: String,
    /// The command, where it named one.
    pub command: Option<String>,
    /// What became of it.
    pub decision: String,
    /// Who decided: `policy`, `editor` for the person there, or `approvals` for one who did elsewhere.
    pub by: String,
    /// Why.
    pub reason: Option<String>,
    /// The approval that was decided about, where the command was tried.
    pub approval: Option<Id>,
}

impl Project {
    /// The conversation that is known by an id, where one of this project was noted.
    ///
    /// ```
    /// # fn example(project: &offshoot_engine::Project) {
    /// assert!(project.conversation("unheard of").is_none());
    /// # }
    /// ```
    pub fn conversation(&self, id: &str) -> Option<Conversation> {
        serde_json::from_slice(&fs::read(self.note_of(id)?).ok()?).ok()
    }

    /// Notes where a conversation takes place, for when it is taken up again.
    ///
    /// ```
    /// use offshoot_engine::conversation::Conversation;
    ///
    /// # fn example(workspace: &offshoot_engine::Workspace) -> offshoot_engine::Result<()> {
    /// let noted = Conversation { session: "0a1b".to_owned(), workspace: workspace.id().to_string() };
    /// workspace.project().note_conversation("0a1b", &noted)?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn note_conversation(&self, id: &str, conversation: &Conversation) -> Result<()> {
        let Some(note) = self.note_of(id) else { return Ok(()) };
        let failed = |error: std::io::Error| {
            let message = format!("{}: {error}", crate::text::host_path(&note));
            Error::new(ExitCode::Storage, message)
        };
        if let Some(folder) = note.parent() {
            fs::create_dir_all(folder).map_err(failed)?;
        }
        let text = serde_json::to_vec(conversation)
            .map_err(|error| Error::new(ExitCode::Failure, error.to_string()))?;
        let draft = note.with_extension("new");
        fs::write(&draft, text).and_then(|()| fs::rename(&draft, &note)).map_err(failed)
    }

    /// Records in the audit log what was decided about something that an agent asked for.
    ///
    /// ```
    /// # fn example(workspace: &offshoot_engine::Workspace, asked: &offshoot_engine::conversation::Permission) -> offshoot_engine::Result<()> {
    /// workspace.project().record_permission(&workspace.id(), asked)?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn record_permission(&self, workspace: &Id, asked: &Permission) -> Result<()> {
        self.vault().record_event("permission", self.engine().actor(), |tx| {
            tx.scope(*workspace);
            tx.summary(format!("{}: {}", asked.decision, asked.title));
            tx.detail("title", &asked.title);
            if let Some(command) = &asked.command {
                tx.detail("command", command);
            }
            tx.detail("decision", &asked.decision);
            tx.detail("by", &asked.by);
            if let Some(reason) = &asked.reason {
                tx.detail("reason", reason);
            }
            if let Some(approval) = &asked.approval {
                tx.detail("approval", approval.to_string());
            }
            Ok(())
        })?;
        Ok(())
    }

    /// The file of a conversation. Its id is an agent's, so no byte of it is taken as it is.
    fn note_of(&self, id: &str) -> Option<PathBuf> {
        let name: String = id.bytes().map(|byte| format!("{byte:02x}")).collect();
        let fits = !id.is_empty() && id.len() <= LONGEST;
        let folder =
            self.engine().registry().dir().join(FOLDER).join(self.vault().id().to_string());
        fits.then(|| folder.join(format!("{name}.json")))
    }
}
