//! What the agent asks its user.

use offshoot_coder::{PendingQuestion, UserDecision, readable};

use crate::render::{NAME, line, paint};

/// What somebody answered.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Answer {
    Decided(UserDecision),
    /// They want to decide later.
    Later,
    /// They want to know what can be answered.
    Explain,
    /// It is none.
    Unclear,
}

/// The question for people, without an end of its last line.
pub(super) fn text(question: &PendingQuestion) -> String {
    let mut text = format!("{} {}", paint(NAME, "?"), readable(question.text.trim_end()));
    for (number, choice) in (1..).zip(&question.choices) {
        text.push_str(&format!("\n  {number}  {}", line(choice)));
    }
    let keys = match (question.is_approval, question.choices.is_empty()) {
        (true, _) => " [y/n/later/?]",
        (false, false) => " [a number, or other words]",
        (false, true) => "",
    };
    text + keys
}

/// What can be answered, and what comes of it.
pub(super) fn answers(question: &PendingQuestion) -> &'static str {
    match (question.is_approval, question.choices.is_empty()) {
        (true, _) => {
            "y            allow it, this once\n\
             n [REASON]   deny it; the agent is told, with the reason\n\
             later        decide later: `offshoot approvals` lists it"
        }
        (false, false) => "a number chooses; any other words are the answer that the agent is told",
        (false, true) => "what you type is the answer that the agent is told",
    }
}

/// What is said to somebody whose answer is none.
pub(super) const UNCLEAR: &str = "answer y, n or later; ? explains";

/// Those that are answered in words, not allowed or denied.
pub(super) fn to_answer(questions: &[PendingQuestion]) -> Vec<&PendingQuestion> {
    questions.iter().filter(|question| !question.is_approval).collect()
}

/// What an answer says.
pub(super) fn answer(question: &PendingQuestion, answer: &str) -> Answer {
    let answer = answer.trim();
    match answer {
        "" => return Answer::Later,
        "?" => return Answer::Explain,
        _ if question.is_approval => {}
        _ => return Answer::Decided(in_words(question, answer)),
    }
    let (word, why) = answer.split_once([' ', ',', ':']).unwrap_or((answer, ""));
    match word.to_lowercase().as_str() {
        "y" | "yes" => Answer::Decided(UserDecision::Allow),
        "n" | "no" => {
            let why = Some(why.trim().to_owned()).filter(|why| !why.is_empty());
            Answer::Decided(UserDecision::Deny { why })
        }
        "l" | "later" => Answer::Later,
        _ => Answer::Unclear,
    }
}

/// The answer to a question that is answered in words, or by the number of a choice.
pub(super) fn in_words(question: &PendingQuestion, answer: &str) -> UserDecision {
    let answer = answer.trim();
    let number = answer.parse().ok().and_then(|number: usize| number.checked_sub(1));
    let choice = number.and_then(|at| question.choices.get(at));
    UserDecision::Answer { text: choice.map_or(answer, String::as_str).to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(is_approval: bool, choices: &[&str]) -> PendingQuestion {
        PendingQuestion {
            key: "1/1".into(),
            tool: "run_command".to_owned(),
            arguments: "{}".to_owned(),
            text: "Really?".to_owned(),
            choices: choices.iter().map(|choice| (*choice).to_owned()).collect(),
            is_approval,
        }
    }

    #[test]
    fn approvals_are_allowed_denied_or_left() {
        let approval = question(true, &[]);
        let decided = |text: &str| answer(&approval, text);
        assert_eq!(decided(" Yes\n"), Answer::Decided(UserDecision::Allow));
        assert_eq!(decided("n"), Answer::Decided(UserDecision::Deny { why: None }));
        let why = Some("not that file".to_owned());
        let denied = Answer::Decided(UserDecision::Deny { why });
        assert_eq!(decided("no, not that file"), denied);
        for later in ["", "l", "Later\n"] {
            assert_eq!(decided(later), Answer::Later, "{later}");
        }
        assert_eq!(decided("?"), Answer::Explain);
        for unclear in ["yesterday", "never", "banana", "what is it?"] {
            assert_eq!(decided(unclear), Answer::Unclear, "{unclear}");
        }
    }

    #[test]
    fn questions_are_answered_by_number_or_in_words() {
        let choices = question(false, &["red", "blue"]);
        let text = |text: &str| Answer::Decided(UserDecision::Answer { text: text.to_owned() });
        assert_eq!(answer(&choices, "2\n"), text("blue"));
        assert_eq!(answer(&choices, "3"), text("3"));
        assert_eq!(answer(&choices, "0"), text("0"));
        assert_eq!(answer(&choices, "green"), text("green"));
        assert_eq!(answer(&choices, "later"), text("later"));
        assert_eq!(answer(&choices, " "), Answer::Later);
        assert_eq!(answer(&choices, "?"), Answer::Explain);
    }

    #[test]
    fn what_a_question_says_steers_no_terminal() {
        let mut asked = question(true, &[]);
        asked.text = "Run it?\n\u{1b}]0;x\u{7}\u{202e}\n".to_owned();
        let shown = text(&asked);
        assert!(shown.ends_with("Run it?\n^[]0;x^G<202e> [y/n/later/?]"), "{shown:?}");
    }
}
