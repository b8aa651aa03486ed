//! What the agent can do.

use std::sync::Arc;

use futures::FutureExt;
use futures::future::{BoxFuture, ready};
use offshoot_provider::ToolSpec;

use crate::call::{
    AgentCallKey, Assessment, CallEffect, CallFate, CallPermission, CallReply, CallReport,
    PlannedCall,
};

/// Tools that a conversation can use. Whoever implements them records results by the keys of calls, so that none runs twice.
pub trait Tools: Send + Sync {
    /// What the model is told of them.
    fn specs(&self) -> Vec<ToolSpec>;

    /// What a call does, and whether it may run. Nothing is done yet.
    fn assess(&self, call: &PlannedCall) -> Assessment;

    /// Makes a call. Dropping the future does not have to stop it; [`Tools::stop`] does.
    fn call(&self, call: PlannedCall) -> BoxFuture<'static, CallReply>;

    /// What became of a call that was started by a process which is gone.
    fn outcome_of(&self, call: PlannedCall) -> BoxFuture<'static, CallFate>;

    /// Waits for a call that runs, as [`Tools::outcome_of`] said.
    fn attach(&self, call: PlannedCall) -> BoxFuture<'static, CallReply>;

    /// Asks calls to stop. Their futures are waited for, with some patience, before anything else begins; what they come to is not wanted any more.
    fn stop(&self, keys: &[AgentCallKey]);

    /// Ends what calls left running, and says what that was, each in a line.
    fn finish(&self) -> BoxFuture<'static, Vec<String>>;
}

impl<T: Tools + ?Sized> Tools for Arc<T> {
    fn specs(&self) -> Vec<ToolSpec> {
        (**self).specs()
    }

    fn assess(&self, call: &PlannedCall) -> Assessment {
        (**self).assess(call)
    }

    fn call(&self, call: PlannedCall) -> BoxFuture<'static, CallReply> {
        (**self).call(call)
    }

    fn outcome_of(&self, call: PlannedCall) -> BoxFuture<'static, CallFate> {
        (**self).outcome_of(call)
    }

    fn attach(&self, call: PlannedCall) -> BoxFuture<'static, CallReply> {
        (**self).attach(call)
    }

    fn stop(&self, keys: &[AgentCallKey]) {
        (**self).stop(keys);
    }

    fn finish(&self) -> BoxFuture<'static, Vec<String>> {
        (**self).finish()
    }
}

/// No tools at all: the model can only talk.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoTools;

impl Tools for NoTools {
    fn specs(&self) -> Vec<ToolSpec> {
        Vec::new()
    }

    fn assess(&self, call: &PlannedCall) -> Assessment {
        let permission = CallPermission::Refused { why: "There are no tools.".to_owned() };
        Assessment { key: call.key.clone(), effect: CallEffect::Reads, permission }
    }

    fn call(&self, _call: PlannedCall) -> BoxFuture<'static, CallReply> {
        ready(CallReply::Done(CallReport::failure("There are no tools."))).boxed()
    }

    fn outcome_of(&self, _call: PlannedCall) -> BoxFuture<'static, CallFate> {
        ready(CallFate::NotStarted).boxed()
    }

    fn attach(&self, call: PlannedCall) -> BoxFuture<'static, CallReply> {
        self.call(call)
    }

    fn stop(&self, _keys: &[AgentCallKey]) {}

    fn finish(&self) -> BoxFuture<'static, Vec<String>> {
        ready(Vec::new()).boxed()
    }
}
