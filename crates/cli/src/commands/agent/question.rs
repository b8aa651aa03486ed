//! What the agent asks its user.

use offshoot_coder::{PendingQuestion, UserDecision};

use crate::render::{NAME, line, paint};

/// The question for people, without an end of its last line.
pub(super) fn text(question: &PendingQuestion) -> String {
    let mut text = format!("{} {}", paint(NAME, "?"), question.text.trim_end());
    for (number, choice) in (1..).zip(&question.choices) {
        text.push_str(&format!("\n  {number}  {}", line(choice)));
    }
    let keys = match (question.is_approval, question.choices.is_empty()) {
        (true, _) => " [y/n/later]",
        (false, false) => " [a number, or other words]",
        (false, true) => "",
    };
    text + keys
}

/// Those that are answered in words, not allowed or denied.
pub(super) fn to_answer(questions: &[PendingQuestion]) -> Vec<&PendingQuestion> {
    questions.iter().filter(|question| !question.is_approval).collect()
}

/// What an answer says; nothing if the user wants to decide later.
pub(super) fn decision(question: &PendingQuestion, answer: &str) -> Option<UserDecision> {
    let answer = answer.trim();
    if !question.is_approval {
        let number = answer.parse().ok().and_then(|number: usize| number.checked_sub(1));
        let choice = number.and_then(|at| question.choices.get(at));
        let text = choice.map_or(answer, String::as_str).to_owned();
        return (!text.is_empty()).then_some(UserDecision::Answer { text });
    }
    let (word, why) = answer.split_once([' ', ',', ':']).unwrap_or((answer, ""));
    match word.to_lowercase().as_str() {
        "y" | "yes" => Some(UserDecision::Allow),
        "n" | "no" => {
            let why = Some(why.trim().to_owned()).filter(|why| !why.is_empty());
            Some(UserDecision::Deny { why })
        }
        _ => None,
    }
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
        assert_eq!(decision(&approval, " Yes\n"), Some(UserDecision::Allow));
        assert_eq!(decision(&approval, "n"), Some(UserDecision::Deny { why: None }));
        let why = Some("not that file".to_owned());
        assert_eq!(decision(&approval, "no, not that file"), Some(UserDecision::Deny { why }));
        for later in ["", "later", "yesterday", "never"] {
            assert_eq!(decision(&approval, later), None, "{later}");
        }
    }

    #[test]
    fn questions_are_answered_by_number_or_in_words() {
        let choices = question(false, &["red", "blue"]);
        let text = |text: &str| Some(UserDecision::Answer { text: text.to_owned() });
        assert_eq!(decision(&choices, "2\n"), text("blue"));
        assert_eq!(decision(&choices, "3"), text("3"));
        assert_eq!(decision(&choices, "0"), text("0"));
        assert_eq!(decision(&choices, "green"), text("green"));
        assert_eq!(decision(&choices, " "), None);
    }
}
