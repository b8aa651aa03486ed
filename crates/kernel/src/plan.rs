//! Goals as graphs of steps, with rollback by branch.

mod event;
mod machine;
mod report;
mod run;
mod spec;
mod state;
mod store;
mod tree;

pub use self::event::PlanEvent;
pub use self::machine::{PlanInvocation, PlanMachine};
pub use self::report::{CritiqueVerdict, PlanOp, PlanReport};
pub use self::run::{PlanCall, PlanEffects, PlanRunError, Planner, StepRun};
pub use self::spec::{PlanError, PlanSpec, PlanStep};
pub use self::state::{BranchPhase, BranchState, PlanEnd, PlanState, StepPhase, StepState};
pub use self::store::{JournalPlanStore, PlanStore};
pub use self::tree::{PlanNode, PlanTree};
