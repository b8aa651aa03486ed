//! Who may register what, for how long, and how much.

use std::collections::BTreeMap;
use std::time::Duration;

use offshoot_registry::{AgentCard, AgentRegistry, RegistryLimits, RegistryRecord, RegistryState};
use offshoot_transport::{MessageFlags, MessageKind, PeerMessage, PeerName};

use crate::fixture::{card, name};

fn register(state: &mut RegistryState, now: u64, who: &str, card: AgentCard) -> Result<(), String> {
    let (reply, record) = state.register(now, &name(who), card);
    assert_eq!(reply.success, record.is_some());
    match record {
        Some(record) => {
            state.apply(&record);
            Ok(())
        }
        None => Err(reply.message),
    }
}

fn beat(state: &mut RegistryState, now: u64, who: &str, id: &str, last: bool) -> (bool, bool) {
    let (reply, record) = state.heartbeat(now, &name(who), id, last);
    if let Some(record) = record {
        state.apply(&record);
    }
    (reply.success, reply.needs_register)
}

fn ids(state: &mut RegistryState, now: u64, capability: &str) -> Vec<String> {
    state.discover(now, capability).agents.into_iter().map(|card| card.id).collect()
}

#[test]
fn a_lease_ends_without_heartbeats() {
    let mut state = RegistryState::new(RegistryLimits::default());
    register(&mut state, 0, "alpha", card("alpha", &["plan"])).unwrap();
    assert_eq!(ids(&mut state, 29_999, "plan"), ["alpha"]);
    assert_eq!(beat(&mut state, 29_999, "alpha", "alpha", false), (true, false));
    assert_eq!(ids(&mut state, 59_998, "plan"), ["alpha"]);
    assert!(ids(&mut state, 59_999, "plan").is_empty());
    assert_eq!(beat(&mut state, 60_000, "alpha", "alpha", false), (false, true));
    assert_eq!(beat(&mut state, 60_000, "alpha", "alpha", true), (true, false));
    register(&mut state, 60_000, "alpha", card("alpha", &["other"])).unwrap();
    assert_eq!(ids(&mut state, 60_001, "other"), ["alpha"]);
    register(&mut state, 60_001, "alpha", card("alpha", &["plan"])).unwrap();
    assert!(ids(&mut state, 60_002, "other").is_empty());
    assert_eq!(beat(&mut state, 60_002, "alpha", "alpha", true), (true, false));
    assert!(state.is_empty() && ids(&mut state, 60_002, "plan").is_empty());
}

#[test]
fn the_proven_name_decides() {
    let mut state = RegistryState::new(RegistryLimits::default());
    for id in ["alpha", "alpha/one", "alpha/one/two"] {
        register(&mut state, 0, "alpha", card(id, &["plan"])).unwrap();
    }
    for id in ["beta", "alphabet", "beta/alpha", "", "/alpha", "alpha/", "alpha//x", "alpha/X"] {
        assert!(register(&mut state, 0, "alpha", card(id, &["plan"])).is_err(), "{id}");
    }
    for id in ["alpha", "alpha/one", "alpha/none"] {
        let refused = register(&mut state, 0, "beta", card(id, &["steal"])).unwrap_err();
        assert!(refused.starts_with("forbidden"), "{refused}");
        // Whether it is there or not is not told.
        assert_eq!(beat(&mut state, 0, "beta", id, true), (false, false));
        assert_eq!(beat(&mut state, 0, "beta", id, false), (false, false));
    }
    assert_eq!(ids(&mut state, 1, "plan").len(), 3);
}

#[test]
fn everything_is_bounded() {
    let limits = RegistryLimits {
        agents: 4,
        agents_of_one: 2,
        id: 20,
        address: 30,
        capabilities: 2,
        capability: 8,
        card: 400,
        listed: 2,
        ..RegistryLimits::default()
    };
    let mut state = RegistryState::new(limits.clone());
    let good = || card("alpha", &["plan"]);
    let wrong = [
        ("id", AgentCard { id: "alpha/0123456789abcdef".to_owned(), ..good() }),
        ("name", AgentCard { name: "x".repeat(21), ..good() }),
        ("address", AgentCard { address: "x".repeat(31), ..good() }),
        ("capabilities", card("alpha", &["a", "b", "c"])),
        ("capability", card("alpha", &["123456789"])),
        (
            "card",
            AgentCard {
                metadata: BTreeMap::from([("x".to_owned(), "y".repeat(400).into())]),
                ..good()
            },
        ),
    ];
    for (what, card) in wrong {
        let refused = register(&mut state, 0, "alpha", card).unwrap_err();
        assert!(refused.starts_with(&format!("invalid: {what} has")), "{refused}");
    }
    for id in ["alpha", "alpha/1", "beta", "beta/1"] {
        register(&mut state, 0, &id[..id.find('/').unwrap_or(id.len())], card(id, &["plan"]))
            .unwrap();
    }
    let full = register(&mut state, 0, "alpha", card("alpha/2", &[])).unwrap_err();
    assert!(full.contains("one name"), "{full}");
    let full = register(&mut state, 0, "gamma", card("gamma", &[])).unwrap_err();
    assert!(full.contains("4 agents"), "{full}");
    // A card may be replaced all the same, and room comes with time.
    register(&mut state, 0, "alpha", good()).unwrap();
    let found = state.discover(0, "plan");
    assert_eq!((found.count, found.agents.len()), (4, 2));
    register(&mut state, 30_000, "gamma", card("gamma", &[])).unwrap();
    let few = RegistryLimits { listed: 9, listed_bytes: 200, ..limits };
    let mut state = RegistryState::new(few);
    for id in ["alpha", "alpha/1"] {
        register(&mut state, 0, "alpha", card(id, &["plan"])).unwrap();
    }
    let found = state.discover(0, "plan");
    assert_eq!((found.count, found.agents.len()), (2, 1));
}

#[test]
fn no_lease_is_longer_than_a_new_one_after_a_start() {
    let mut state = RegistryState::new(RegistryLimits::default());
    let until = u64::MAX;
    state.apply(&RegistryRecord::Registered { card: card("alpha", &["plan"]), until });
    state.clamp(1000);
    assert_eq!(ids(&mut state, 30_999, "plan"), ["alpha"]);
    assert!(ids(&mut state, 31_000, "plan").is_empty());
}

/// The registry and a map do the same with random requests.
#[test]
fn it_is_a_map_with_leases() {
    for seed in 0..200 {
        let mut random = fastrand::Rng::with_seed(seed);
        let limits = RegistryLimits { lease: Duration::from_millis(50), ..Default::default() };
        let mut state = RegistryState::new(limits);
        let mut model: BTreeMap<String, (u64, Vec<String>)> = BTreeMap::new();
        let mut now = 0;
        for _ in 0..300 {
            now += random.u64(..15);
            model.retain(|_, (until, _)| *until > now);
            let (who, other) = (*random.choice(&["alpha", "beta"]).unwrap(), random.u32(..10) == 0);
            let mut id = match random.u32(..3) {
                0 => who.to_owned(),
                number => format!("{who}/{number}"),
            };
            if other {
                id = "gamma".to_owned();
            }
            match random.u32(..4) {
                0 => {
                    let capabilities: Vec<&str> =
                        ["a", "b"].into_iter().filter(|_| random.bool()).collect();
                    let done = register(&mut state, now, who, card(&id, &capabilities));
                    assert_eq!(done.is_ok(), !other);
                    if !other {
                        let capabilities = capabilities.into_iter().map(str::to_owned).collect();
                        model.insert(id, (now + 50, capabilities));
                    }
                }
                choice @ 1..3 => {
                    let last = choice == 1 && random.bool();
                    let known = model.contains_key(&id);
                    let done = beat(&mut state, now, who, &id, last);
                    assert_eq!(done, (!other && (known || last), !other && !known && !last));
                    match model.get_mut(&id) {
                        Some(_) if last => drop(model.remove(&id)),
                        Some((until, _)) => *until = now + 50,
                        None => {}
                    }
                }
                _ => {
                    for capability in ["a", "b", "c"] {
                        let has = |it: &(&String, &(u64, Vec<String>))| {
                            it.1.1.iter().any(|it| it == capability)
                        };
                        let expected = model.iter().filter(has).map(|(id, _)| id.clone());
                        let expected: Vec<String> = expected.collect();
                        assert_eq!(ids(&mut state, now, capability), expected, "seed {seed}");
                    }
                }
            }
            state.expire(now);
            assert_eq!(state.len(), model.len(), "seed {seed}");
        }
    }
}

#[tokio::test]
async fn payloads_that_are_no_requests_get_an_error() {
    let registry = AgentRegistry::in_memory(RegistryLimits::default());
    let who: PeerName = name("alpha");
    for kind in MessageKind::ALL {
        for payload in ["", "{}", "[", "{\"id\":1}", "{\"agent_id\":[]}", "{\"capability\":null}"] {
            let flags = MessageFlags::NONE;
            let request = PeerMessage { kind, flags, id: 1, trace: 0, payload: payload.into() };
            let refused = registry.answer(&who, &request).await.unwrap_err();
            assert!(["invalid", "unsupported"].contains(&refused.code.as_str()), "{refused:?}");
        }
    }
}
