//! One policy and its evaluation.

use std::num::{NonZeroU32, NonZeroUsize};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{LazyLock, OnceLock};
use std::time::{Duration, Instant};

use regorus::utils::limits::{ExecutionTimerConfig, TimeSource, monotonic_now, set_time_source};
use regorus::{Engine, PolicyLengthConfig, Value};

use super::input::input_document;
use super::{Answer, functions};
use crate::context::Context;
use crate::decision::Decision;
use crate::error::Problem;
use crate::verdict::PartVerdict;

/// The package that policies are in.
const PACKAGE: &str = "data.offshoot";

/// How many steps are done between two looks at the clock.
const STEPS: NonZeroU32 = NonZeroU32::new(32).expect("not zero");

/// A longer policy is refused: preparing one takes time that is not measured.
const LENGTH: PolicyLengthConfig = PolicyLengthConfig {
    max_col: NonZeroU32::new(1024).expect("not zero"),
    max_file_bytes: NonZeroUsize::new(256 * 1024).expect("not zero"),
    max_lines: NonZeroUsize::new(10_000).expect("not zero"),
};

/// A policy that was read and prepared.
#[derive(Debug)]
pub(super) struct Policy {
    engine: Engine,
}

impl Policy {
    /// Reads and prepares a policy.
    pub(super) fn load(name: &str, text: &str) -> Result<Self, Problem> {
        let problem = |message: String, hint: Option<&str>| Problem {
            file: name.to_owned(),
            place: None,
            message,
            hint: hint.map(str::to_owned),
        };
        if !*CLOCK_IS_SET || monotonic_now().is_none() {
            return Err(problem(
                "there is no clock to limit the time of a policy".to_owned(),
                None,
            ));
        }
        let mut engine = Engine::new();
        engine.set_policy_length_config(LENGTH);
        let prepared = guarded(|| {
            let package = engine.add_policy(name.to_owned(), text.to_owned())?;
            functions::limit(&mut engine)?;
            engine.eval_query("true".to_owned(), false)?;
            Ok(package)
        });
        match prepared {
            Ok(package) if package == PACKAGE => Ok(Self { engine }),
            Ok(package) => {
                let message = format!("the package is `{package}`, which is never asked");
                Err(problem(message, Some("write `package offshoot`")))
            }
            Err(message) => Err(problem(message, None)),
        }
    }

    /// Asks the policy about a request.
    pub(super) fn ask(
        &self,
        parts: &[PartVerdict],
        stands: Decision,
        context: &Context,
        timeout: Duration,
    ) -> Result<Answer, String> {
        let started = Instant::now();
        let mut engine = self.engine.clone();
        engine.set_input(Value::from(input_document(parts, stands, context)));
        let mut value = |rule: &str| {
            let limit = timeout.saturating_sub(started.elapsed());
            engine
                .set_execution_timer_config(ExecutionTimerConfig { limit, check_interval: STEPS });
            let query = format!("{PACKAGE}.{rule}");
            let results = guarded(|| engine.eval_query(query, false))?;
            if started.elapsed() > timeout {
                return Err(format!("it took longer than {} ms", timeout.as_millis()));
            }
            let value = results.result.into_iter().next().and_then(|result| {
                result.expressions.into_iter().next().map(|expression| expression.value)
            });
            Ok(value.filter(|value| *value != Value::Undefined))
        };
        Ok(Answer {
            decision: value("decision")?.map(|value| decision(&value)).transpose()?,
            reason: value("reason")?.map(|value| message("reason", &value)).transpose()?,
            deny: messages("deny", value("deny")?)?,
            require_approval: messages("require_approval", value("require_approval")?)?,
        })
    }
}

/// Runs the interpreter. It is not known to panic, but what it reads may be anybody's.
fn guarded<T>(run: impl FnOnce() -> anyhow::Result<T>) -> Result<T, String> {
    match catch_unwind(AssertUnwindSafe(run)) {
        Ok(result) => result.map_err(|error| format!("{error:#}").trim().to_owned()),
        Err(_) => Err("the interpreter failed".to_owned()),
    }
}

fn decision(value: &Value) -> Result<Decision, String> {
    let word = message("decision", value)?;
    Decision::from_word(&word).ok_or_else(|| {
        let words = Decision::ALL.map(Decision::word).join(", ");
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
