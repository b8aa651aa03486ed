//! Asking a person.

use offshoot_tool_macros::tool;

use crate::error::ToolError;
use crate::output::{ToolOutput, UserQuestion};

/// More choices are no help.
const MOST_CHOICES: usize = 10;

/// Ask the person you work for, when only they can decide. The answer is the result.
#[tool(effects = "ask", capability = "ask", crate = "crate")]
pub(crate) async fn ask_user(
    /// The question, whole and by itself: they may not have followed your work.
    question: String,
    /// Answers to choose from. Leave them out for any answer.
    #[default]
    choices: Vec<String>,
) -> Result<ToolOutput, ToolError> {
    if question.trim().is_empty() {
        return Err(ToolError::refused("`question` is empty"));
    }
    if choices.len() > MOST_CHOICES {
        return Err(ToolError::refused(format!("give at most {MOST_CHOICES} choices")));
    }
    Ok(ToolOutput::AskUser(UserQuestion { question, choices }))
}
