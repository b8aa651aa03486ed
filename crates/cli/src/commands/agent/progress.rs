//! What people see while the agent works.

use std::sync::{Arc, Mutex, PoisonError};

use offshoot_coder::{AgentEvent, AgentProgress, readable};
use offshoot_provider::{AnswerEvent, Block};

use crate::output::{self, Output};
use crate::render::{BAD, DIM, line, paint};

/// What is shown of the arguments of a call, in letters.
const LONGEST: usize = 100;

/// Shows what happens: the words of the model on standard output, its calls on standard error.
pub(super) struct Shown {
    form: Shape,
    words: Teller,
    asides: Teller,
    state: Mutex<Seen>,
}

/// Prints a text.
type Teller = Box<dyn Fn(&str) + Send + Sync>;

/// In which form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// For people.
    Text,
    /// An event in each line.
    Lines,
    /// Not at all.
    Nothing,
}

#[derive(Debug, Default)]
struct Seen {
    /// The last text did not end its line.
    open: bool,
}

impl Shown {
    pub(super) fn new(output: Arc<Output>, form: Shape) -> Self {
        // Who does not read any more is no reason to stop: the session has it.
        let words = move |text: &str| drop(output.text(text));
        Self { form, ..Self::text(words, output::eprint) }
    }

    /// For people, in these places: what the model says, which may end within a line, and lines of our own.
    pub(super) fn text(
        words: impl Fn(&str) + Send + Sync + 'static,
        asides: impl Fn(&str) + Send + Sync + 'static,
    ) -> Self {
        let (words, asides) = (Box::new(words), Box::new(asides));
        Self { form: Shape::Text, words, asides, state: Mutex::default() }
    }

    pub(super) fn tell(&self, progress: &AgentProgress) {
        match (self.form, progress) {
            (Shape::Lines, AgentProgress::Event(record)) => {
                drop(output::print_json(record));
            }
            (Shape::Text, AgentProgress::Event(record)) => self.event(record.event()),
            (Shape::Text, AgentProgress::Answer(event)) => self.answer(event),
            _ => {}
        }
    }

    fn answer(&self, event: &AnswerEvent) {
        let mut seen = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        match event {
            AnswerEvent::TextDelta { text, .. } => {
                seen.open = !text.ends_with('\n');
                (self.words)(&readable(text));
            }
            AnswerEvent::BlockEnd { .. } if seen.open => {
                seen.open = false;
                (self.words)("\n");
            }
            AnswerEvent::Restarted(restarted) => {
                if std::mem::take(&mut seen.open) {
                    (self.words)("\n");
                }
                let why = format!(
                    "the answer broke off ({}) and begins anew\n",
                    line(&restarted.why.to_string())
                );
                (self.asides)(&paint(DIM, &why));
            }
            _ => {}
        }
    }

    fn event(&self, event: &AgentEvent) {
        match event {
            AgentEvent::Answered { message, .. } => {
                for call in message.calls() {
                    let told =
                        shortened(&format!("> {} {}", line(&call.name), line(&call.arguments)));
                    (self.asides)(&format!("{}\n", paint(DIM, &told)));
                }
            }
            AgentEvent::CallEnded { report, .. } if report.failed => {
                let text = report.blocks.iter().filter_map(Block::as_text).next();
                let first = text.unwrap_or_default().lines().next().unwrap_or_default();
                (self.asides)(&format!("{}\n", paint(BAD, &shortened(&line(first)))));
            }
            _ => {}
        }
    }
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}..", &text[..end]),
        None => text.to_owned(),
    }
}
