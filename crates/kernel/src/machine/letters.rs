//! Dead letters.

use super::{Reply, Turn};
use crate::event::KernelEvent;
use crate::input::{KernelRefusal, KernelReply};
use crate::life::LifeState;
use crate::task::{DeadLetter, TaskId};

impl Turn<'_> {
    pub(super) fn resend(&mut self, id: TaskId) -> Reply {
        let life = self.state().life;
        if !matches!(life, LifeState::Ready | LifeState::Active | LifeState::Suspended) {
            return Err(KernelRefusal::NotAccepting(life));
        }
        let limit = self.state().limits.queue;
        if self.state().tasks.len() >= limit {
            return Err(KernelRefusal::Full { what: "the queue", limit });
        }
        let task = &self.letter(id)?.task;
        if let Some(budget) = task.message.budget {
            let account = self.state().parent_account(&task.source);
            self.state().ledger.check(account, &budget.amount())?;
        }
        self.record(KernelEvent::LetterResent { id });
        self.machine.index_task(id);
        Ok(KernelReply::Done)
    }

    pub(super) fn drop_letter(&mut self, id: TaskId) -> Reply {
        self.letter(id)?;
        self.record(KernelEvent::LetterDropped { id, why: "dropped by request".to_owned() });
        Ok(KernelReply::Done)
    }

    fn letter(&self, id: TaskId) -> Result<&DeadLetter, KernelRefusal> {
        let unknown = || KernelRefusal::Unknown { what: "dead letter", name: id.to_string() };
        self.state().letters.get(&id).ok_or_else(unknown)
    }
}
