//! What policy says about commands.

use offshoot_vocabulary::{
    CommandPart, EffectCategory, ExitCode, PathAccess, PolicyDecision, PolicyLanguage, PolicyLayer,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::document::{Kind, Question};
use crate::schema::{self, Schema};

/// The schemas of what is here.
pub(crate) const SCHEMAS: &[Schema] = &[
    schema::of::<PolicyVerdictDoc>,
    schema::of::<PolicyTestDoc>,
    schema::of::<PolicyInitDoc>,
    schema::of::<PolicyReplayDoc>,
];

/// What was decided before a command ran.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DecisionDoc {
    /// What was decided.
    pub decision: PolicyDecision,
    /// Why.
    pub reason: String,
    /// The worst of the categories.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category: Option<EffectCategory>,
    /// All categories of all commands: `read_only` alone, or any of `interactive`, `mutating`, `networked`, `destructive` and
    /// `host_escape_risk`, the worst last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub categories: Vec<EffectCategory>,
    /// The rule that decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<RuleDoc>,
    /// Every simple command, redirection and assignment that was judged, in the order of the text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<JudgedDoc>,
    /// What would have let it run; only where it does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remedy: Option<RemedyDoc>,
}

/// A rule of a policy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RuleDoc {
    /// Whose rule it is.
    pub layer: PolicyLayer,
    /// Its name.
    pub name: String,
    /// The file it is in; none for what is built in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
}

/// One judged part of a command line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct JudgedDoc {
    /// The program and its arguments as far as they are known, `…` for what only the shell knows.
    pub command: String,
    /// What part it is.
    pub part: CommandPart,
    /// Programs that were looked through to find it, outermost first, such as `env` or `sh -c`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub wrappers: Vec<String>,
    /// Its categories, the worst last.
    pub categories: Vec<EffectCategory>,
    /// Why it has them.
    pub why: Vec<WhyDoc>,
    /// Files that it is known to touch.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<TouchedDoc>,
    /// What was decided about it alone.
    pub decision: PolicyDecision,
    /// The rule that decided.
    pub rule: RuleDoc,
}

/// Why a command has a category.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WhyDoc {
    /// The category.
    pub category: EffectCategory,
    /// Why.
    pub reason: String,
}

/// A file that a command touches.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TouchedDoc {
    /// What is done to it.
    pub access: PathAccess,
    /// Its path.
    pub path: String,
}

/// What would have let a command run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RemedyDoc {
    /// The smallest rule that would have allowed it, as TOML to append to the user's file of rules; none where no rule of the user can.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// The rule that allows this command alone, in the directory and with the network that it has; none where no rule says just that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exact: Option<String>,
    /// Why there is none that allows this command alone; only where `rule` would have allowed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inexact: Option<String>,
    /// What goes above the rule in a file that is new or empty; none without a rule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub header: Option<String>,
    /// Where it belongs, or why there is none.
    pub advice: String,
}

/// `policy check` and `policy explain`: what would be decided about a command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PolicyVerdictDoc {
    /// The command, for people.
    pub command: String,
    /// Whether it would run now.
    pub runs: bool,
    /// Whether it would wait for a person's approval. What could do nothing in a workspace whatever anybody approves, such as `sudo`, is
    /// denied instead.
    #[serde(default)]
    pub waits: bool,
    /// What would be decided, and why.
    pub verdict: DecisionDoc,
    /// The files that were read, in the order of their layers.
    pub files: Vec<PolicyFileDoc>,
}

impl Kind for PolicyVerdictDoc {
    const KIND: &'static str = "policy.verdict";
}

impl Question for PolicyVerdictDoc {
    fn answer(&self) -> ExitCode {
        match (self.runs, self.waits) {
            (true, _) => ExitCode::Success,
            (false, true) => ExitCode::PendingApproval,
            (false, false) => ExitCode::Denied,
        }
    }
}

/// A file of rules.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PolicyFileDoc {
    /// `user`, `project` or `request`.
    pub layer: PolicyLayer,
    /// Its path.
    pub path: String,
    /// What it is written in.
    pub language: PolicyLanguage,
}

/// `policy test`: whether the files hold what their examples say.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PolicyTestDoc {
    /// The files, in the order of their layers.
    pub files: Vec<PolicyFileDoc>,
    /// How many rules they have.
    pub rules: u64,
    /// How many examples were checked.
    pub examples: u64,
    /// What is wrong; nothing runs while there is one.
    pub problems: Vec<String>,
    /// Rules that can have no effect, and the like.
    pub warnings: Vec<String>,
}

impl Kind for PolicyTestDoc {
    const KIND: &'static str = "policy.test";

    fn exit_code(&self) -> ExitCode {
        if self.problems.is_empty() { ExitCode::Success } else { ExitCode::Failure }
    }
}

/// `policy init`: a file to start from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PolicyInitDoc {
    /// Where it was written.
    pub path: String,
    /// `user` or `project`.
    pub layer: PolicyLayer,
}

impl Kind for PolicyInitDoc {
    const KIND: &'static str = "policy.init";
}

/// `policy replay`: which recorded commands would be decided differently.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PolicyReplayDoc {
    /// How many recorded commands were looked at.
    pub execs: u64,
    /// How many of them would be decided as they were.
    pub same: u64,
    /// How many have no request that could be decided again.
    pub unreadable: u64,
    /// Those that would be decided differently, newest first.
    pub different: Vec<ReplayedDoc>,
}

impl Kind for PolicyReplayDoc {
    const KIND: &'static str = "policy.replay";
}

/// A recorded command that would be decided differently.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReplayedDoc {
    /// The exec.
    pub exec: String,
    /// When it started.
    pub started: String,
    /// What was run.
    pub command: String,
    /// What was decided then; none where nothing was recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<PolicyDecision>,
    /// What would be decided now.
    pub after: DecisionDoc,
}
