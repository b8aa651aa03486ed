//! `offshoot agent chat`: a conversation in the terminal.

use std::collections::VecDeque;
use std::sync::Arc;

use clap::Args;
use offshoot_coder::{
    Coder, CoderError, CoderOptions, HistoryEntry, PendingQuestion, Rested, readable,
};
use offshoot_protocol::{AgentEnding, AgentRunDoc, ExitCode};
use offshoot_provider::Block;

use super::editor::{Keyboard, Page, Typed};
use super::progress::{Shape, Shown};
use super::question::Answer;
use super::work::{
    SessionArgs, Start, Which, WorkArgs, failed, finish, go_on, open, runtime, start,
};
use super::{ending, question};
use crate::commands::commit::commit_all;
use crate::context::Context;
use crate::error::{CliError, Result};
use crate::output::Output;
use crate::render::{BAD, DIM, NAME, line, paint};
use crate::terminal;

pub(super) const EXAMPLES: &str = "\
Examples:
  offshoot agent chat
  offshoot agent chat -w fix \"why does the parser test fail?\"
  offshoot agent chat --resume parser
  printf 'what is this project?\\nwrite that into README.md\\n' | offshoot agent chat

What you type while the agent works is told to it before its next step. Ctrl-C cancels what it
does, Ctrl-D leaves; the conversation is a session, and --resume goes on with it. /help lists
commands. Your folder does not change until you /commit. Without a terminal, each line of standard
input is said in turn.";

const HELP: &str = "\
/diff             show what differs from the folder
/undo             take back the last operation in the workspace
/commit [WORDS]   write the changes to the folder
/cost             tell what the conversation took so far
/go               go on after a pause
/quit             leave (also Ctrl-D)";

#[derive(Debug, Args)]
pub(crate) struct ChatArgs {
    /// What to begin with
    #[arg(value_name = "WORDS")]
    words: Vec<String>,
    #[command(flatten)]
    work: WorkArgs,
    #[command(flatten)]
    session: SessionArgs,
}

pub(crate) fn run(args: &ChatArgs, context: &Context) -> Result<()> {
    let words = Some(args.words.join(" ")).filter(|words| !words.trim().is_empty());
    talk(args.session.which(), &args.work, context, words)
}

/// Talks until the person leaves.
pub(crate) fn talk(
    which: Which<'_>,
    work: &WorkArgs,
    context: &Context,
    words: Option<String>,
) -> Result<()> {
    if context.output.is_json() {
        let error = CliError::usage("a conversation prints no document: leave --json out");
        return Err(error.hint("`offshoot agent run --json` does one task"));
    }
    let output = Arc::clone(&context.output);
    // The page is there once the session is, which is told of already.
    let place = Arc::new(std::sync::OnceLock::<Page>::new());
    let shown = match terminal::is_attended() {
        true => {
            let (words, asides) = (Arc::clone(&place), Arc::clone(&place));
            Shown::text(
                move |text| words.get().into_iter().for_each(|page| page.words(text)),
                move |text| asides.get().into_iter().for_each(|page| page.line(text)),
            )
        }
        false => Shown::new(output, Shape::Text),
    };
    let start = start(which, context)?;
    let listener = move |progress| shown.tell(&progress);
    let (options, servers) = work.options(context, &start, listener)?;
    let runtime = runtime()?;
    let talked = converse(start, context, options, (words, &place));
    let (mut coder, rested, ended_by) = match runtime.block_on(talked) {
        Ok(talked) => talked,
        Err(error) => {
            // Who does not want to wait does not wait for what still runs.
            runtime.shutdown_background();
            return Err(error);
        }
    };
    runtime.block_on(finish(&mut coder, context))?;
    let document = runtime.block_on(ending::document(&coder, &rested))?;
    let workspace = coder.workspace().clone();
    drop(coder);
    runtime.shutdown_background();
    servers.close(context);
    let told = context.output.text(&ending::summary(&document));
    let told = told.and_then(|()| context.output.text(&ending::questions(&document)));
    // Whose terminal is gone is told nothing.
    if ended_by != Some(ExitCode::HungUp) {
        told?;
    }
    context.output.conclude(ended_by.unwrap_or_else(|| code(&document)));
    ending::hints(&document, context, (&workspace, "offshoot agent chat --resume"));
    Ok(())
}

/// Who cancels and leaves was served; whom something waits for hears of it.
fn code(document: &AgentRunDoc) -> ExitCode {
    match document.ending {
        AgentEnding::Cancelled => ExitCode::Success,
        _ => offshoot_protocol::Kind::exit_code(document),
    }
}

/// The person and the agent, by turns.
struct Talk<'a> {
    context: &'a Context,
    coder: Coder,
    keyboard: Keyboard,
    teller: Teller<'a>,
    rested: Rested,
    /// What the person was asked last.
    asked: Option<PendingQuestion>,
    /// They want to answer it later.
    is_put_off: bool,
    /// Commands that were typed while the agent worked.
    queued: VecDeque<String>,
    leaves: bool,
}

/// Says something of our own.
enum Teller<'a> {
    Page(Page),
    Output(&'a Output),
}

impl Teller<'_> {
    fn tell(&self, text: &str) {
        match self {
            Self::Page(page) => page.line(text),
            Self::Output(_) => crate::output::eprint(&format!("{text}\n")),
        }
    }

    /// What was asked for.
    fn give(&self, text: &str) -> Result<()> {
        match self {
            Self::Page(page) => page.line(text),
            Self::Output(output) => output.text(text)?,
        }
        Ok(())
    }
}

async fn converse(
    start: Start,
    context: &Context,
    options: CoderOptions,
    (words, place): (Option<String>, &std::sync::OnceLock<Page>),
) -> Result<(Coder, Rested, Option<ExitCode>)> {
    let coder = open(start, context, options).await?;
    let (keyboard, teller) = match terminal::is_attended() {
        true => {
            let prompt = format!("{}> ", line(&coder.workspace().name()?));
            let (keyboard, page) = Keyboard::at_terminal(prompt, said(&coder))?;
            place.set(page.clone()).unwrap_or(());
            (keyboard, Teller::Page(page))
        }
        false => (Keyboard::at_pipe(), Teller::Output(&context.output)),
    };
    let rested = Rested::Idle { said: String::new() };
    let mut talk = Talk {
        context,
        coder,
        keyboard,
        teller,
        rested,
        asked: None,
        is_put_off: false,
        queued: VecDeque::new(),
        leaves: false,
    };
    talk.greet()?;
    // What was left open comes first.
    talk.work(Say::GoOn).await?;
    match words {
        Some(words) if talk.asked.as_ref().is_some_and(|asked| !asked.is_approval) => {
            talk.take(&words).await?;
        }
        Some(words) => talk.work(Say::Words(words)).await?,
        None => {}
    }
    while !talk.leaves {
        let typed = match talk.queued.pop_front() {
            Some(command) => Typed::Line(command),
            None => talk.keyboard.next().await,
        };
        match typed {
            Typed::Line(line) => talk.take(&line).await?,
            Typed::Stop => talk.teller.tell(&paint(DIM, "Ctrl-D leaves")),
            Typed::Leave => break,
        }
    }
    Ok((talk.coder, talk.rested, talk.keyboard.ended_by()))
}

/// What the person said before, as lines to go back to.
fn said(coder: &Coder) -> Vec<String> {
    let entries = coder.state().entries().iter();
    let lines = entries.filter_map(|entry| match entry {
        HistoryEntry::User(blocks) => blocks.iter().find_map(Block::as_text),
        _ => None,
    });
    lines.filter(|text| !text.contains('\n')).map(str::to_owned).collect()
}

/// What the agent is to do.
enum Say {
    /// What it is told.
    Words(String),
    /// What is open.
    GoOn,
    /// What it paused in.
    Resume,
    /// What was decided.
    Decide(PendingQuestion, offshoot_coder::UserDecision),
}

impl Talk<'_> {
    fn greet(&self) -> Result<()> {
        if !self.keyboard.is_live {
            return Ok(());
        }
        let session = self.coder.session().document()?.name;
        let text = format!(
            "session {} in workspace {}: your folder does not change until you /commit; /help lists commands",
            paint(NAME, &session),
            paint(NAME, &self.coder.workspace().name()?),
        );
        self.teller.tell(&text);
        Ok(())
    }

    /// Takes a line of the person.
    async fn take(&mut self, line: &str) -> Result<()> {
        let line = line.trim();
        if let Some(command) = line.strip_prefix('/') {
            let (command, rest) = command.split_once(' ').unwrap_or((command, ""));
            return self.command(command, rest.trim()).await;
        }
        if let Some(asked) = self.asked.clone() {
            match question::answer(&asked, line) {
                Answer::Decided(decision) => return self.work(Say::Decide(asked, decision)).await,
                Answer::Later => {
                    self.is_put_off = true;
                    let text = "it waits: y and n still answer it, or `offshoot approvals` and then /go; \
                                other words are told to the agent";
                    self.teller.tell(&paint(DIM, text));
                    return Ok(());
                }
                Answer::Explain => {
                    self.ask_again(&asked, question::answers(&asked));
                    return Ok(());
                }
                Answer::Unclear if !self.is_put_off => {
                    self.ask_again(&asked, question::UNCLEAR);
                    return Ok(());
                }
                Answer::Unclear => {}
            }
        }
        self.work(Say::Words(line.to_owned())).await
    }

    fn ask_again(&self, asked: &PendingQuestion, why: &str) {
        self.teller.tell(&paint(DIM, why));
        self.teller.tell(&question::text(asked));
    }

    /// Has the agent work until it rests, and hears the person meanwhile.
    async fn work(&mut self, what: Say) -> Result<()> {
        let handle = self.coder.handle();
        let was_paused = matches!(self.rested, Rested::Paused(_));
        let Self { coder, keyboard, teller, leaves, queued, .. } = self;
        let mut work = Box::pin(carry_out(coder, what, was_paused));
        let mut is_cancelling = false;
        let mut rested = loop {
            let is_live = keyboard.is_live;
            if *leaves {
                tokio::select! {
                    biased;
                    code = keyboard.insisted() => return Err(interrupted(code)),
                    rested = &mut work => break rested?,
                }
            }
            tokio::select! {
                biased;
                typed = keyboard.next(), if is_live => match typed {
                    Typed::Line(line) if line.trim().strip_prefix('/').is_some_and(is_quit) => {
                        *leaves = true;
                        handle.cancel();
                    }
                    Typed::Line(line) if line.trim_start().starts_with('/') => {
                        let text = format!("{} follows when it is done; Ctrl-C cancels it", line.trim());
                        teller.tell(&paint(DIM, &text));
                        queued.push_back(line);
                    }
                    Typed::Line(line) => drop(handle.steer(line)),
                    Typed::Stop if is_cancelling => {}
                    Typed::Stop => {
                        is_cancelling = handle.cancel();
                        teller.tell(&paint(DIM, "cancelling: what runs is ended first"));
                    }
                    Typed::Leave => {
                        *leaves = true;
                        handle.cancel();
                    }
                },
                rested = &mut work => break rested?,
            }
        };
        drop(work);
        // What was said in the last moment.
        if !self.leaves {
            rested = match self.coder.run().await.map_err(failed)? {
                Rested::Idle { said } if said.is_empty() => rested,
                rested => rested,
            };
        }
        self.rested = rested;
        self.tell_rest();
        Ok(())
    }

    fn tell_rest(&mut self) {
        self.asked = None;
        self.is_put_off = false;
        match &self.rested {
            Rested::Waiting(questions) => {
                let Some(asked) = questions.first() else { return };
                self.teller.tell(&question::text(asked));
                self.asked = Some(asked.clone());
            }
            Rested::Paused(reason) => {
                let text =
                    format!("{} {}; /go goes on", paint(BAD, "paused:"), line(&reason.to_string()));
                self.teller.tell(&text);
            }
            Rested::Idle { .. }
                if self.coder.state().ended() == Some(offshoot_coder::TurnEnd::Cancelled) =>
            {
                self.teller.tell(&paint(DIM, "cancelled"));
            }
            Rested::Idle { .. } | Rested::Open(_) => {}
        }
    }

    async fn command(&mut self, command: &str, rest: &str) -> Result<()> {
        let workspace = self.coder.workspace().clone();
        let done = match command {
            "help" | "?" => self.teller.give(&format!("{HELP}\n")),
            "diff" => workspace.difference(None, &[], true).and_then(|difference| {
                let patch = difference.patch.unwrap_or_default();
                match patch.is_empty() {
                    true => self.teller.tell("no changes"),
                    false => self.teller.give(&readable(&String::from_utf8_lossy(&patch)))?,
                }
                Ok(())
            }),
            "undo" => workspace.undo().map(|_| self.teller.tell("undone; the agent is not told")),
            "commit" => {
                let words = Some(rest).filter(|rest| !rest.is_empty());
                let said = self.coder.state().last_words();
                let words = words.or_else(|| said.lines().next()).unwrap_or("agent");
                commit_all(self.context, &workspace, words)
                    .and_then(|(_, text)| self.teller.give(&text))
            }
            "cost" => {
                let document = ending::document(&self.coder, &self.rested).await?;
                self.teller.give(&ending::summary(&document))
            }
            "go" => return Box::pin(self.work(Say::Resume)).await,
            word if is_quit(word) => {
                self.leaves = true;
                Ok(())
            }
            other => {
                self.teller.tell(&format!("/{} is no command; /help lists them", line(other)));
                Ok(())
            }
        };
        // A mistake in a command is no reason to leave.
        if let Err(error) = done {
            self.teller.tell(&format!("{} {}", paint(BAD, "error:"), line(&error.to_string())));
        }
        Ok(())
    }
}

/// Somebody did not want to wait for the end.
fn interrupted(code: ExitCode) -> CliError {
    let text = format!("{}; what it did is kept, and its session can be resumed", code.as_str());
    CliError::new(code, text.replace('_', " "))
}

/// Whether a command means to leave.
fn is_quit(command: &str) -> bool {
    matches!(command, "quit" | "exit" | "q")
}

async fn carry_out(coder: &mut Coder, what: Say, was_paused: bool) -> Result<Rested> {
    let rested: std::result::Result<Rested, CoderError> = match what {
        Say::GoOn => coder.run().await,
        Say::Resume => return go_on(coder).await,
        Say::Decide(asked, decision) => coder.decide(&asked.key, decision).await,
        Say::Words(words) => match coder.say(words).await {
            // Who says something to an agent that pauses wants it to go on.
            Ok(Rested::Paused(_)) if was_paused => coder.resume_turn(None).await,
            rested => rested,
        },
    };
    rested.map_err(failed)
}
