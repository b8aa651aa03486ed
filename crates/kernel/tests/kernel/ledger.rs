//! Budgets under random draws.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use fastrand::Rng;
use offshoot_kernel::{AccountId, Amount, Budget, HoldId, Ledger, Resource};

const RESOURCES: usize = 4;

fn amount(rng: &mut Rng, most: u64) -> Amount {
    Amount {
        tokens: rng.u64(0..most),
        micros: rng.u64(0..most),
        ms: rng.u64(0..most),
        execs: rng.u64(0..most),
    }
}

fn budget(rng: &mut Rng, most: u64) -> Budget {
    let mut limit = || rng.bool().then(|| rng.u64(0..most));
    Budget { tokens: limit(), micros: limit(), ms: limit(), execs: limit() }
}

fn check(ledger: &Ledger, context: &str) {
    for (id, account) in ledger.accounts() {
        for resource in Resource::ALL {
            let used = account.spent.of(resource) + account.reserved.of(resource);
            let limit = account.budget.of(resource).unwrap_or(u64::MAX);
            assert!(used <= limit, "{context}: {id} has used {used} of {limit} {resource}");
        }
    }
}

#[test]
fn no_account_is_ever_exceeded() {
    for seed in 0..300 {
        let mut rng = Rng::with_seed(seed);
        let mut ledger = Ledger::new(Budget {
            tokens: Some(1_000),
            micros: Some(500),
            ..budget(&mut rng, 2_000)
        });
        let mut open = vec![AccountId::AGENT];
        let mut children: BTreeMap<AccountId, AccountId> = BTreeMap::new();
        let mut holds = Vec::new();
        for event in 0..200_u64 {
            let context = format!("seed {seed}, event {event}");
            let account = open[rng.usize(0..open.len())];
            match rng.u32(0..10) {
                0..=1 => {
                    let id = AccountId(event + 1);
                    let budget = budget(&mut rng, 400);
                    if ledger.open(id, account, budget).is_ok() {
                        open.push(id);
                        children.insert(id, account);
                    }
                }
                2..=5 => {
                    let before = ledger.clone();
                    let amount = amount(&mut rng, 120);
                    if ledger.hold(HoldId(event), account, amount).is_ok() {
                        holds.push((HoldId(event), account, amount));
                    } else {
                        assert_eq!(before, ledger, "{context}: a refusal changes nothing");
                    }
                }
                6..=8 if !holds.is_empty() => {
                    let (hold, _, held) = holds.swap_remove(rng.usize(0..holds.len()));
                    // Most come to less than was reserved, some to more.
                    let actual = match rng.u32(0..4) {
                        0 => amount(&mut rng, 300),
                        1 => held,
                        _ => amount(&mut rng, 40),
                    };
                    let expected = ledger.overrun(hold, &actual);
                    assert_eq!(ledger.settle(hold, actual), expected, "{context}");
                }
                _ => {
                    if account != AccountId::AGENT {
                        ledger.close(account);
                        open.retain(|other| *other != account);
                        if let Some(parent) = children.remove(&account) {
                            for of in children.values_mut().filter(|of| **of == account) {
                                *of = parent;
                            }
                        }
                        holds.retain(|(_, of, _)| *of != account);
                    }
                }
            }
            check(&ledger, &context);
        }
        while open.len() > 1 {
            let leaf = *open
                .iter()
                .rev()
                .find(|id| **id != AccountId::AGENT && !children.values().any(|of| of == *id))
                .unwrap();
            ledger.close(leaf);
            open.retain(|id| *id != leaf);
            children.remove(&leaf);
            check(&ledger, &format!("seed {seed}, at the end"));
        }
        holds.retain(|(_, of, _)| *of == AccountId::AGENT);
        for (hold, _, amount) in holds {
            ledger.settle(hold, amount);
        }
        let agent = ledger.account(AccountId::AGENT).unwrap();
        assert_eq!(agent.reserved, Amount::default(), "seed {seed}: all came back");
    }
    assert_eq!(Resource::ALL.len(), RESOURCES);
}

#[test]
fn threads_that_draw_at_once_share_one_limit() {
    let ledger = Ledger::new(Budget { tokens: Some(10_000), ..Budget::default() });
    let ledger = Arc::new(Mutex::new(ledger));
    let drawn: u64 = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4_u64)
            .map(|thread| {
                let ledger = Arc::clone(&ledger);
                scope.spawn(move || {
                    let mut rng = Rng::with_seed(thread);
                    let mut drawn = 0;
                    for number in 0..500 {
                        let hold = HoldId(thread * 1_000 + number);
                        let amount = Amount::tokens(rng.u64(1..50));
                        let held = ledger.lock().unwrap().hold(hold, AccountId::AGENT, amount);
                        if held.is_ok() {
                            assert_eq!(
                                ledger.lock().unwrap().settle(hold, amount),
                                Amount::default()
                            );
                            drawn += amount.tokens;
                        }
                    }
                    drawn
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert!(drawn <= 10_000 && drawn > 9_900, "{drawn}");
    let ledger = ledger.lock().unwrap();
    assert_eq!(ledger.account(AccountId::AGENT).unwrap().spent.tokens, drawn);
}
