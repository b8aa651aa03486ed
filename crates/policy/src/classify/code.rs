//! Code that a tool is given: in an argument, in a file, on its standard input.

use offshoot_vocabulary::{EffectCategory, PathAccess};

use crate::knowledge::{Language, Role};
use crate::script::{InputSource, ShellWord};

use super::command::Inner;
use super::finding::Finding;
use super::program::Work;
use super::source::{self, Sources};
use super::{Classifier, awk, sed};

impl Classifier<'_> {
    /// Code in an argument.
    pub(super) fn code(
        &mut self,
        work: &mut Work<'_, '_>,
        language: Language,
        word: &ShellWord,
        option: Option<&'static str>,
    ) {
        let findings = match (language, word.literal()) {
            (Language::Shell, _) => {
                return work.inner.push(Inner::text(word.clone(), option));
            }
            (Language::Sed, Some(text)) => sed::findings(&text),
            (Language::Awk, Some(text)) => awk::findings(&text),
            (Language::Sed | Language::Awk, None) => {
                let name = work.reading.name();
                let why = format!("the code for {name} is only known when it runs");
                work.draft.add(EffectCategory::Mutating, why);
                return;
            }
            (Language::Other(_), literal) => {
                let name = work.reading.name();
                work.draft.add(EffectCategory::Mutating, format!("{name} runs code"));
                if literal.is_none() {
                    self.pend(work.scene.level, Sources::Substitutions);
                }
                return;
            }
        };
        for finding in findings {
            self.finding(work, finding);
        }
    }

    fn finding(&mut self, work: &mut Work<'_, '_>, finding: Finding) {
        let apart = work.scene.apart;
        match finding {
            Finding::Reads(path) => {
                self.path(&mut work.draft, PathAccess::Read, &ShellWord::new(path), apart);
            }
            Finding::Writes(path) => {
                self.path(&mut work.draft, PathAccess::Write, &ShellWord::new(path), apart);
            }
            Finding::Runs(text) => work.inner.push(Inner::text(ShellWord::new(text), Some("code"))),
            Finding::Feeds(text) => work.inner.push(Inner::fed(ShellWord::new(text), "code")),
            Finding::Connects(place) => {
                work.draft.add(EffectCategory::Networked, format!("its code connects to {place}"));
                work.draft.add(EffectCategory::Mutating, format!("its code connects to {place}"));
            }
            Finding::Unclear(why) => work.draft.add(EffectCategory::Mutating, why),
        }
    }

    /// A file with code.
    pub(super) fn script_file(&mut self, work: &mut Work<'_, '_>, word: &ShellWord) {
        let literal = word.literal();
        if matches!(literal.as_deref(), Some("-" | "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0"))
        {
            return self.code_from_input(work, true);
        }
        if literal.is_none() {
            self.pend(work.scene.level, Sources::Substitutions);
        }
        work.draft.add(EffectCategory::Mutating, format!("runs the code in {}", word.display()));
        self.path(&mut work.draft, PathAccess::Read, word, work.scene.apart);
    }

    /// Whether the tool reads code from its standard input, and what that means.
    pub(super) fn input(&mut self, work: &mut Work<'_, '_>) {
        let reading = &work.reading;
        let tool = reading.tool();
        let forced = tool.input.is_some() || reading.effects().any(|(_, e)| e.input.is_some());
        let roles = reading.overrides().last().unwrap_or(&tool.operands);
        let mut all = roles.ahead.iter().chain([&roles.rest]);
        let place = all.position(|role| *role == Role::Script);
        let wants = place.is_some_and(|place| reading.operands.len() <= place);
        let bare = reading.command.is_none();
        if forced || (wants && bare && reading.strange.is_empty() && !work.has_code()) {
            self.code_from_input(work, forced);
        }
    }

    /// Code on the standard input; `asked` where the arguments say so, and not only the lack of others.
    fn code_from_input(&mut self, work: &mut Work<'_, '_>, asked: bool) {
        let scene = work.scene.with_input();
        let shell = work.reading.tool().language == Language::Shell;
        work.draft.runs_input = true;
        match scene.input {
            InputSource::Inherited if self.context.stdin || asked => {
                work.draft.add(EffectCategory::Mutating, "runs what comes on its input");
            }
            InputSource::Inherited => {
                work.draft.add(EffectCategory::Interactive, "waits for what a person types");
                work.draft.add(EffectCategory::Mutating, "runs what a person types");
            }
            InputSource::Text(text) if shell => work.inner.push(Inner::text(text.clone(), None)),
            InputSource::Text(_) => {
                work.draft.add(EffectCategory::Mutating, "runs the code in its input")
            }
            InputSource::Several => {
                let why = "runs code in its input that could not be followed";
                work.draft.add(EffectCategory::Mutating, why);
                work.draft.add(EffectCategory::HostEscapeRisk, why);
                work.draft.unread = true;
            }
            InputSource::File(file) => {
                let why = format!("runs the code in {}", file.display());
                work.draft.add(EffectCategory::Mutating, why);
            }
            InputSource::Pipe(places) => {
                let known = match places.as_slice() {
                    [place] if shell => scene.script.commands.get(*place).and_then(source::output),
                    _ => None,
                };
                if let Some(text) = known {
                    return work.inner.push(Inner::text(ShellWord::new(text), None));
                }
                work.draft.add(EffectCategory::Mutating, "runs what another command prints");
                self.pend(scene.level, Sources::Pipe(places.clone()));
            }
        }
    }
}
