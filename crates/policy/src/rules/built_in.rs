//! What holds where no file says otherwise.

use std::borrow::Cow;
use std::sync::{Arc, LazyLock};

use offshoot_vocabulary::{EffectCategory, Network, PolicyDecision, PolicyLayer};

use crate::category::Categories;
use crate::context::Context;
use crate::verdict::rule_info::RuleInfo;

/// A decision and the rule that made it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Opinion<'a> {
    pub(crate) decision: PolicyDecision,
    pub(crate) rule: &'a Arc<RuleInfo>,
}

impl<'a> Opinion<'a> {
    /// The stricter of two; the first where they agree.
    pub(crate) fn stricter(self, other: Opinion<'a>) -> Self {
        if other.decision > self.decision { other } else { self }
    }
}

/// What is built in for a command of these categories.
pub(crate) fn built_in(categories: Categories, network: Network) -> Opinion<'static> {
    let row = if categories.contains(EffectCategory::HostEscapeRisk) {
        &BEYOND
    } else if destroys_elsewhere(categories, network) {
        &ELSEWHERE
    } else if categories.is_read_only() {
        &READS
    } else {
        &UNDOABLE
    };
    Opinion { decision: row.decision, rule: &row.rule }
}

/// The same for a command in its surroundings.
pub(crate) fn stands(categories: Categories, context: &Context) -> Opinion<'static> {
    if context.unconfined && categories.contains(EffectCategory::HostEscapeRisk) {
        return Opinion { decision: WITHOUT_WALLS.decision, rule: &WITHOUT_WALLS.rule };
    }
    built_in(categories, context.network)
}

/// Whether it destroys what no checkpoint brings back.
pub(crate) fn destroys_elsewhere(categories: Categories, network: Network) -> bool {
    network != Network::None
        && categories.contains(EffectCategory::Networked)
        && categories.contains(EffectCategory::Destructive)
}

/// What a command without walls does, whatever its text says.
pub(crate) const BEYOND_WALLS: Categories = Categories::only(EffectCategory::HostEscapeRisk);

/// The categories that count. What would be changed in a workspace that is mounted read-only is refused by the kernel; what
/// reaches further may change things elsewhere. Without walls anything does.
pub(crate) fn effective(categories: Categories, context: &Context) -> Categories {
    match context.unconfined {
        true => categories.union(BEYOND_WALLS),
        false => counting(categories, context),
    }
}

/// The same for what a rule leaves uncovered, which has to mean commands without walls itself.
pub(crate) fn counting(categories: Categories, context: &Context) -> Categories {
    let stays_inside = !categories.contains(EffectCategory::Networked)
        && !categories.contains(EffectCategory::HostEscapeRisk);
    if context.unconfined || !(context.read_only && stays_inside) {
        return categories;
    }
    let changes = [EffectCategory::Mutating, EffectCategory::Destructive];
    categories.iter().filter(|category| !changes.contains(category)).collect()
}

/// A row of the table.
struct Row {
    decision: PolicyDecision,
    rule: Arc<RuleInfo>,
}

fn row(name: &str, decision: PolicyDecision, reason: &'static str) -> Row {
    let rule = RuleInfo {
        layer: PolicyLayer::BuiltIn,
        name: name.to_owned(),
        file: None,
        reason: Some(Cow::Borrowed(reason)),
        is_default: false,
    };
    Row { decision, rule: Arc::new(rule) }
}

static READS: LazyLock<Row> =
    LazyLock::new(|| row("read-only", PolicyDecision::Allow, "it only reads"));

static UNDOABLE: LazyLock<Row> = LazyLock::new(|| {
    row("undoable", PolicyDecision::AllowWithCheckpoint, "what it changes inside can be undone")
});

static ELSEWHERE: LazyLock<Row> = LazyLock::new(|| {
    row(
        "destroys-elsewhere",
        PolicyDecision::RequireApproval,
        "it destroys something over the network, where undo does not reach",
    )
});

static WITHOUT_WALLS: LazyLock<Row> = LazyLock::new(|| {
    row(
        "without-walls",
        PolicyDecision::RequireApproval,
        "it would see all of the host, which takes a rule with `unconfined = true`",
    )
});

static BEYOND: LazyLock<Row> = LazyLock::new(|| {
    row("beyond-the-workspace", PolicyDecision::RequireApproval, "it reaches beyond the workspace")
});
