//! A second reading, by `brush-parser`, the grammar of a shell that others keep.
//!
//! Every command and every written file that it finds in a text, read as bash does, must be in what the product's own parser found.

use std::panic::{self, AssertUnwindSafe};

use brush_parser::ast::{
    AndOr, AndOrList, AssignmentValue, Command, CommandPrefixOrSuffixItem, CompoundCommand,
    CompoundList, IoFileRedirectKind, IoFileRedirectTarget, IoRedirect, Pipeline, Program,
    SimpleCommand, Word as RawWord,
};
use brush_parser::word::{WordPiece, WordPieceWithSource};
use brush_parser::{ParserOptions, parse_tokens, tokenize_str, word};

use offshoot_policy::script::{RedirectKind, Script, ShellWord, Simple};

/// Longer texts are not read a second time.
const MAX_TEXT: usize = 4 * 1024;
/// Texts with more that may lie in itself are not read a second time: time may double with each.
const MAX_OPENINGS: usize = 16;
/// More beginnings of anything that may lie in itself than this are too much for a small stack.
const MAX_LEVELS: usize = 24;
/// Substitutions are read so deep.
const MAX_DEPTH: usize = 8;

/// What is put behind a text: where the line with the beginning of a here-document is the last one, that parser looks for its end for
/// ever. One line break could be continued.
const END: &str = "\n\n";

/// What a second reading says of what was found.
#[derive(Debug)]
pub(crate) enum Second {
    /// All that it finds was found.
    Agrees,
    /// The text is more than it can read in a bounded time, on a bounded stack.
    TooMuch,
    /// It is known to misread such texts.
    Misreads,
    /// It does not take the text for one, or panics over it.
    Refuses,
    /// It finds something that was not found.
    Misses(String),
}

/// Reads a text a second time.
pub(crate) fn read(text: &str, found: &Script) -> Second {
    if text.len() > MAX_TEXT || is_too_much(text) {
        return Second::TooMuch;
    }
    if is_misread(text) {
        return Second::Misreads;
    }
    let mut reader =
        Reader { options: ParserOptions::default(), commands: Vec::new(), writes: Vec::new() };
    let read = panic::catch_unwind(AssertUnwindSafe(|| reader.read(text, 0)));
    if !read.unwrap_or(false) {
        return Second::Refuses;
    }
    let missed =
        |seen: &&Vec<Option<String>>| !found.commands.iter().any(|known| agrees(known, seen));
    if let Some(command) = reader.commands.iter().find(missed) {
        return Second::Misses(format!("the command {command:?}"));
    }
    let unknown = |path: &&String| !found.commands.iter().any(|known| writes(known, path));
    match reader.writes.iter().find(unknown) {
        Some(path) => Second::Misses(format!("that {path:?} is written")),
        None => Second::Agrees,
    }
}

/// Whether the second parser could take long, or worse. It reads some constructs again for every level that they lie in, and
/// ends the process where the number after a tilde is too large.
fn is_too_much(text: &str) -> bool {
    let openings = |opening: &str| text.matches(opening).count();
    let nested: usize = ["$(", "${", "$[", "`", "case", "((", "\"$"].map(openings).iter().sum();
    let number = |rest: &str| {
        let digits = rest.trim_start_matches(['+', '-']).bytes();
        digits.take_while(u8::is_ascii_digit).count() > 8
    };
    // What may lie in itself, counted and not measured: quotes could hide where something ends.
    let levels: usize =
        ["(", "{", "[", "if", "while", "until", "for", "do", "then", "else", "coproc", "!", "time"]
            .map(openings)
            .iter()
            .sum();
    nested > MAX_OPENINGS || levels > MAX_LEVELS || text.split('~').skip(1).any(number)
}

/// Whether the second parser is known to read a text otherwise than every shell does: it does not know `time --`; behind `<<` it
/// takes the rest of the line apart at each `$`; and it ends a here-document at its delimiter even where the line before is
/// continued.
fn is_misread(text: &str) -> bool {
    let in_documents = text.contains("<<") && text.contains("\\\n");
    let behind = |rest: &str| rest.lines().next().is_some_and(|line| line.contains('$'));
    in_documents || text.split("<<").skip(1).any(behind) || text.contains("time --")
}

/// What the second parser finds.
struct Reader {
    options: ParserOptions,
    /// The words of simple commands; none for a word that is not known.
    commands: Vec<Vec<Option<String>>>,
    /// Files that are written.
    writes: Vec<String>,
}

impl Reader {
    /// Reads a text; false where it is refused.
    fn read(&mut self, text: &str, depth: usize) -> bool {
        if depth > MAX_DEPTH {
            return false;
        }
        let tokens = tokenize_str(&format!("{text}{END}")).ok();
        let program = tokens.and_then(|tokens| parse_tokens(&tokens, &self.options).ok());
        program.is_some_and(|program| self.program(&program, depth))
    }

    fn program(&mut self, program: &Program, depth: usize) -> bool {
        program.complete_commands.iter().all(|list| self.list(list, depth))
    }

    fn list(&mut self, list: &CompoundList, depth: usize) -> bool {
        list.0.iter().all(|item| self.and_or(&item.0, depth))
    }

    fn and_or(&mut self, list: &AndOrList, depth: usize) -> bool {
        self.pipeline(&list.first, depth)
            && list.additional.iter().all(|item| match item {
                AndOr::And(pipeline) | AndOr::Or(pipeline) => self.pipeline(pipeline, depth),
            })
    }

    fn pipeline(&mut self, pipeline: &Pipeline, depth: usize) -> bool {
        pipeline.seq.iter().all(|command| self.command(command, depth))
    }

    fn command(&mut self, command: &Command, depth: usize) -> bool {
        match command {
            Command::Simple(simple) => self.simple(simple, depth),
            Command::Compound(compound, redirects) => {
                let redirects = redirects.iter().flat_map(|list| &list.0);
                self.compound(compound, depth)
                    && redirects.into_iter().all(|one| self.redirect(one, depth))
            }
            Command::Function(function) => {
                let redirects = function.body.1.iter().flat_map(|list| &list.0);
                self.compound(&function.body.0, depth)
                    && redirects.into_iter().all(|one| self.redirect(one, depth))
            }
            Command::ExtendedTest(_, redirects) => {
                let redirects = redirects.iter().flat_map(|list| &list.0);
                redirects.into_iter().all(|one| self.redirect(one, depth))
            }
        }
    }

    fn compound(&mut self, compound: &CompoundCommand, depth: usize) -> bool {
        match compound {
            CompoundCommand::Arithmetic(_) => true,
            CompoundCommand::ArithmeticForClause(clause) => self.list(&clause.body.list, depth),
            CompoundCommand::BraceGroup(group) => self.list(&group.list, depth),
            CompoundCommand::Subshell(subshell) => self.list(&subshell.list, depth),
            CompoundCommand::ForClause(clause) => {
                let words = clause.values.iter().flatten();
                words.into_iter().all(|word| self.word(word, depth).is_some())
                    && self.list(&clause.body.list, depth)
            }
            CompoundCommand::CaseClause(clause) => {
                self.word(&clause.value, depth).is_some()
                    && clause
                        .cases
                        .iter()
                        .all(|case| case.cmd.as_ref().is_none_or(|list| self.list(list, depth)))
            }
            CompoundCommand::IfClause(clause) => {
                self.list(&clause.condition, depth)
                    && self.list(&clause.then, depth)
                    && clause.elses.iter().flatten().all(|branch| {
                        branch.condition.as_ref().is_none_or(|list| self.list(list, depth))
                            && self.list(&branch.body, depth)
                    })
            }
            CompoundCommand::WhileClause(clause) | CompoundCommand::UntilClause(clause) => {
                self.list(&clause.0, depth) && self.list(&clause.1.list, depth)
            }
            CompoundCommand::Coprocess(coprocess) => self.command(&coprocess.body, depth),
        }
    }

    fn simple(&mut self, simple: &SimpleCommand, depth: usize) -> bool {
        let mut words = Vec::new();
        let prefix = simple.prefix.iter().flat_map(|prefix| &prefix.0);
        if !prefix.into_iter().all(|item| self.item(item, None, depth)) {
            return false;
        }
        if let Some(name) = &simple.word_or_name {
            let Some(name) = self.word(name, depth) else { return false };
            words.push(name);
        }
        let suffix = simple.suffix.iter().flat_map(|suffix| &suffix.0);
        let read = suffix.into_iter().all(|item| self.item(item, Some(&mut words), depth));
        if !words.is_empty() {
            self.commands.push(words);
        }
        read
    }

    fn item(
        &mut self,
        item: &CommandPrefixOrSuffixItem,
        words: Option<&mut Vec<Option<String>>>,
        depth: usize,
    ) -> bool {
        match item {
            CommandPrefixOrSuffixItem::IoRedirect(redirect) => self.redirect(redirect, depth),
            CommandPrefixOrSuffixItem::Word(raw) => match self.word(raw, depth) {
                Some(word) => {
                    if let Some(words) = words {
                        words.push(word);
                    }
                    true
                }
                None => false,
            },
            CommandPrefixOrSuffixItem::AssignmentWord(assignment, _) => match &assignment.value {
                AssignmentValue::Scalar(raw) => self.word(raw, depth).is_some(),
                AssignmentValue::Array(members) => {
                    members.iter().all(|(_, raw)| self.word(raw, depth).is_some())
                }
            },
            CommandPrefixOrSuffixItem::ProcessSubstitution(_, subshell) => {
                self.list(&subshell.list, depth)
            }
        }
    }

    fn redirect(&mut self, redirect: &IoRedirect, depth: usize) -> bool {
        let (target, is_written) = match redirect {
            IoRedirect::File(_, kind, IoFileRedirectTarget::Filename(target)) => (
                target,
                matches!(
                    kind,
                    IoFileRedirectKind::Write
                        | IoFileRedirectKind::Append
                        | IoFileRedirectKind::Clobber
                        | IoFileRedirectKind::ReadAndWrite
                ),
            ),
            IoRedirect::File(_, _, IoFileRedirectTarget::ProcessSubstitution(_, subshell)) => {
                return self.list(&subshell.list, depth);
            }
            IoRedirect::OutputAndError(target, _) => (target, true),
            IoRedirect::File(..) | IoRedirect::HereDocument(..) | IoRedirect::HereString(..) => {
                return true;
            }
        };
        let Some(word) = self.word(target, depth) else { return false };
        self.writes.extend(word.filter(|_| is_written));
        true
    }

    /// The text of a word where it is known; nothing where the word cannot be read.
    #[expect(clippy::option_option, reason = "that a word is not known is no reason to refuse it")]
    fn word(&mut self, raw: &RawWord, depth: usize) -> Option<Option<String>> {
        let pieces = word::parse(&raw.value, &self.options).ok()?;
        let mut text = String::new();
        let mut known = true;
        self.pieces(&pieces, &mut text, &mut known, depth).then_some(known.then_some(text))
    }

    fn pieces(
        &mut self,
        pieces: &[WordPieceWithSource],
        text: &mut String,
        known: &mut bool,
        depth: usize,
    ) -> bool {
        pieces.iter().all(|piece| match &piece.piece {
            WordPiece::Text(plain) => {
                // Patterns, braces and substitutions of processes are other pieces to our own parser.
                *known &= !plain.contains(['*', '?', '[', '{', '~', '<', '>', '$', '`']);
                text.push_str(plain);
                true
            }
            WordPiece::SingleQuotedText(plain) => {
                text.push_str(plain);
                true
            }
            WordPiece::DoubleQuotedSequence(inner) => self.pieces(inner, text, known, depth),
            WordPiece::CommandSubstitution(inner) => {
                *known = false;
                self.read(inner, depth + 1)
            }
            _ => {
                *known = false;
                true
            }
        })
    }
}

/// Whether our own parser has a command with this name and these words among its own.
fn agrees(known: &Simple, seen: &[Option<String>]) -> bool {
    let Some((name, arguments)) = seen.split_first() else { return true };
    let Some(first) = known.words.first() else { return false };
    is(first, name.as_deref())
        && arguments.iter().flatten().all(|argument| {
            known.words.iter().any(|word| is(word, Some(argument)))
                || known.assignments.iter().any(|set| argument.starts_with(&set.name))
        })
}

/// Whether a word is, or may be, this text.
fn is(word: &ShellWord, text: Option<&str>) -> bool {
    match (word.literal(), text) {
        (Some(literal), Some(text)) => literal == text,
        _ => true,
    }
}

fn writes(known: &Simple, path: &str) -> bool {
    known
        .redirects
        .iter()
        .any(|redirect| redirect.kind != RedirectKind::Read && is(&redirect.target, Some(path)))
}
