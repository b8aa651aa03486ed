//! Questions of tasks that wait for an answer.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What a task asks, and how long it waits.
///
/// ```
/// use offshoot_kernel::TaskQuestion;
///
/// let question = TaskQuestion::new("deploy", "Deploy to production?")
///     .fallback(60_000, serde_json::json!(false));
/// assert_eq!(question.key, "deploy");
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TaskQuestion {
    /// Names it within its task.
    pub key: String,
    /// What it says.
    pub text: String,
    /// More about it, for whoever shows it.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub details: Value,
    /// What counts as the answer if there is none in time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fallback: Option<QuestionFallback>,
}

/// An answer for want of one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct QuestionFallback {
    /// How long to wait for an answer.
    pub after_ms: u64,
    /// What counts then.
    pub answer: Value,
}

impl TaskQuestion {
    /// A question that waits as long as it takes.
    pub fn new(key: impl Into<String>, text: impl Into<String>) -> Self {
        Self { key: key.into(), text: text.into(), details: Value::Null, fallback: None }
    }

    /// With an answer that counts after a time.
    #[must_use]
    pub fn fallback(self, after_ms: u64, answer: Value) -> Self {
        Self { fallback: Some(QuestionFallback { after_ms, answer }), ..self }
    }
}

/// A question that was asked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AskedQuestion {
    /// What was asked.
    pub question: TaskQuestion,
    /// When, by wall time.
    pub asked_ms: u64,
    /// The answer, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<Value>,
    /// Who answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<AnsweredBy>,
}

impl AskedQuestion {
    /// When the fallback counts.
    pub(crate) fn falls_back_at(&self) -> Option<u64> {
        let fallback = self.question.fallback.as_ref().filter(|_| self.answer.is_none())?;
        Some(self.asked_ms.saturating_add(fallback.after_ms))
    }
}

/// Where an answer came from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnsweredBy {
    /// Somebody gave it.
    Person(String),
    /// The time was over.
    Fallback,
}
