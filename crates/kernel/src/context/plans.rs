//! Plans in the journal of an agent.

use futures::FutureExt;
use futures::future::BoxFuture;

use super::TaskContext;
use crate::input::AttemptInput;
use crate::plan::{PlanEvent, PlanState, PlanStore};

/// A plan in the journal of the agent whose task carries it out.
#[derive(Clone, Debug)]
pub struct TaskPlanStore {
    context: TaskContext,
    plan: String,
}

impl TaskPlanStore {
    pub(super) fn new(context: TaskContext, plan: &str) -> Self {
        Self { context, plan: plan.to_owned() }
    }
}

impl PlanStore for TaskPlanStore {
    fn load(&self) -> BoxFuture<'_, Result<PlanState, String>> {
        let plan = self.plan.clone();
        async move {
            let commands = self.context.commands();
            let state = commands.view(move |state| state.plans.get(&plan).cloned()).await;
            state.map(Option::unwrap_or_default).map_err(|error| error.to_string())
        }
        .boxed()
    }

    fn append(&self, events: Vec<PlanEvent>) -> BoxFuture<'_, Result<(), String>> {
        let input = AttemptInput::Plan(self.plan.clone(), events);
        async move { self.context.send(input).await.map(drop).map_err(|error| error.to_string()) }
            .boxed()
    }
}
