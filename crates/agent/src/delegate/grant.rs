//! What an agent may do and spend: it can only become less.

use std::collections::BTreeSet;
use std::sync::Arc;

use futures::FutureExt;
use futures::future::{BoxFuture, ready};
use offshoot_provider::ToolSpec;
use serde::Deserialize;

use crate::call::{
    AgentCallKey, Assessment, CallEffect, CallFate, CallPermission, CallReply, PlannedCall,
};
use crate::limits::{Spent, TurnLimits};
use crate::tools::Tools;

/// What an agent may do and spend. There are two ways to get one: [`Grant::root`], for whoever answers to the user, and [`Grant::narrow`], which gives no more
/// than the grant that it is called on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    /// The only tools; none for all.
    tools: Option<BTreeSet<String>>,
    may_write: bool,
    /// How many sub-agents may stand below one another.
    depth: u32,
    limits: TurnLimits,
}

/// What somebody wants of a grant. What is absent is as in the grant.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct GrantWish {
    /// The only tools.
    #[serde(default)]
    pub tools: Option<BTreeSet<String>>,
    /// Whether nothing may be changed.
    #[serde(default)]
    pub read_only: bool,
    /// How many answers.
    #[serde(default)]
    pub steps: Option<u64>,
    /// How many tokens.
    #[serde(default)]
    pub tokens: Option<u64>,
}

impl Grant {
    /// All tools, writing, within limits. So many sub-agents may stand below one another.
    pub fn root(limits: TurnLimits, depth: u32) -> Self {
        Self { tools: None, may_write: true, depth, limits }
    }

    /// What a sub-agent gets: the lesser of each right and budget, and one level less to delegate.
    #[must_use]
    pub fn narrow(&self, wish: &GrantWish, limits: TurnLimits, spent: &Spent) -> Self {
        let tools = match (&self.tools, &wish.tools) {
            (Some(own), Some(wanted)) => Some(own.intersection(wanted).cloned().collect()),
            (own, wanted) => own.clone().or_else(|| wanted.clone()),
        };
        let wanted = TurnLimits {
            steps: wish.steps.or(limits.steps),
            tokens: wish.tokens.or(limits.tokens),
            ..limits
        };
        Self {
            tools,
            may_write: self.may_write && !wish.read_only,
            depth: self.depth.saturating_sub(1),
            limits: self.limits.without(spent).meet(limits).meet(wanted),
        }
    }

    /// What may be spent.
    pub fn limits(&self) -> TurnLimits {
        self.limits
    }

    /// Whether work may be given to a sub-agent.
    pub fn may_delegate(&self) -> bool {
        self.depth > 0
    }

    /// Whether a tool may be used.
    pub fn has_tool(&self, tool: &str) -> bool {
        self.tools.as_ref().is_none_or(|tools| tools.contains(tool))
    }

    /// Whether something may be changed.
    pub fn may_write(&self) -> bool {
        self.may_write
    }
}

/// Tools within a grant.
pub struct Narrowed {
    tools: Arc<dyn Tools>,
    grant: Grant,
}

impl Narrowed {
    /// Leaves out what the grant does not have.
    pub fn new(tools: Arc<dyn Tools>, grant: Grant) -> Self {
        Self { tools, grant }
    }

    /// Why a call may not run, if it may not.
    fn refusal(&self, call: &PlannedCall, effect: CallEffect) -> Option<String> {
        if !self.grant.has_tool(&call.call.name) {
            return Some(format!("You may not use {}.", call.call.name));
        }
        let writes = effect == CallEffect::Writes && !self.grant.may_write;
        writes.then(|| "You may change nothing: only calls that read are allowed.".to_owned())
    }
}

impl Tools for Narrowed {
    fn specs(&self) -> Vec<ToolSpec> {
        let mut specs = self.tools.specs();
        specs.retain(|spec| self.grant.has_tool(&spec.name));
        specs
    }

    fn assess(&self, call: &PlannedCall) -> Assessment {
        let mut assessment = self.tools.assess(call);
        if let Some(why) = self.refusal(call, assessment.effect) {
            assessment.permission = CallPermission::Refused { why };
        }
        assessment
    }

    fn call(&self, call: PlannedCall) -> BoxFuture<'static, CallReply> {
        // Whoever calls may have assessed it elsewhere.
        let effect = self.tools.assess(&call).effect;
        match self.refusal(&call, effect) {
            Some(why) => ready(CallReply::Done(crate::call::CallReport::failure(why))).boxed(),
            None => self.tools.call(call),
        }
    }

    fn outcome_of(&self, call: PlannedCall) -> BoxFuture<'static, CallFate> {
        self.tools.outcome_of(call)
    }

    fn attach(&self, call: PlannedCall) -> BoxFuture<'static, CallReply> {
        self.tools.attach(call)
    }

    fn stop(&self, keys: &[AgentCallKey]) {
        self.tools.stop(keys);
    }

    fn finish(&self) -> BoxFuture<'static, Vec<String>> {
        self.tools.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether one grant has no more than another.
    fn is_within(one: &Grant, other: &Grant) -> bool {
        let tools = match (&one.tools, &other.tools) {
            (_, None) => true,
            (Some(one), Some(other)) => one.is_subset(other),
            (None, Some(_)) => false,
        };
        tools
            && (other.may_write || !one.may_write)
            && one.depth <= other.depth
            && one.limits.meet(other.limits) == one.limits
    }

    #[test]
    fn no_wish_widens_a_grant() {
        let mut random = fastrand::Rng::with_seed(11);
        let number = |random: &mut fastrand::Rng| random.bool().then(|| random.u64(0..100));
        for _ in 0..2000 {
            let limits = |random: &mut fastrand::Rng| TurnLimits {
                steps: number(random),
                tokens: number(random),
                time_ms: number(random),
                failures: random.u32(0..9),
                ..TurnLimits::default()
            };
            let mut grant = Grant::root(limits(&mut random), random.u32(0..4));
            for _ in 0..4 {
                let names = ["read", "write", "run", "fetch"];
                let some = |random: &mut fastrand::Rng| {
                    names.iter().filter(|_| random.bool()).map(|name| (*name).to_owned()).collect()
                };
                let wish = GrantWish {
                    tools: random.bool().then(|| some(&mut random)),
                    read_only: random.bool(),
                    steps: number(&mut random),
                    tokens: number(&mut random),
                };
                let spent = Spent { tokens: random.u64(0..50), ..Spent::default() };
                let narrow = grant.narrow(&wish, limits(&mut random), &spent);
                assert!(is_within(&narrow, &grant), "{grant:?} {wish:?} {narrow:?}");
                assert!(narrow.depth < grant.depth || grant.depth == 0);
                assert!(!wish.read_only || !narrow.may_write());
                grant = narrow;
            }
        }
    }
}
