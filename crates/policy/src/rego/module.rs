//! One policy and its evaluation.

use std::collections::BTreeMap;
use std::num::{NonZeroU32, NonZeroUsize};
use std::sync::{LazyLock, OnceLock};
use std::time::{Duration, Instant};

use offshoot_vocabulary::{PolicyDecision, UnknownWord, Word as _};
use regorus::utils::limits::{ExecutionTimerConfig, TimeSource, monotonic_now, set_time_source};
use regorus::{Engine, PolicyLengthConfig, Value};

use super::answer::Answer;
use super::input::input_document;
use super::questions::RegoQuestions;
use super::{functions, names, nesting, own_stack};
use crate::context::Context;
use crate::error::Problem;
use crate::verdict::part::PartVerdict;

/// What policies about commands are asked.
const QUESTIONS: RegoQuestions = RegoQuestions {
    package: "offshoot",
    deciding: &["decision", "deny", "require_approval"],
    besides: &["reason"],
};

/// The clock is looked at before each step: a number that is squared again and again grows too fast to look less often.
const EACH_STEP: NonZeroU32 = NonZeroU32::new(1).expect("not zero");

/// A longer policy is refused: the deepest recursion in it has to fit on the stack.
const LENGTH: PolicyLengthConfig = PolicyLengthConfig {
    max_col: NonZeroU32::new(1024).expect("not zero"),
    max_file_bytes: NonZeroUsize::new(64 * 1024).expect("not zero"),
    max_lines: NonZeroUsize::new(2_000).expect("not zero"),
};

/// How long it may take to read a policy. A program that is not optimised takes more than ten times as long.
const LOADING: Duration = Duration::from_secs(if cfg!(debug_assertions) { 60 } else { 5 });

/// A policy that was read and prepared.
#[derive(Debug)]
pub(super) struct Module {
    engine: Option<Engine>,
    warnings: Vec<String>,
    questions: RegoQuestions,
}

impl Module {
    /// Reads and prepares a policy about commands.
    pub(super) fn load(name: &str, text: &str) -> Result<Self, Problem> {
        Self::load_for(QUESTIONS, name, text)
    }

    /// Reads and prepares a policy that is asked these questions.
    pub(super) fn load_for(
        questions: RegoQuestions,
        name: &str,
        text: &str,
    ) -> Result<Self, Problem> {
        let problem = |line: Option<usize>, message: String, hint: Option<&str>| Problem {
            file: name.to_owned(),
            place: line.map(|line| (line, 1)),
            message,
            hint: hint.map(str::to_owned),
        };
        if !*CLOCK_IS_SET || monotonic_now().is_none() {
            let message = "there is no clock to limit the time of a policy";
            return Err(problem(None, message.to_owned(), None));
        }
        if let Some(line) = nesting::too_deep(text) {
            let message = format!("brackets are nested deeper than {}", nesting::DEEPEST);
            return Err(problem(Some(line), message, Some("give a name to what is inside")));
        }
        let (file, text) = (name.to_owned(), text.to_owned());
        let prepared =
            own_stack::run(LOADING, move || prepare(file, text, questions).map_err(shown));
        match prepared.flatten() {
            Ok((engine, package, warnings)) if package == questions.data() => {
                Ok(Self { engine: Some(engine), warnings, questions })
            }
            Ok((_, package, _)) => {
                let message = format!("the package is `{package}`, which is never asked");
                let hint = format!("write `package {}`", questions.package);
                Err(problem(None, message, Some(&hint)))
            }
            Err(message) => {
                let (place, message) = placed(&message);
                Err(Problem { place, ..problem(None, message, None) })
            }
        }
    }

    /// What it defines in vain.
    pub(super) fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Asks the policy about a request.
    pub(super) fn ask(
        &self,
        parts: &[PartVerdict],
        stands: PolicyDecision,
        context: &Context,
        timeout: Duration,
    ) -> Result<Answer, String> {
        let input = input_document(parts, stands, context);
        self.question(input, timeout, Question::answer)
    }

    /// The values of all rules that it is asked for and that have one.
    pub(super) fn values(
        &self,
        input: serde_json::Value,
        timeout: Duration,
    ) -> Result<BTreeMap<&'static str, serde_json::Value>, String> {
        let names = self.questions.names();
        self.question(input, timeout, move |mut question| {
            let mut values = BTreeMap::new();
            for name in names {
                if let Some(value) = question.value(name)? {
                    let value = serde_json::to_value(&value)
                        .map_err(|error| format!("`{name}` cannot be read: {error}"))?;
                    values.insert(name, value);
                }
            }
            Ok(values)
        })
    }

    /// Asks something about a document.
    fn question<T: Send + 'static>(
        &self,
        input: serde_json::Value,
        timeout: Duration,
        ask: impl FnOnce(Question) -> Result<T, String> + Send + 'static,
    ) -> Result<T, String> {
        let Some(mut engine) = self.engine.clone() else { return Err("it is gone".to_owned()) };
        let package = self.questions.data();
        // The interpreter itself says best what it was doing when the time was over, so it has some more to say it.
        let wait = timeout.saturating_mul(2).saturating_add(Duration::from_millis(50));
        let asked = own_stack::run(wait, move || {
            engine.set_input(Value::from(input));
            ask(Question { engine, package, started: Instant::now(), timeout })
        });
        asked.flatten()
    }
}

impl Drop for Module {
    /// What was nested deep goes as it came: on a stack that holds it.
    fn drop(&mut self) {
        let engine = self.engine.take();
        // Where there is no thread for it, it has been dropped here.
        drop(own_stack::spawn(move || drop(engine)));
    }
}

/// Reads a policy and does all that can be done before it is asked.
fn prepare(
    file: String,
    text: String,
    questions: RegoQuestions,
) -> anyhow::Result<(Engine, String, Vec<String>)> {
    let mut engine = Engine::new();
    engine.set_policy_length_config(LENGTH);
    functions::limit(&mut engine)?;
    let package = engine.add_policy(file, text.clone())?;
    engine.eval_query("true".to_owned(), false)?;
    let defined = names::defined(engine.get_modules());
    Ok((engine, package, names::in_vain(&defined, &text, questions)))
}

/// A policy that is asked.
struct Question {
    engine: Engine,
    package: String,
    started: Instant,
    timeout: Duration,
}

impl Question {
    fn answer(mut self) -> Result<Answer, String> {
        Ok(Answer {
            decision: self.value("decision")?.map(|value| decision(&value)).transpose()?,
            reason: self.value("reason")?.map(|value| message("reason", &value)).transpose()?,
            deny: messages("deny", self.value("deny")?)?,
            require_approval: messages("require_approval", self.value("require_approval")?)?,
        })
    }

    /// The value of a rule, where it has one.
    fn value(&mut self, rule: &str) -> Result<Option<Value>, String> {
        let limit = self.timeout.saturating_sub(self.started.elapsed());
        let config = ExecutionTimerConfig { limit, check_interval: EACH_STEP };
        self.engine.set_execution_timer_config(config);
        let query = format!("{}.{rule}", self.package);
        let results = self.engine.eval_query(query, false).map_err(shown)?;
        if self.started.elapsed() > self.timeout {
            return Err(format!("it took longer than {} ms", self.timeout.as_millis()));
        }
        let value = results.result.into_iter().next().and_then(|result| {
            result.expressions.into_iter().next().map(|expression| expression.value)
        });
        Ok(value.filter(|value| *value != Value::Undefined))
    }
}

fn shown(error: anyhow::Error) -> String {
    format!("{error:#}").trim().to_owned()
}

fn decision(value: &Value) -> Result<PolicyDecision, String> {
    let word = message("decision", value)?;
    word.parse().map_err(|_: UnknownWord| {
        let words = PolicyDecision::names().join(", ");
        format!("`decision` is `{word}`, which is none of {words}")
    })
}

fn messages(rule: &str, value: Option<Value>) -> Result<Vec<String>, String> {
    match value {
        None => Ok(Vec::new()),
        Some(Value::Set(messages)) => messages.iter().map(|value| message(rule, value)).collect(),
        Some(_) => Err(format!("`{rule}` is no set of texts")),
    }
}

fn message(rule: &str, value: &Value) -> Result<String, String> {
    match value {
        Value::String(text) => Ok(text.to_string()),
        _ => Err(format!("`{rule}` has something that is no text")),
    }
}

/// The clock that policies are timed with.
struct Clock;

impl TimeSource for Clock {
    fn now(&self) -> Option<Duration> {
        static START: OnceLock<Instant> = OnceLock::new();
        Some(START.get_or_init(Instant::now).elapsed())
    }
}

static CLOCK: Clock = Clock;

static CLOCK_IS_SET: LazyLock<bool> = LazyLock::new(|| set_time_source(&CLOCK).is_ok());

/// What the interpreter says in several lines, with a picture of the place, as a place and a line.
fn placed(message: &str) -> (Option<(usize, usize)>, String) {
    let first = message.lines().next().unwrap_or_default();
    let mut numbers = first.rsplit(':').map(str::parse);
    let place = match (numbers.next(), numbers.next()) {
        (Some(Ok(column)), Some(Ok(line))) => Some((line, column)),
        _ => None,
    };
    let said = message.lines().find_map(|line| line.trim().strip_prefix("error: "));
    (place, said.map_or_else(|| message.replace('\n', " "), str::to_owned))
}
