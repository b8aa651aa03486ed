//! The audit log: signed, and what anybody changes in it is found.

use std::fs;

use offshoot_vault::{
    Actor, ArchiveOptions, AuditEvent, AuditFlaw, AuditVerifier, CheckDepth, LinesError,
    LinesWriter, PublicKey, SignedHead, Vault, verify_lines,
};
use rusqlite::Connection;

use crate::support::{Scratch, empty_vault, home};

/// What a byte becomes: another bit each time, the case of letters among them.
const FLIPS: [u8; 3] = [0x01, 0x20, 0x80];

fn record(vault: &Vault, count: usize) {
    let actor = Actor::user("tester");
    for number in 0..count {
        let recorded = vault.transact("test", &actor, |tx| {
            tx.summary(format!("number {number}"));
            tx.record_always();
            Ok(())
        });
        recorded.unwrap();
    }
}

fn log(vault: &Vault) -> (Vec<AuditEvent>, SignedHead) {
    let (head, signed) = vault.audit_head().unwrap();
    let mut events = Vec::new();
    while events.len() < head.seq as usize {
        events.extend(vault.audit_events(events.len() as u64).unwrap());
    }
    (events, signed.unwrap())
}

fn key_of(vault: &Vault) -> PublicKey {
    vault.audit_head().unwrap().1.unwrap().key
}

fn lines(vault: &Vault) -> Vec<u8> {
    let (events, signed) = log(vault);
    let mut writer = LinesWriter::new(Vec::new(), vault.id(), None).unwrap();
    for event in &events {
        writer.event(event).unwrap();
    }
    writer.finish(Some(&signed)).unwrap()
}

/// What is wrong with a log, read by who trusts the key.
fn flaw(vault: &Vault, events: &[AuditEvent], signed: &SignedHead) -> Option<AuditFlaw> {
    let mut verifier = AuditVerifier::new(vault.id(), Some(key_of(vault)));
    for event in events {
        if let Err(flaw) = verifier.add(event.seq, &event.text, &event.chain) {
            return Some(flaw);
        }
    }
    verifier.finish(Some(signed)).err()
}

#[test]
fn whoever_has_the_public_key_can_verify() {
    let scratch = Scratch::new();
    let vault = empty_vault(&scratch);
    record(&vault, 3);
    let key = key_of(&vault);
    let verify = |trusted| vault.verify_audit(AuditVerifier::new(vault.id(), trusted)).unwrap();
    let report = verify(Some(key)).unwrap();
    assert_eq!(report.head, vault.audit_head().unwrap().0);
    assert_eq!(report.events, report.head.seq);
    assert_eq!(report.keys.iter().map(|known| known.since).collect::<Vec<_>>(), [1]);
    assert_eq!(verify(None).unwrap(), report);
    let other: PublicKey = "ab".repeat(32).parse().unwrap();
    assert_eq!(verify(Some(other)), Err(AuditFlaw::AnotherKey(key)));
    assert_eq!(verify_lines(&lines(&vault)[..], Some(key), &[]).unwrap(), report);
}

#[test]
fn the_key_is_kept_apart_and_closed_to_others() {
    use std::os::unix::fs::PermissionsExt;
    let scratch = Scratch::new();
    let vault = empty_vault(&scratch);
    let path = home(&scratch).dir().join("keys").join(format!("{}.key", vault.id()));
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(!path.starts_with(vault.dir()));
    // Without it the log goes on with another one, and says so.
    let old = key_of(&vault);
    drop(vault);
    fs::remove_file(&path).unwrap();
    let vault = home(&scratch).open("v").unwrap();
    record(&vault, 1);
    let verify = |trusted| vault.verify_audit(AuditVerifier::new(vault.id(), trusted)).unwrap();
    let new = key_of(&vault);
    assert_ne!(new, old);
    assert_eq!(verify(Some(old)), Err(AuditFlaw::AnotherKey(new)));
    let keys = verify(Some(new)).unwrap().keys;
    assert_eq!(keys.iter().map(|known| known.handed_over).collect::<Vec<_>>(), [false, false]);
    fs::write(&path, "nonsense").unwrap();
    let vault = home(&scratch).open("v").unwrap();
    let refused = vault.rotate_audit_key(&Actor::user("tester")).unwrap_err();
    assert!(refused.to_string().contains("is no key"), "{refused}");
}

#[test]
fn a_key_hands_over_to_the_next() {
    let scratch = Scratch::new();
    let vault = empty_vault(&scratch);
    let first = key_of(&vault);
    record(&vault, 2);
    let second = vault.rotate_audit_key(&Actor::user("tester")).unwrap();
    record(&vault, 2);
    // Another process that knew the old key.
    let other = home(&scratch).open("v").unwrap();
    record(&other, 1);
    let third = other.rotate_audit_key(&Actor::user("tester")).unwrap();
    record(&vault, 1);
    assert_eq!(key_of(&vault), third);
    for trusted in [None, Some(first), Some(second), Some(third)] {
        let verified = vault.verify_audit(AuditVerifier::new(vault.id(), trusted)).unwrap();
        let keys: Vec<_> = verified.unwrap().keys.iter().map(|known| known.key).collect();
        assert_eq!(keys, [first, second, third]);
    }
}

#[test]
fn a_hand_over_that_was_cut_short_counts_by_what_the_log_says() {
    let scratch = Scratch::new();
    let vault = empty_vault(&scratch);
    let first = key_of(&vault);
    let keys = home(&scratch).dir().join("keys");
    let path = |end: &str| keys.join(format!("{}.{end}", vault.id()));
    // The new key was made, and nothing recorded.
    fs::write(path("next"), fs::read(path("key")).unwrap()).unwrap();
    record(&vault, 1);
    assert_eq!(key_of(&vault), first);
    // It was recorded, and not put in its place.
    let old = fs::read(path("key")).unwrap();
    let second = vault.rotate_audit_key(&Actor::user("tester")).unwrap();
    fs::rename(path("key"), path("next")).unwrap();
    fs::write(path("key"), old).unwrap();
    let vault = home(&scratch).open("v").unwrap();
    record(&vault, 1);
    assert_eq!(key_of(&vault), second);
    assert!(!path("next").exists());
}

/// Whoever rotates reads the old key, makes the new one and records it alone: otherwise the log has the signature of one key and another one
/// is kept.
#[test]
fn many_rotate_and_record_at_once() {
    let scratch = Scratch::new();
    let vault = empty_vault(&scratch);
    let first = key_of(&vault);
    let (threads, times) = (4, 5);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                // Like another process, this knows nothing of what the others have read.
                let vault = home(&scratch).open("v").unwrap();
                for _ in 0..times {
                    vault.rotate_audit_key(&Actor::user("tester")).unwrap();
                    record(&vault, 1);
                    assert!(vault.audit_key().unwrap().is_some());
                }
            });
        }
    });
    for trusted in [first, key_of(&vault)] {
        let verified = vault.verify_audit(AuditVerifier::new(vault.id(), Some(trusted))).unwrap();
        let keys = verified.unwrap().keys;
        assert_eq!(keys.len(), 1 + threads * times);
        assert!(keys[1..].iter().all(|known| known.handed_over));
    }
    assert_eq!(vault.audit_key().unwrap(), Some(key_of(&vault)));
    let left: Vec<_> = fs::read_dir(home(&scratch).dir().join("keys")).unwrap().collect();
    assert_eq!(left.len(), 1, "{left:?}");
}

/// A crash after the event and before the key was in its place: the next thing that is done may be another rotation, or only a look.
#[test]
fn a_key_that_was_handed_over_to_is_not_lost_by_the_next_rotation() {
    let scratch = Scratch::new();
    let vault = empty_vault(&scratch);
    let keys = home(&scratch).dir().join("keys");
    let path = |end: &str| keys.join(format!("{}.{end}", vault.id()));
    let (first, old) = (key_of(&vault), fs::read(path("key")).unwrap());
    let second = vault.rotate_audit_key(&Actor::user("tester")).unwrap();
    fs::rename(path("key"), path("next")).unwrap();
    fs::write(path("key"), old).unwrap();
    // Half a key, as a crash while it is written leaves it.
    fs::write(path("next.tmp"), "offshoot-audit").unwrap();
    let vault = home(&scratch).open("v").unwrap();
    assert_eq!(vault.audit_key().unwrap(), Some(second));
    assert!(path("next").exists(), "who only looks moves nothing");
    let third = vault.rotate_audit_key(&Actor::user("tester")).unwrap();
    record(&vault, 1);
    assert_eq!(key_of(&vault), third);
    let verified = vault.verify_audit(AuditVerifier::new(vault.id(), Some(first))).unwrap();
    let keys: Vec<_> = verified.unwrap().keys.iter().map(|known| known.key).collect();
    assert_eq!(keys, [first, second, third]);
    assert!(!path("next").exists() && !path("next.tmp").exists());
}

/// A log of thousands: every byte of every event, every event that is dropped or trades places with the next, and every end that is too early.
#[test]
fn everything_that_is_changed_in_a_long_log_is_found() {
    let scratch = Scratch::new();
    let vault = empty_vault(&scratch);
    record(&vault, 2_000);
    let (events, signed) = log(&vault);
    assert_eq!(flaw(&vault, &events, &signed), None);
    let mut verifier = AuditVerifier::new(vault.id(), Some(key_of(&vault)));
    let (mut flips, last) = (0_u64, events.len() - 1);
    for (at, event) in events.iter().enumerate() {
        let add = |event: &AuditEvent| {
            verifier.clone().add(event.seq, &event.text, &event.chain).is_err()
        };
        for place in 0..event.text.len() {
            let mut bytes = event.text.clone().into_bytes();
            bytes[place] ^= FLIPS[place % 2];
            let text = String::from_utf8(bytes).unwrap();
            assert!(add(&AuditEvent { text, ..event.clone() }), "event {}", event.seq);
            flips += 1;
        }
        for place in 0..event.chain.len() {
            let mut chain = event.chain;
            chain[place] ^= 0x01;
            assert!(add(&AuditEvent { chain, ..event.clone() }), "event {}", event.seq);
            flips += 1;
        }
        if at < last {
            // Dropped, or traded with the next: under its own number and under this one.
            let next = &events[at + 1];
            assert!(add(next), "event {} is dropped", event.seq);
            assert!(add(&AuditEvent { seq: event.seq, ..next.clone() }));
            // What ends here is not what was signed.
            let mut ended = verifier.clone();
            ended.add(event.seq, &event.text, &event.chain).unwrap();
            assert!(ended.finish(Some(&signed)).is_err(), "it ends with event {}", event.seq);
        }
        verifier.add(event.seq, &event.text, &event.chain).unwrap();
    }
    println!("{flips} bytes of {} events", events.len());
    verifier.finish(Some(&signed)).unwrap();
}

/// The same of what is exported, to the last byte of its frame.
#[test]
fn everything_that_is_changed_in_an_export_is_found() {
    let scratch = Scratch::new();
    let vault = empty_vault(&scratch);
    record(&vault, 8);
    vault.rotate_audit_key(&Actor::user("tester")).unwrap();
    record(&vault, 2);
    let (text, key) = (lines(&vault), key_of(&vault));
    let is_found = |text: &[u8]| verify_lines(text, Some(key), &[]).is_err();
    assert!(!is_found(&text));
    for place in 0..text.len() {
        for flip in FLIPS {
            let mut changed = text.clone();
            changed[place] ^= flip;
            assert!(is_found(&changed), "byte {place} ^ {flip:#x}");
        }
        let mut shorter = text.clone();
        shorter.remove(place);
        assert!(is_found(&shorter), "byte {place} is dropped");
        assert!(is_found(&text[..place]), "it ends at byte {place}");
    }
    let rows: Vec<&[u8]> = text.split_inclusive(|byte| *byte == b'\n').collect();
    for at in 0..rows.len() {
        let mut dropped = rows.clone();
        dropped.remove(at);
        assert!(is_found(&dropped.concat()), "line {at} is dropped");
        let mut doubled = rows.clone();
        doubled.insert(at, rows[at]);
        assert!(is_found(&doubled.concat()), "line {at} is there twice");
        if at > 0 {
            let mut traded = rows.clone();
            traded.swap(at, at - 1);
            assert!(is_found(&traded.concat()), "line {at} trades places");
        }
    }
}

#[test]
fn an_end_that_was_seen_is_missed() {
    let scratch = Scratch::new();
    let vault = empty_vault(&scratch);
    record(&vault, 2);
    let early = lines(&vault);
    record(&vault, 2);
    let (late, key) = (vault.audit_head().unwrap().0, key_of(&vault));
    // What was the whole log is signed; only who knows more can tell.
    assert!(verify_lines(&early[..], Some(key), &[]).is_ok());
    let seen = [(late.seq, late.chain)];
    let refused = verify_lines(&early[..], Some(key), &seen).unwrap_err();
    assert!(matches!(refused, LinesError::Flaw(AuditFlaw::CutShort { .. })), "{refused}");
    verify_lines(&lines(&vault)[..], Some(key), &seen).unwrap();
    let other = [(late.seq, [7; 32])];
    let refused = verify_lines(&lines(&vault)[..], Some(key), &other).unwrap_err();
    assert!(matches!(refused, LinesError::Flaw(AuditFlaw::Replaced(_))), "{refused}");
}

/// Whoever writes to the catalog, hashes of rows and all, cannot sign.
#[test]
fn who_writes_the_whole_log_anew_cannot_sign_it() {
    let scratch = Scratch::new();
    let vault = empty_vault(&scratch);
    record(&vault, 3);
    let (mut events, signed) = log(&vault);
    let text = events[1].text.replace("tester", "nobody");
    events[1].text = text;
    // The chain is computed again from there.
    let mut chain = events[0].chain;
    for event in &mut events[1..] {
        let mut hasher = blake3::Hasher::new_derive_key("offshoot v1 audit");
        hasher.update(&chain).update(event.text.as_bytes());
        chain = *hasher.finalize().as_bytes();
        event.chain = chain;
    }
    let found = flaw(&vault, &events, &signed).unwrap();
    assert_eq!(found, AuditFlaw::Signature(events.len() as u64));
    let catalog = Connection::open(vault.dir().join("catalog.db")).unwrap();
    let without = "DELETE FROM meta WHERE key = 'audit_signature'";
    assert_eq!(catalog.execute(without, []).unwrap(), 1);
    let verified = vault.verify_audit(AuditVerifier::new(vault.id(), None));
    assert!(matches!(verified, Ok(Err(AuditFlaw::Unsigned(1))) | Err(_)), "{verified:?}");
}

/// An event that belongs to no operation is in the chain like any other, and nothing in the operation log.
#[test]
fn events_without_an_operation_are_in_the_chain() {
    let scratch = Scratch::new();
    let vault = empty_vault(&scratch);
    let operations = vault.figures().unwrap().operations;
    let actor = Actor { agent: Some("bot".to_owned()), ..Actor::user("tester") };
    for announced in [false, true] {
        let work = |tx: &mut offshoot_vault::Transaction<'_, '_>| {
            tx.detail("what", ["a", "b"]);
            Ok(())
        };
        match announced {
            true => vault.announce("announced", &actor, work).unwrap(),
            false => vault.record_event("recorded", &actor, work).unwrap(),
        }
    }
    assert_eq!(vault.figures().unwrap().operations, operations);
    let (events, signed) = log(&vault);
    assert_eq!(flaw(&vault, &events, &signed), None);
    let last = events.last().unwrap();
    assert!(last.text.contains(r#""details":{"what":["a","b"]}"#), "{}", last.text);
    assert!(last.text.contains(r#""agent":"bot""#), "{}", last.text);
    assert_eq!(vault.check(CheckDepth::Content).unwrap().problems, [""; 0]);
}

#[test]
fn a_check_finds_a_log_that_was_changed() {
    let scratch = Scratch::new();
    let vault = empty_vault(&scratch);
    record(&vault, 3);
    assert_eq!(vault.check(CheckDepth::Structure).unwrap().problems, [""; 0]);
    let catalog = Connection::open(vault.dir().join("catalog.db")).unwrap();
    let problems = |change: &str, back: &str| {
        assert!(catalog.execute(change, []).unwrap() > 0, "{change}");
        let found = vault.check(CheckDepth::Structure).unwrap().problems.join("\n");
        assert!(catalog.execute(back, []).unwrap() > 0, "{back}");
        found
    };
    let found = problems(
        "UPDATE audit SET event = replace(event, 'number 1', 'number 7')",
        "UPDATE audit SET event = replace(event, 'number 7', 'number 1')",
    );
    assert!(found.contains("the audit log is not what was recorded: event 3"), "{found}");
    let without = "DELETE FROM meta WHERE key = 'audit_signature'";
    assert_eq!(catalog.execute(without, []).unwrap(), 1);
    let found = vault.check(CheckDepth::Structure).unwrap().problems.join("\n");
    assert!(found.contains("the events from 1 on are not signed"), "{found}");
}

#[test]
fn what_is_removed_is_said_and_verifying_starts_there() {
    let scratch = Scratch::new();
    let vault = empty_vault(&scratch);
    record(&vault, 5);
    let first = key_of(&vault);
    let second = vault.rotate_audit_key(&Actor::user("tester")).unwrap();
    record(&vault, 2);
    let (events, _) = log(&vault);
    let until = events[3].time_ms;
    assert_eq!(vault.prunable_audit(0).unwrap(), 0);
    let before = vault.prunable_audit(until).unwrap();
    assert!((1..=3).contains(&before), "{before}");
    assert_eq!(vault.prune_audit(until, &Actor::user("tester")).unwrap(), before);
    let pruned = vault.audit_pruned().unwrap().unwrap();
    assert_eq!((pruned.seq, pruned.key), (before, Some(first)));
    let verify = |trusted| vault.verify_audit(AuditVerifier::new(vault.id(), trusted)).unwrap();
    for trusted in [None, Some(first), Some(second)] {
        let report = verify(trusted).unwrap();
        assert_eq!(report.head.seq, report.events + before);
    }
    assert_eq!(vault.check(CheckDepth::Content).unwrap().problems, [""; 0]);
    // Nobody else can say where it starts.
    let mut writer = LinesWriter::new(Vec::new(), vault.id(), Some(pruned.clone())).unwrap();
    let (rest, signed) = (vault.audit_events(before).unwrap(), vault.audit_head().unwrap().1);
    rest.iter().for_each(|event| writer.event(event).unwrap());
    let whole = writer.finish(signed.as_ref()).unwrap();
    assert!(verify_lines(&whole[..], Some(second), &[]).is_ok());
    let next = offshoot_vault::PrunedAudit {
        seq: rest[0].seq,
        chain: rest[0].chain.iter().map(|byte| format!("{byte:02x}")).collect(),
        ..pruned
    };
    let mut writer = LinesWriter::new(Vec::new(), vault.id(), Some(next)).unwrap();
    rest[1..].iter().for_each(|event| writer.event(event).unwrap());
    let beheaded = writer.finish(signed.as_ref()).unwrap();
    let refused = verify_lines(&beheaded[..], Some(second), &[]).unwrap_err();
    assert!(matches!(refused, LinesError::Flaw(AuditFlaw::Beheaded(_))), "{refused}");
    // The newest stays, however late the time; what is gone can be exported and imported.
    vault.prune_audit(u64::MAX, &Actor::user("tester")).unwrap();
    record(&vault, 1);
    assert_eq!(verify(Some(second)).unwrap().events, 3);
    let file = scratch.path().join("v.vault");
    vault.export_archive(&file, "v").unwrap();
    let elsewhere = Scratch::new();
    let came = home(&elsewhere).import(&file, &ArchiveOptions::default()).unwrap().vault;
    assert_eq!(came.check(CheckDepth::Content).unwrap().problems, [""; 0]);
}

/// The key stays where it is: what arrives elsewhere is signed by another one from there on, and says so.
#[test]
fn a_vault_that_arrives_has_a_key_of_its_own() {
    let (scratch, elsewhere) = (Scratch::new(), Scratch::new());
    let vault = empty_vault(&scratch);
    record(&vault, 2);
    let (old, file) = (key_of(&vault), scratch.path().join("v.vault"));
    let sent = vault.audit_head().unwrap().0;
    vault.export_archive(&file, "v").unwrap();
    let actor = Actor::user("receiver");
    let options = ArchiveOptions { actor: Some(&actor), ..ArchiveOptions::default() };
    let came = home(&elsewhere).import(&file, &options).unwrap().vault;
    let new = key_of(&came);
    assert_ne!(new, old);
    let mut verifier = AuditVerifier::new(came.id(), Some(new));
    verifier.expect(sent.seq, sent.chain);
    let report = came.verify_audit(verifier).unwrap().unwrap();
    let since: Vec<_> = report.keys.iter().map(|known| (known.key, known.handed_over)).collect();
    assert_eq!(since, [(old, false), (new, false)]);
    let (events, _) = log(&came);
    let arrival = &events[sent.seq as usize];
    assert!(arrival.text.contains(r#""kind":"vault import""#), "{}", arrival.text);
    assert!(arrival.text.contains("receiver"), "{}", arrival.text);
    // A file whose log was changed does not arrive.
    let archive = Connection::open(&file).unwrap();
    let change = "UPDATE meta SET value = zeroblob(104) WHERE key = 'audit_signature'";
    assert_eq!(archive.execute(change, []).unwrap(), 1);
    drop(archive);
    let third = Scratch::new();
    home(&third).import(&file, &options).unwrap_err();
    assert_eq!(fs::read_dir(home(&third).dir().join("keys")).map_or(0, Iterator::count), 0);
}

#[test]
fn the_key_goes_with_its_vault() {
    let scratch = Scratch::new();
    let vault = empty_vault(&scratch);
    let key = home(&scratch).dir().join("keys").join(format!("{}.key", vault.id()));
    assert!(key.exists());
    drop(vault);
    home(&scratch).delete("v").unwrap();
    assert!(!key.exists());
}

/// The vectors of the design, for whoever writes a verifier of their own.
#[test]
fn the_vectors_of_the_design_hold() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/design/audit.md");
    let page = fs::read_to_string(page).unwrap();
    let vector = page.split("```jsonl\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let key = page.split("public key: `").nth(1).and_then(|rest| rest.split('`').next()).unwrap();
    let head = page.split("head: `").nth(1).and_then(|rest| rest.split('`').next()).unwrap();
    let report = verify_lines(vector.as_bytes(), Some(key.parse().unwrap()), &[]).unwrap();
    assert_eq!(report.head.to_string(), head);
    assert_eq!(report.keys.iter().filter(|known| known.handed_over).count(), 1);
}
