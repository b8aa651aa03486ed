//! The state machine against a model of it.

use std::collections::BTreeMap;

use offshoot_a2a::{
    A2aArtifact, A2aEvent, A2aMessage, A2aPart, A2aPushConfig, A2aRefusal, A2aState, A2aTaskChange,
    A2aTaskLimits, A2aTaskRecord, A2aTaskStep,
};

use crate::hostile::Dice;

/// What may follow what, written out.
fn may_follow(from: A2aState, to: A2aState) -> bool {
    use A2aState::{
        AuthRequired, Canceled, Completed, Failed, InputRequired, Rejected, Submitted, Working,
    };
    match (from, to) {
        (Completed | Failed | Canceled | Rejected, _) | (_, Submitted) => false,
        (
            Submitted | Working | InputRequired | AuthRequired,
            Working | InputRequired | AuthRequired | Completed | Failed | Canceled | Rejected,
        ) => true,
    }
}

/// A task, simply.
struct Model {
    state: A2aState,
    status_text: Option<String>,
    history: Vec<String>,
    artifacts: BTreeMap<String, (Vec<String>, bool)>,
    pushes: BTreeMap<String, String>,
}

impl Model {
    /// Makes a step, if that may be.
    fn step(&mut self, step: &A2aTaskStep, limits: &A2aTaskLimits) -> bool {
        let is_over = self.state.is_terminal();
        match step {
            A2aTaskStep::Message(message) => {
                if !self.state.is_interrupted() {
                    return false;
                }
                self.history.extend(self.status_text.take());
                self.history.push(message.text());
                self.state = A2aState::Working;
            }
            A2aTaskStep::Status { state, message } => {
                if !may_follow(self.state, *state) {
                    return false;
                }
                self.history.extend(self.status_text.take());
                self.status_text = message.as_ref().map(A2aMessage::text);
                self.state = *state;
            }
            A2aTaskStep::Artifact { artifact, append, last } => {
                let id = &artifact.artifact_id;
                let texts = artifact.parts.iter().map(|part| part.as_text().unwrap().to_owned());
                let texts: Vec<String> = texts.collect();
                let is_full = self.artifacts.len() >= limits.artifacts;
                match self.artifacts.get_mut(id) {
                    _ if is_over => return false,
                    Some((_, true)) if *append => return false,
                    Some((known, closed)) if *append => {
                        known.extend(texts);
                        *closed = *last;
                    }
                    Some(known) => *known = (texts, *last),
                    None if *append || is_full => return false,
                    None => drop(self.artifacts.insert(id.clone(), (texts, *last))),
                }
            }
            A2aTaskStep::SetPush(config) => {
                let is_new = !self.pushes.contains_key(&config.id);
                if is_over || (is_new && self.pushes.len() >= limits.push_configs) {
                    return false;
                }
                self.pushes.insert(config.id.clone(), config.url.clone());
            }
            A2aTaskStep::RemovePush(id) => drop(self.pushes.remove(id)),
        }
        let gone = self.history.len().saturating_sub(limits.history);
        self.history.drain(..gone);
        true
    }

    fn is_same(&self, record: &A2aTaskRecord) {
        assert_eq!(record.state(), self.state);
        let status = record.task.status.message.as_ref().map(A2aMessage::text);
        assert_eq!(status, self.status_text);
        let history: Vec<String> = record.task.history.iter().map(A2aMessage::text).collect();
        assert_eq!(history, self.history);
        assert_eq!(record.task.artifacts.len(), self.artifacts.len());
        for artifact in &record.task.artifacts {
            let (texts, closed) = &self.artifacts[&artifact.artifact_id];
            let found: Vec<&str> = artifact.parts.iter().filter_map(A2aPart::as_text).collect();
            assert_eq!(found, *texts);
            assert_eq!(record.closed.contains(&artifact.artifact_id), *closed);
        }
        let pushes: BTreeMap<String, String> =
            record.pushes.iter().map(|push| (push.id.clone(), push.url.clone())).collect();
        assert_eq!(pushes, self.pushes);
    }
}

fn message(dice: &mut Dice, is_user: bool) -> A2aMessage {
    let parts = vec![A2aPart::text(format!("said {}", dice.below(1000)))];
    if is_user { A2aMessage::user(parts) } else { A2aMessage::agent(parts) }
}

pub(crate) fn step(dice: &mut Dice) -> A2aTaskStep {
    match dice.below(20) {
        0..3 => A2aTaskStep::Message(message(dice, true)),
        3..9 => {
            // Ends are rare, so that tasks live for a while.
            let all = if dice.below(12) == 0 { 8 } else { 4 };
            let state = A2aState::ALL[dice.below(all)];
            let message = (dice.below(2) == 0).then(|| message(dice, false));
            A2aTaskStep::Status { state, message }
        }
        9..17 => {
            let parts = (0..=dice.below(3)).map(|_| A2aPart::text(dice.below(100).to_string()));
            let parts = parts.collect();
            let artifact = A2aArtifact::new(dice.below(5).to_string(), parts);
            let (append, last) = (dice.below(3) > 0, dice.below(6) == 0);
            A2aTaskStep::Artifact { artifact, append, last }
        }
        17..19 => {
            let mut config = A2aPushConfig::new(format!("http://127.0.0.1/{}", dice.below(9)));
            config.id = dice.below(5).to_string();
            A2aTaskStep::SetPush(config)
        }
        _ => A2aTaskStep::RemovePush(dice.below(5).to_string()),
    }
}

pub(crate) fn begin(dice: &mut Dice, id: &str) -> A2aTaskRecord {
    A2aTaskRecord::begin("tester", id, "c", message(dice, true), 5)
}

#[test]
fn random_lives_are_those_of_the_model() {
    let limits = A2aTaskLimits { history: 6, artifacts: 4, push_configs: 3, ..Default::default() };
    for seed in 0..120 {
        println!("seed {seed}");
        let mut dice = Dice::new(seed);
        let mut record = begin(&mut dice, "t");
        let mut model = Model {
            state: A2aState::Submitted,
            status_text: None,
            history: vec![record.task.history[0].text()],
            artifacts: BTreeMap::new(),
            pushes: BTreeMap::new(),
        };
        for round in 0..60 {
            let step = step(&mut dice);
            let before = record.clone();
            let allowed = record.check(&step, &limits);
            assert_eq!(allowed.is_ok(), model.step(&step, &limits), "{step:?}: {allowed:?}");
            if allowed.is_err() {
                continue;
            }
            // Clocks go back as well.
            let at = 10 + round * if round % 7 == 0 { -3 } else { 3 };
            let event = record.commit(A2aTaskChange { at, what: step.clone() }, &limits);
            model.is_same(&record);
            assert!(record.changed >= before.changed);
            let is_told = !matches!(step, A2aTaskStep::SetPush(_) | A2aTaskStep::RemovePush(_));
            assert_eq!(event.is_some(), is_told);
            if let Some(A2aEvent::StatusUpdate(update)) = &event {
                assert_eq!(update.status, record.task.status);
            }
            for said in &record.task.history {
                assert_eq!(said.task_id.as_deref(), Some("t"));
                assert_eq!(said.context_id.as_deref(), Some("c"));
            }
            // What is read from a disk is the same.
            let text = serde_json::to_string(&record).unwrap();
            assert_eq!(serde_json::from_str::<A2aTaskRecord>(&text).unwrap(), record);
        }
    }
}

#[test]
fn every_pair_of_states_is_decided() {
    let limits = A2aTaskLimits::default();
    let mut dice = Dice::new(3);
    for from in A2aState::ALL {
        for to in A2aState::ALL {
            let mut record = begin(&mut dice, "t");
            record.task.status.state = from;
            let allowed = record.check(&A2aTaskStep::Status { state: to, message: None }, &limits);
            assert_eq!(allowed.is_ok(), may_follow(from, to), "{from:?} {to:?}");
        }
    }
}

#[test]
fn bytes_are_counted() {
    let limits = A2aTaskLimits { task_bytes: 3_000, ..A2aTaskLimits::default() };
    let mut dice = Dice::new(4);
    let mut record = begin(&mut dice, "t");
    let artifact = |many| {
        let artifact = A2aArtifact::new("a", vec![A2aPart::text("x".repeat(many))]);
        A2aTaskStep::Artifact { artifact, append: false, last: false }
    };
    // Whatever is replaced counts no longer.
    for _ in 0..10 {
        record.check(&artifact(1_000), &limits).unwrap();
        record.commit(A2aTaskChange { at: 1, what: artifact(1_000) }, &limits);
    }
    let refused = record.check(&artifact(2_500), &limits).unwrap_err();
    assert_eq!(refused, A2aRefusal::TooMuch { what: "bytes", limit: 3_000 });
    let full = A2aTaskLimits { task_bytes: 0, ..limits };
    let end = |message| A2aTaskStep::Status { state: A2aState::Failed, message };
    assert!(record.check(&end(Some(message(&mut dice, false))), &full).is_err());
    assert!(record.check(&end(None), &full).is_ok());
}
