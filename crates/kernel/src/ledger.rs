//! Budgets as a tree of accounts.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::amount::{Amount, Budget, Resource};

/// Names an account: 0 is the agent, others have the number of their task.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct AccountId(pub u64);

impl AccountId {
    /// The account of the agent.
    pub const AGENT: Self = Self(0);
}

impl fmt::Display for AccountId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            0 => formatter.write_str("agent"),
            task => write!(formatter, "task {task}"),
        }
    }
}

/// Names a reservation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct HoldId(pub u64);

/// One account.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Account {
    /// Where its budget came from; the agent has none.
    pub parent: Option<AccountId>,
    /// Its limits.
    pub budget: Budget,
    /// What was spent.
    #[serde(default)]
    pub spent: Amount,
    /// What is set aside: by reservations, and for accounts below.
    #[serde(default)]
    pub reserved: Amount,
    /// What was spent beyond the limit, because it cost more than was reserved.
    #[serde(default)]
    pub overrun: Amount,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Held {
    account: AccountId,
    amount: Amount,
}

/// All accounts and reservations of an agent.
///
/// ```
/// use offshoot_kernel::{AccountId, Amount, Budget, HoldId, Ledger};
///
/// let mut ledger = Ledger::new(Budget { tokens: Some(100), ..Budget::default() });
/// let task = AccountId(1);
/// ledger.open(task, AccountId::AGENT, Budget { tokens: Some(60), ..Budget::default() })?;
/// assert!(ledger.hold(HoldId(1), task, Amount::tokens(61)).is_err());
/// ledger.hold(HoldId(2), task, Amount::tokens(50))?;
/// ledger.settle(HoldId(2), Amount::tokens(20));
/// ledger.close(task);
/// assert_eq!(ledger.account(AccountId::AGENT).unwrap().spent.tokens, 20);
/// # Ok::<(), offshoot_kernel::BudgetError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ledger {
    accounts: BTreeMap<AccountId, Account>,
    holds: BTreeMap<HoldId, Held>,
}

/// Why something cannot be reserved.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BudgetError {
    /// There is not enough left.
    #[error(
        "{account} has {left} {resource} left of its budget, {wanted} are needed; raise the budget or ask for less"
    )]
    Exceeded {
        /// Whose limit it is.
        account: AccountId,
        /// Of what.
        resource: Resource,
        /// How much is left.
        left: u64,
        /// How much is needed.
        wanted: u64,
    },
    /// There is no such account.
    #[error("{0} has no account; it was closed with its task")]
    UnknownAccount(AccountId),
    /// The name is taken.
    #[error("the number {0} is used already")]
    Taken(u64),
}

impl Ledger {
    /// A ledger of an agent with a budget.
    #[must_use]
    pub fn new(budget: Budget) -> Self {
        let mut ledger = Self::default();
        ledger.set_budget(budget);
        ledger
    }

    /// Sets the limits of the agent. What was spent stays.
    pub fn set_budget(&mut self, budget: Budget) {
        self.accounts.entry(AccountId::AGENT).or_default().budget = budget;
    }

    /// An account that is open.
    #[must_use]
    pub fn account(&self, id: AccountId) -> Option<&Account> {
        self.accounts.get(&id)
    }

    /// All accounts that are open.
    pub fn accounts(&self) -> impl Iterator<Item = (AccountId, &Account)> {
        self.accounts.iter().map(|(id, account)| (*id, account))
    }

    /// How much is left of one resource for an account, if anything limits it.
    #[must_use]
    pub fn left(&self, id: AccountId, resource: Resource) -> Option<u64> {
        let limiting = *self.path(id, resource).last()?;
        self.accounts.get(&limiting)?.left(resource)
    }

    /// Whether an amount can be reserved.
    pub fn check(&self, id: AccountId, amount: &Amount) -> Result<(), BudgetError> {
        if !self.accounts.contains_key(&id) {
            return Err(BudgetError::UnknownAccount(id));
        }
        for resource in Resource::ALL {
            let wanted = amount.of(resource);
            let path = self.path(id, resource);
            let Some(limiting) = path.last() else { continue };
            let left = self.accounts.get(limiting).and_then(|account| account.left(resource));
            if let Some(left) = left.filter(|left| *left < wanted) {
                return Err(BudgetError::Exceeded { account: *limiting, resource, left, wanted });
            }
        }
        Ok(())
    }

    /// Reserves an amount.
    pub fn hold(&mut self, hold: HoldId, id: AccountId, amount: Amount) -> Result<(), BudgetError> {
        if self.holds.contains_key(&hold) {
            return Err(BudgetError::Taken(hold.0));
        }
        self.check(id, &amount)?;
        self.add_reserved(id, &amount);
        self.holds.insert(hold, Held { account: id, amount });
        Ok(())
    }

    /// Ends a reservation with what it came to, and says how much of that was beyond the limits.
    pub fn settle(&mut self, hold: HoldId, actual: Amount) -> Amount {
        let Some(held) = self.holds.remove(&hold) else { return Amount::default() };
        self.remove_reserved(held.account, &held.amount);
        let mut overrun = Amount::default();
        for resource in Resource::ALL {
            let wanted = actual.of(resource);
            let path = self.path(held.account, resource);
            let left = self.left(held.account, resource).unwrap_or(u64::MAX);
            let taken = wanted.min(left);
            *overrun.of_mut(resource) = wanted - taken;
            for id in &path {
                let Some(account) = self.accounts.get_mut(id) else { continue };
                add(account.spent.of_mut(resource), taken);
            }
            if let Some(account) = path.last().and_then(|id| self.accounts.get_mut(id)) {
                add(account.overrun.of_mut(resource), wanted - taken);
            }
        }
        overrun
    }

    /// How much of what a reservation came to would be beyond the limits.
    #[must_use]
    pub fn overrun(&self, hold: HoldId, actual: &Amount) -> Amount {
        let Some(held) = self.holds.get(&hold) else { return Amount::default() };
        let mut overrun = Amount::default();
        for resource in Resource::ALL {
            let left = self.left(held.account, resource).unwrap_or(u64::MAX);
            let room = left.saturating_add(held.amount.of(resource));
            *overrun.of_mut(resource) = actual.of(resource).saturating_sub(room);
        }
        overrun
    }

    /// What a reservation set aside.
    #[must_use]
    pub fn held(&self, hold: HoldId) -> Option<Amount> {
        self.holds.get(&hold).map(|held| held.amount)
    }

    /// Opens an account below another one, whose budget is reserved there.
    pub fn open(
        &mut self,
        id: AccountId,
        parent: AccountId,
        budget: Budget,
    ) -> Result<(), BudgetError> {
        if self.accounts.contains_key(&id) {
            return Err(BudgetError::Taken(id.0));
        }
        let amount = budget.amount();
        self.check(parent, &amount)?;
        self.add_reserved(parent, &amount);
        self.accounts.insert(id, Account { parent: Some(parent), budget, ..Account::default() });
        Ok(())
    }

    /// Closes an account: what it spent is spent in its parent, and the rest goes back. Accounts below it belong to its parent then.
    pub fn close(&mut self, id: AccountId) {
        let Some(parent) = self.accounts.get(&id).and_then(|account| account.parent) else {
            return;
        };
        for (hold, amount) in self.holds_of(|account| account == id) {
            self.settle(hold, amount);
        }
        // What is set aside below is taken out, and set aside again in its new place.
        let below = self.below(id);
        let holds: Vec<Held> =
            self.holds.values().filter(|held| below.contains(&held.account)).cloned().collect();
        for held in &holds {
            self.remove_reserved(held.account, &held.amount);
        }
        for below in &below {
            let (of, amount) = self.set_aside_for(*below);
            self.remove_reserved(of, &amount);
        }
        let Some(account) = self.accounts.remove(&id) else { return };
        self.remove_reserved(parent, &account.budget.amount());
        for resource in Resource::ALL {
            // Without a limit of its own, each draw was counted above already.
            if account.budget.of(resource).is_none() {
                continue;
            }
            let path = self.path(parent, resource);
            for above in &path {
                let Some(above) = self.accounts.get_mut(above) else { continue };
                add(above.spent.of_mut(resource), account.spent.of(resource));
            }
            if let Some(limiting) = path.last().and_then(|id| self.accounts.get_mut(id)) {
                add(limiting.overrun.of_mut(resource), account.overrun.of(resource));
            }
        }
        for below in &below {
            if let Some(account) = self.accounts.get_mut(below)
                && account.parent == Some(id)
            {
                account.parent = Some(parent);
            }
        }
        for below in &below {
            let (of, amount) = self.set_aside_for(*below);
            self.add_reserved(of, &amount);
        }
        for held in holds {
            self.add_reserved(held.account, &held.amount);
        }
    }

    fn holds_of(&self, of: impl Fn(AccountId) -> bool) -> Vec<(HoldId, Amount)> {
        let holds = self.holds.iter().filter(|(_, held)| of(held.account));
        holds.map(|(hold, held)| (*hold, held.amount)).collect()
    }

    /// All accounts below one.
    fn below(&self, id: AccountId) -> BTreeSet<AccountId> {
        let mut below = BTreeSet::new();
        // Accounts are opened behind those that they are below, but a closed one may have moved them.
        loop {
            let more: Vec<AccountId> = self
                .accounts
                .iter()
                .filter(|(_, account)| {
                    account.parent.is_some_and(|of| of == id || below.contains(&of))
                })
                .map(|(id, _)| *id)
                .filter(|id| !below.contains(id))
                .collect();
            if more.is_empty() {
                return below;
            }
            below.extend(more);
        }
    }

    /// What is set aside for an account, and where.
    fn set_aside_for(&self, id: AccountId) -> (AccountId, Amount) {
        let account = self.accounts.get(&id);
        let parent = account.and_then(|account| account.parent).unwrap_or_default();
        (parent, account.map(|account| account.budget.amount()).unwrap_or_default())
    }

    /// The accounts that count a draw: up to the first one that limits it.
    fn path(&self, id: AccountId, resource: Resource) -> Vec<AccountId> {
        let mut path = Vec::new();
        let mut next = Some(id);
        while let Some((id, account)) = next.and_then(|id| Some((id, self.accounts.get(&id)?))) {
            path.push(id);
            if account.budget.of(resource).is_some() {
                break;
            }
            next = account.parent;
        }
        path
    }

    fn add_reserved(&mut self, id: AccountId, amount: &Amount) {
        for resource in Resource::ALL {
            for id in self.path(id, resource) {
                let Some(account) = self.accounts.get_mut(&id) else { continue };
                add(account.reserved.of_mut(resource), amount.of(resource));
            }
        }
    }

    fn remove_reserved(&mut self, id: AccountId, amount: &Amount) {
        for resource in Resource::ALL {
            for id in self.path(id, resource) {
                let Some(account) = self.accounts.get_mut(&id) else { continue };
                let reserved = account.reserved.of_mut(resource);
                *reserved = reserved.saturating_sub(amount.of(resource));
            }
        }
    }
}

impl Account {
    /// What is left of a resource, if it is limited here.
    #[must_use]
    pub fn left(&self, resource: Resource) -> Option<u64> {
        let limit = self.budget.of(resource)?;
        let used = self.spent.of(resource).saturating_add(self.reserved.of(resource));
        Some(limit.saturating_sub(used))
    }
}

fn add(sum: &mut u64, more: u64) {
    *sum = sum.saturating_add(more);
}
