//! The question at the terminal of a command that needs an approval.

use std::io::{BufRead, IsTerminal, Write};
use std::os::fd::AsFd;

use offshoot_engine::approval::{Approval, ApprovalScope, ApprovalState, Approving};
use offshoot_engine::error::ServiceError;
use offshoot_engine::exec::Signals;
use offshoot_engine::text;
use offshoot_engine::vault::Vault;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;

use super::decide::{agreed_rule, keep_rule};
use super::show::{TrialChanges, envelope};
use crate::context::Context;
use crate::error::Result;
use crate::render::{self, DIM, paint};
use crate::{output, pager};

/// At most so many lines of changes come before the question.
const SHOWN_LINES: usize = 30;
/// At most so much of the command is part of the question.
const SHOWN_COMMAND: usize = 60;

/// Asks the person at the terminal about a command that needs their approval; whether it was decided.
pub(crate) fn ask(
    context: &Context,
    vault: &Vault,
    approval: &Approval,
    signals: Option<&Signals>,
) -> Result<bool> {
    let question = Question::new(context, vault, approval)?;
    let what = text::command(&approval.command);
    output::eprint(&format!("{what} needs your approval: {}\n", render::line(&approval.reason)));
    output::eprint(&question.head());
    loop {
        output::eprint(&question.text());
        let how = |scope| Approving { scope, ..Approving::default() };
        let service = context.engine.approvals(vault);
        match typed(signals).as_str() {
            "y" | "yes" => {
                first(service.approve(approval, &how(ApprovalScope::Once)))?;
                return Ok(true);
            }
            "always" => {
                let rule = match agreed_rule(true, context, vault, approval) {
                    Ok(rule) => rule,
                    Err(error) => {
                        output::eprint(&format!("{}\n", render::line(&error.message)));
                        continue;
                    }
                };
                let is_first = first(service.approve(approval, &how(ApprovalScope::Always)))?;
                if let Some(rule) = rule.filter(|_| is_first) {
                    keep_rule(context, &rule)?;
                }
                return Ok(true);
            }
            "n" | "no" => {
                first(service.deny(approval, None))?;
                return Ok(true);
            }
            "d" | "diff" if !question.changes.is_empty() => question.show_all(context)?,
            // The end of what can be typed is no answer.
            "" | "l" | "later" => return Ok(false),
            _ => output::eprint(&format!("{}\n", paint(DIM, &question.answers()))),
        }
    }
}

/// Whether this was the decision. Where somebody decided elsewhere meanwhile, whoever asked is told what, and that is all there is to say.
fn first<T>(decided: std::result::Result<T, ServiceError>) -> Result<bool> {
    match decided {
        Ok(_) => Ok(true),
        Err(ServiceError::Decided { state, .. }) if state != ApprovalState::Gone => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// What is asked about one command.
struct Question {
    /// What it is about, in a few words.
    what: String,
    /// What is asked.
    asks: String,
    /// What a trial would change, for people.
    changes: String,
    tried: bool,
    /// It can be decided about when this process is gone.
    later: bool,
}

impl Question {
    fn new(context: &Context, vault: &Vault, approval: &Approval) -> Result<Self> {
        let trial = TrialChanges::of(context, vault, approval)?;
        let what = short(&text::command(&approval.command));
        let name = &what;
        let ended = match approval.trial {
            Some(_) => envelope(vault, approval)?,
            None => None,
        };
        let ended = ended.map(|envelope| envelope.result);
        let failed = ended.and_then(|result| match (result.timed_out, result.exit_code) {
            (true, _) => Some("timed out".to_owned()),
            (_, Some(0)) => None,
            (_, Some(code)) => Some(format!("failed (exit code {code})")),
            (_, None) => result.signal.map(|signal| format!("was ended (signal {signal})")),
        });
        let tried = match &failed {
            Some(how) => format!("It was tried, {how}"),
            None => "It was tried".to_owned(),
        };
        let changed = trial.as_ref().map_or(0, |trial| trial.count);
        let asks = match (&approval.untried, changed) {
            (Some(why), _) => format!("It was not tried: {}. Run {name}?", render::line(why)),
            (None, 0) => format!("{tried} and changed nothing. Approve {name}?"),
            (None, 1) => format!("{tried}. Make this change of {name} real?"),
            (None, many) => format!("{tried}. Make these {many} changes of {name} real?"),
        };
        let changes = trial.map(|trial| trial.text()).unwrap_or_default();
        let (tried, later) = (approval.trial.is_some(), approval.outlives_waiter());
        Ok(Self { what, asks, changes, tried, later })
    }

    /// The beginning of what it would change: the command stays in sight.
    fn head(&self) -> String {
        let lines = self.changes.lines().count();
        if lines <= SHOWN_LINES {
            return self.changes.clone();
        }
        let head = self.changes.split_inclusive('\n').take(SHOWN_LINES).collect::<String>();
        let more = format!("... {} more lines of {}: d shows all", lines - SHOWN_LINES, self.what);
        format!("{head}{}\n", paint(DIM, &more))
    }

    fn text(&self) -> String {
        let mut keys = vec!["y", "n", "always"];
        keys.extend(self.later.then_some("later"));
        keys.extend((!self.changes.is_empty()).then_some("d"));
        keys.push("?");
        format!("{} [{}] ", self.asks, keys.join("/"))
    }

    /// All that it would change, page by page.
    fn show_all(&self, context: &Context) -> Result<()> {
        match std::io::stdout().is_terminal() {
            true => pager::show(context, &self.changes, true),
            false => {
                // What the command prints goes there.
                output::eprint(&self.changes);
                Ok(())
            }
        }
    }

    /// What can be answered, and what comes of it.
    fn answers(&self) -> String {
        let (yes, no) = match self.tried {
            true => ("make what it changed real, this once", "drop what it changed"),
            false => ("run it, this once", "do not run it"),
        };
        let later = match self.later {
            true => "later   decide later: `offshoot approvals` lists it",
            false => "Enter   leave it: it does not run, and cannot be approved later",
        };
        let diff = if self.changes.is_empty() { "" } else { "\nd       show all that it changed" };
        format!(
            "y       {yes}\n\
             n       {no}; whoever asked is told that you denied it\n\
             always  the same as y, and add a rule to your policy that lets it run from now on\n\
             {later}{diff}"
        )
    }
}

/// As much of a command as fits into a question.
fn short(command: &str) -> String {
    match command.char_indices().nth(SHOWN_COMMAND) {
        Some((at, _)) => format!("{}...", &command[..at]),
        None => command.to_owned(),
    }
}

/// What somebody types, in small letters; nothing where this process is asked to end.
pub(super) fn typed(signals: Option<&Signals>) -> String {
    drop(std::io::stderr().flush());
    let stdin = std::io::stdin();
    if let Some(signals) = signals {
        loop {
            let mut events = [
                PollFd::from_borrowed_fd(stdin.as_fd(), PollFlags::IN),
                PollFd::from_borrowed_fd(signals.as_fd(), PollFlags::IN),
            ];
            let polled = poll(&mut events, None);
            if signals.ask_to_end() || !matches!(polled, Ok(_) | Err(Errno::INTR)) {
                return String::new();
            }
            if !events[0].revents().is_empty() {
                break;
            }
        }
    }
    let mut answer = String::new();
    match stdin.lock().read_line(&mut answer) {
        Ok(_) => answer.trim().to_lowercase(),
        Err(_) => String::new(),
    }
}
