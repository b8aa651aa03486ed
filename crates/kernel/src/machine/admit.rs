//! What is accepted.

use super::{Reply, Turn};
use crate::event::KernelEvent;
use crate::input::{KernelRefusal, KernelReply};
use crate::ledger::AccountId;
use crate::life::LifeState;
use crate::task::{SubTask, Task, TaskId, TaskMessage, TaskPhase, TaskSource};

/// The longest sender, key or name.
const NAME_BYTES: usize = 1_024;

impl Turn<'_> {
    pub(super) fn send(&mut self, message: TaskMessage) -> Reply {
        let life = self.state().life;
        if !matches!(life, LifeState::Ready | LifeState::Active | LifeState::Suspended) {
            return Err(KernelRefusal::NotAccepting(life));
        }
        check_name("the sender", &message.sender)?;
        if let Some(key) = &message.key {
            check_name("the key", key)?;
            if let Some((id, outcome)) = self.state().seen(&message.sender, key) {
                return Ok(KernelReply::Duplicate(id, outcome.cloned()));
            }
        }
        let limits = self.state().limits;
        if life == LifeState::Suspended && self.state().accepted_suspended >= limits.suspended_queue
        {
            let limit = limits.suspended_queue;
            return Err(KernelRefusal::Full { what: "the queue of the suspended agent", limit });
        }
        let of_sender = self.state().of_sender.get(&message.sender).copied().unwrap_or(0);
        if of_sender >= limits.queue_per_sender {
            let limit = limits.queue_per_sender;
            return Err(KernelRefusal::Full { what: "the queue of the sender", limit });
        }
        if let Some(deadline_ms) = message.deadline_ms.filter(|at| *at <= self.now.wall_ms) {
            return Err(KernelRefusal::TooLate { deadline_ms, now_ms: self.now.wall_ms });
        }
        self.check_size("the body", &message.body)?;
        let id = self.accept(TaskSource::Message, message, 0)?;
        Ok(KernelReply::Accepted(id))
    }

    /// Makes a task, if there is room and budget for it.
    pub(super) fn accept(
        &mut self,
        source: TaskSource,
        message: TaskMessage,
        depth: u32,
    ) -> Result<TaskId, KernelRefusal> {
        let limit = self.state().limits.queue;
        if self.state().tasks.len() >= limit {
            return Err(KernelRefusal::Full { what: "the queue", limit });
        }
        let id = TaskId(self.state().last_task + 1);
        let mut account = self.state().parent_account(&source);
        if let Some(budget) = message.budget {
            self.state().ledger.check(account, &budget.amount())?;
            account = AccountId(id.0);
        }
        let task = Task {
            id,
            source,
            message,
            accepted_ms: self.now.wall_ms,
            depth,
            attempt: 0,
            phase: TaskPhase::default(),
            progress: None,
            effects: Default::default(),
            children: Default::default(),
            questions: Default::default(),
            account,
            cancel: false,
        };
        self.record(KernelEvent::Accepted { task: Box::new(task) });
        self.machine.index_task(id);
        Ok(id)
    }

    pub(super) fn spawn(&mut self, parent: TaskId, key: String, sub: SubTask) -> Reply {
        check_name("the key", &key)?;
        let limits = self.state().limits;
        let task = self.state().task(parent).ok_or_else(|| unknown_task(parent))?;
        if let Some(child) = task.children.get(&key) {
            return Ok(KernelReply::Spawned(child.id));
        }
        if task.children.len() >= limits.children_per_task {
            let limit = limits.children_per_task;
            return Err(KernelRefusal::Full { what: "the list of sub-tasks", limit });
        }
        let depth = task.depth + 1;
        if depth > limits.depth {
            let limit = usize::try_from(limits.depth).unwrap_or(usize::MAX);
            return Err(KernelRefusal::Full { what: "the depth of sub-tasks", limit });
        }
        let SubTask { body, class, promise, retry, budget } = sub;
        let message = TaskMessage {
            sender: task.message.sender.clone(),
            key: None,
            class: class.unwrap_or(task.message.class),
            body,
            // A part of a task is not done later than the whole.
            deadline_ms: task.message.deadline_ms,
            promise,
            retry,
            budget,
        };
        self.check_size("the body", &message.body)?;
        let id = self.accept(TaskSource::Parent { task: parent, key }, message, depth)?;
        Ok(KernelReply::Spawned(id))
    }
}

pub(super) fn unknown_task(id: TaskId) -> KernelRefusal {
    KernelRefusal::Unknown { what: "open task", name: id.to_string() }
}

pub(super) fn check_name(what: &'static str, name: &str) -> Result<(), KernelRefusal> {
    match name.len() {
        bytes if bytes > NAME_BYTES => {
            Err(KernelRefusal::TooLarge { what, bytes, limit: NAME_BYTES })
        }
        _ => Ok(()),
    }
}
