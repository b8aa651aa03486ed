//! What is looked for before anything is sent.

pub(crate) mod personal;

use std::collections::{BTreeMap, BTreeSet};

use offshoot_scrub::{REDACTED, Redactor};
use serde::{Deserialize, Serialize};

use crate::error::{BlockedKind, BuildError};
use crate::section::Section;
use crate::template::digest::TemplateDigest;
use crate::word::words;
use personal::{PersonalKind, PersonalPatterns, PersonalSpan};

words! {
    /// What becomes of what is found; the strictest is the last.
    pub enum GuardAction {
        /// Nothing.
        Ignore = "ignore",
        /// It stays, and is recorded.
        Warn = "warn",
        /// A placeholder takes its place.
        Redact = "redact",
        /// Nothing is sent.
        Block = "block",
    }
}

/// Something that was found, without what it says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GuardFinding {
    /// The section.
    pub section: String,
    /// `secret`, or a kind of personal data.
    pub kind: String,
    /// What became of it.
    pub action: GuardAction,
    /// How often it was found.
    pub count: usize,
}

/// What may be in a prompt.
///
/// ```
/// use offshoot_prompt::{ContextSection, GuardAction, Guardrails, PersonalKind, PromptEngine, PromptRequest, PromptSource};
///
/// let template = "version = 1\n[[template]]\nname = \"sum\"\nversion = 1\nlayer = \"task\"\ntext = \"Sum up.\"\n";
/// let guardrails = Guardrails::default().with(PersonalKind::EmailAddress, GuardAction::Redact);
/// let engine = PromptEngine::load(&[PromptSource::new("sum.toml", template)])?.with_guardrails(guardrails);
/// let mail = ContextSection::new("mail", "ann@example.org wrote to bob@example.org, then ann@example.org again").unfenced();
/// let built = engine.build(&PromptRequest::new("any", "sum").with_context(mail))?;
/// assert!(built.text().ends_with("[email-1] wrote to [email-2], then [email-1] again"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Guardrails {
    secrets: GuardAction,
    personal: BTreeMap<PersonalKind, GuardAction>,
    patterns: PersonalPatterns,
    redactor: Redactor,
    system: Option<BTreeSet<TemplateDigest>>,
}

impl Default for Guardrails {
    fn default() -> Self {
        let personal = [
            (PersonalKind::EmailAddress, GuardAction::Warn),
            (PersonalKind::PhoneNumber, GuardAction::Warn),
            (PersonalKind::Iban, GuardAction::Redact),
            (PersonalKind::CardNumber, GuardAction::Redact),
            (PersonalKind::IpAddress, GuardAction::Ignore),
            (PersonalKind::NationalId, GuardAction::Redact),
        ];
        Self {
            secrets: GuardAction::Block,
            personal: personal.into(),
            patterns: PersonalPatterns::default().with_ip_addresses(),
            redactor: Redactor::default(),
            system: None,
        }
    }
}

impl Guardrails {
    /// With another action for a kind of personal data.
    pub fn with(mut self, kind: PersonalKind, action: GuardAction) -> Self {
        self.personal.insert(kind, action);
        self
    }

    /// With another action for credentials.
    pub fn with_secrets(mut self, action: GuardAction) -> Self {
        self.secrets = action;
        self
    }

    /// With values that are known to be credentials.
    pub fn with_redactor(mut self, redactor: Redactor) -> Self {
        self.redactor = redactor;
        self
    }

    /// With other patterns, such as those of national ids.
    pub fn with_patterns(mut self, patterns: PersonalPatterns) -> Self {
        self.patterns = patterns;
        self
    }

    /// Only templates with these digests may speak in the system layer.
    pub fn allow_system(mut self, digests: impl IntoIterator<Item = TemplateDigest>) -> Self {
        self.system = Some(digests.into_iter().collect());
        self
    }

    /// Whether a template may speak in the system layer.
    pub(crate) fn allows_system(&self, digest: TemplateDigest) -> bool {
        self.system.as_ref().is_none_or(|allowed| allowed.contains(&digest))
    }

    fn action(&self, kind: PersonalKind) -> GuardAction {
        self.personal.get(&kind).copied().unwrap_or(GuardAction::Ignore)
    }

    /// Looks at a section and changes what may not be sent as it is.
    pub(crate) fn guard(
        &self,
        section: &mut Section,
        placeholders: &mut Placeholders,
        findings: &mut Vec<GuardFinding>,
    ) -> Result<(), BuildError> {
        let mut found = |kind: &str, action: GuardAction, count: usize| {
            let (section, kind) = (section.name.clone(), kind.to_owned());
            findings.push(GuardFinding { section, kind, action, count });
        };
        let blocked = |line: usize, kind: BlockedKind| {
            Err(BuildError::Blocked { section: section.name.clone(), line, kind })
        };
        if self.secrets != GuardAction::Ignore && !self.redactor.is_clean(&section.text) {
            let without = self.redactor.redact(&section.text).into_owned();
            if self.secrets == GuardAction::Block {
                return blocked(first_difference(&section.text, &without), BlockedKind::Secret);
            }
            let count = without.matches(REDACTED).count()
                - section.text.matches(REDACTED).count().min(without.matches(REDACTED).count());
            found("secret", self.secrets, count.max(1));
            if self.secrets == GuardAction::Redact {
                section.text = without;
            }
        }
        let spans = self.spans(&section.text);
        let mut counts: BTreeMap<(PersonalKind, GuardAction), usize> = BTreeMap::new();
        let mut text = String::with_capacity(section.text.len());
        let mut at = 0;
        for (span, action) in spans {
            let line = section.text[..span.start].matches('\n').count() + 1;
            if action == GuardAction::Block {
                return blocked(line, BlockedKind::Personal(span.kind));
            }
            *counts.entry((span.kind, action)).or_default() += 1;
            if action == GuardAction::Redact {
                text.push_str(&section.text[at..span.start]);
                text.push_str(&placeholders.of(span.kind, &section.text[span.start..span.end]));
                at = span.end;
            }
        }
        for ((kind, action), count) in counts {
            found(kind.as_str(), action, count);
        }
        if at > 0 {
            text.push_str(&section.text[at..]);
            section.text = text;
        }
        Ok(())
    }

    /// Everything that is not ignored, in order; what overlaps is one, with the stricter action.
    fn spans(&self, text: &str) -> Vec<(PersonalSpan, GuardAction)> {
        let mut joined: Vec<(PersonalSpan, GuardAction)> = Vec::new();
        for span in self.patterns.find(text) {
            let action = self.action(span.kind);
            if action == GuardAction::Ignore {
                continue;
            }
            match joined.last_mut() {
                Some((last, its)) if span.start < last.end => {
                    last.end = last.end.max(span.end);
                    if action > *its {
                        (last.kind, *its) = (span.kind, action);
                    }
                }
                _ => joined.push((span, action)),
            }
        }
        joined
    }

    /// Looks at the finished text: nothing may be left of what is blocked or redacted.
    pub(crate) fn last_look(&self, text: &str) -> Result<(), BuildError> {
        let blocked = |line, kind| {
            Err(BuildError::Blocked { section: "the whole prompt".to_owned(), line, kind })
        };
        if self.secrets >= GuardAction::Redact && !self.redactor.is_clean(text) {
            let line = first_difference(text, &self.redactor.redact(text));
            return blocked(line, BlockedKind::Secret);
        }
        let spans = self.spans(text);
        match spans.into_iter().find(|(_, action)| *action >= GuardAction::Redact) {
            Some((span, _)) => {
                let line = text[..span.start].matches('\n').count() + 1;
                blocked(line, BlockedKind::Personal(span.kind))
            }
            None => Ok(()),
        }
    }
}

/// The line on which two texts begin to differ.
fn first_difference(one: &str, other: &str) -> usize {
    let same = one.bytes().zip(other.bytes()).take_while(|(one, other)| one == other).count();
    one.as_bytes()[..same].iter().filter(|byte| **byte == b'\n').count() + 1
}

/// What stands in the place of values: the same for the same value, in a whole prompt.
#[derive(Debug, Default)]
pub(crate) struct Placeholders {
    numbers: BTreeMap<(PersonalKind, String), usize>,
    last: BTreeMap<PersonalKind, usize>,
}

impl Placeholders {
    fn of(&mut self, kind: PersonalKind, value: &str) -> String {
        // However it is written, it is the same number or address.
        let plain: String = match kind {
            PersonalKind::EmailAddress | PersonalKind::IpAddress => value.to_lowercase(),
            _ => {
                value.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_uppercase).collect()
            }
        };
        let last = self.last.entry(kind).or_default();
        let number = self.numbers.entry((kind, plain)).or_insert_with(|| {
            *last += 1;
            *last
        });
        format!("[{kind}-{number}]")
    }
}
