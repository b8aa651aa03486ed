//! Judges one program with its arguments.

use offshoot_vocabulary::{CommandPart, EffectCategory};

use crate::category::Categories;
use crate::knowledge::{self, Effect, Role, Tool, When};
use crate::script::ShellWord;

use super::arguments::{Given, Reading, Strange};
use super::command::Inner;
use super::draft::Draft;
use super::path::ProgramOrigin;
use super::{Classifier, DEEPEST, Scene, TOO_DEEP};

/// A command while it is judged.
pub(super) struct Work<'w, 's> {
    pub(super) reading: Reading<'w>,
    pub(super) draft: Draft,
    pub(super) scene: &'s Scene<'s>,
    /// Where it works, if an option says so.
    pub(super) directories: Vec<ShellWord>,
    /// What it runs.
    pub(super) inner: Vec<Inner>,
}

impl Classifier<'_> {
    /// Judges a program; the words are not empty.
    pub(super) fn program(&mut self, words: &[ShellWord], scene: &Scene<'_>) {
        let mut draft = Draft::default();
        let Some((program, arguments)) = words.split_first() else { return };
        if self.wrappers.len() + self.level > DEEPEST {
            return self.unread(words.to_vec(), TOO_DEEP);
        }
        draft.directory = self.directories.only(scene.apart);
        let Some((name, tool)) = self.tool(program, &mut draft, scene.apart) else {
            return self.emit(CommandPart::Program, words.to_vec(), draft);
        };
        let reading = Reading::of(name, tool, arguments);
        let mut work = Work { reading, draft, scene, directories: Vec::new(), inner: Vec::new() };
        work.own();
        let changes = work.draft.categories.contains(EffectCategory::Mutating);
        work.strange();
        self.values(&mut work);
        self.operands(&mut work);
        self.builtin(tool, &mut work);
        if changes {
            self.works_outside(&mut work);
        }
        work.draft.drop_generalities();
        self.finish(words, work);
    }

    /// A tool that changes things does so where it works, which may be outside.
    fn works_outside(&self, work: &mut Work<'_, '_>) {
        if work.draft.outside {
            return;
        }
        let stated = work.directories.iter().find(|word| self.is_outside(word, work.scene.apart));
        let outside = match stated {
            Some(word) => Some(word.display()),
            None if work.directories.is_empty() => self.directory_outside(work.scene.apart),
            None => None,
        };
        if let Some(place) = outside {
            let why = format!("works in {place}, outside the workspace");
            work.draft.add(EffectCategory::HostEscapeRisk, why);
        }
    }

    /// What is known of a program; if nothing is, the draft says so.
    fn tool(
        &self,
        program: &ShellWord,
        draft: &mut Draft,
        apart: bool,
    ) -> Option<(&'static str, &'static Tool)> {
        let literal = program.literal();
        let path = match &literal {
            Some(path) => path.as_ref(),
            // `~/bin/x` is known by its last part.
            None if program.pieces.len() == 2 && !program.splits() => match &program.pieces[1] {
                crate::script::WordPiece::Literal(rest) => rest,
                _ => return unknown_program(program, draft),
            },
            None => return unknown_program(program, draft),
        };
        let name = path.rsplit('/').next().unwrap_or(path);
        if path.contains('/') {
            match self.origin_of_program(program, apart) {
                ProgramOrigin::System => {}
                ProgramOrigin::Packages => {
                    draft.add(
                        EffectCategory::Mutating,
                        format!("{path} is a program of the project"),
                    );
                }
                ProgramOrigin::Elsewhere => {
                    let why = format!("{path} is a program that is not known");
                    draft.add(EffectCategory::Mutating, why);
                    return None;
                }
            }
        }
        let tool = knowledge::program(name);
        if tool.is_none() {
            draft.add(EffectCategory::Mutating, format!("{name} is not a program that is known"));
        }
        tool
    }
}

fn unknown_program(
    program: &ShellWord,
    draft: &mut Draft,
) -> Option<(&'static str, &'static Tool)> {
    let why = format!("which program {} is, is only known when it runs", program.display());
    draft.add(EffectCategory::Mutating, why);
    None
}

impl Work<'_, '_> {
    /// What the tool is by itself, and what its options and the number of its operands make of that.
    fn own(&mut self) {
        let Self { reading, draft, .. } = self;
        let tool = reading.tool();
        let mut instead: Option<Categories> = None;
        for (given, effect) in reading.effects() {
            draft.add_all(effect.adds, || format!("{}: {}", given.name, effect.why).into());
            if let Some(is) = effect.is
                && takes_the_place(given, effect)
            {
                draft.add_all(is, || format!("{}: {}", given.name, effect.why).into());
                instead = Some(instead.unwrap_or_default().union(is));
            }
        }
        for when in tool.whens.iter().filter(|when| holds(when, reading)) {
            let add = when.adds.union(when.is.unwrap_or_default());
            draft.add_all(add, || format!("{} {}", reading.name(), when.why).into());
            if let Some(is) = when.is {
                instead = Some(instead.unwrap_or_default().union(is));
            }
        }
        // What a subcommand does that is not known has nothing to do with what the tool does alone, but its reach is the same.
        let own = if reading.lost { reach(tool.is) } else { tool.is };
        let late = reading.strange.iter().any(|strange| matches!(strange, Strange::Late(_)));
        if instead.is_none() || late {
            let before = draft.reasons.len();
            match tool.about {
                "" => say_kinds(draft, own, reading),
                about => draft.add_all(own, || format!("{} {about}", reading.name()).into()),
            }
            draft.mark_general(before, tool.about);
        }
    }

    fn strange(&mut self) {
        for strange in &self.reading.strange {
            let name = self.reading.name();
            let why = match strange {
                Strange::Option(word) => {
                    format!("{} is not an option of {name} that is known", word.display())
                }
                Strange::Late(word) => {
                    format!(
                        "{name} may take {} for something else behind an operand",
                        word.display()
                    )
                }
                Strange::Subcommand(word) => {
                    format!("{} is not a subcommand of {name} that is known", word.display())
                }
                Strange::Injected(word) if self.is_open_to_options() => {
                    format!("{} may turn out to be an option of {name}", word.display())
                }
                Strange::Injected(_) => continue,
            };
            self.draft.add(EffectCategory::Mutating, why);
        }
    }

    /// Whether a word that slips in may change what the tool does.
    fn is_open_to_options(&self) -> bool {
        let reading = &self.reading;
        reading.command.is_some() || reading.chain.iter().any(|tool| tool.has_options_that_matter())
    }

    /// Whether code is given by an option, or something else is done in place of running code.
    pub(super) fn has_code(&self) -> bool {
        self.reading.effects().any(|(given, effect)| {
            let code = Some(Role::Code) == effect.value
                || Some(Role::Script) == effect.value
                || Some(Role::Shell) == effect.value
                || Some(Role::Command) == effect.value;
            code || effect.adds.contains(EffectCategory::Mutating)
                || (effect.is.is_some() && takes_the_place(given, effect))
        })
    }
}

/// What a tool does of which nothing but its categories is known.
fn say_kinds(draft: &mut Draft, categories: Categories, reading: &Reading<'_>) {
    for category in categories.iter() {
        let does = match category {
            EffectCategory::ReadOnly => continue,
            EffectCategory::Interactive => "wants a person at a terminal",
            EffectCategory::Mutating => "makes or changes something",
            EffectCategory::Networked => "reaches for the network",
            EffectCategory::Destructive => "deletes or overwrites something",
            EffectCategory::HostEscapeRisk => "reaches beyond the workspace",
        };
        draft.add(category, format!("{} {does}", reading.name()));
    }
}

/// The part of a set that says that a tool reaches beyond the workspace.
fn reach(categories: Categories) -> Categories {
    let risk = EffectCategory::HostEscapeRisk;
    if categories.contains(risk) { Categories::only(risk) } else { Categories::READ_ONLY }
}

/// Whether the categories of an option take the place of the tool's. `--dry-run=none` is not `--dry-run`, and what an outer tool's
/// option means behind a subcommand is not known, except for `--help`.
fn takes_the_place(given: &Given<'_>, effect: &Effect) -> bool {
    let plain = given.value.is_none() || effect.value.is_some();
    plain && (!given.outer || given.name == "--help")
}

/// Whether something holds by number of operands and by options. What makes things better must hold for certain.
fn holds(when: &When, reading: &Reading<'_>) -> bool {
    let (fewest, most) = reading.count();
    let (least, at_most) = (usize::from(when.at_least), usize::from(when.at_most));
    let at_most = if when.at_most == u16::MAX { usize::MAX } else { at_most };
    let possible = most >= least && fewest <= at_most;
    let certain = fewest >= least && most <= at_most;
    let counted = if when.is.is_some() { certain } else { possible };
    counted
        && (when.words.is_empty() || reading.has_words(when.words, when.is.is_some()))
        && (when.with.is_empty() || reading.has_any(when.with))
        && !reading.has_any(when.without)
}
