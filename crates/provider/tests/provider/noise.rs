//! Streams that are damaged in any way: an answer or an error, and never a panic.

use offshoot_provider::AnswerEvent;

use crate::server::{Answer, Server};
use crate::support::{APIS, events, run};

#[test]
fn damaged_streams_end_in_an_answer_or_an_error() {
    run(async {
        for (seed, api) in (100_u64..).zip(&APIS) {
            let mut random = fastrand::Rng::with_seed(seed);
            for round in 0..80 {
                let mut bytes = api.stream.as_bytes().to_vec();
                for _ in 0..random.usize(1..4) {
                    damage(&mut bytes, &mut random);
                }
                let answer = match round % 4 {
                    0 => Answer::new(200, "application/json", bytes),
                    1 => Answer::new(500, "application/json", bytes),
                    _ => Answer::events(bytes),
                };
                let server = Server::of(vec![answer]).await;
                let (events, error) = events(&api.endpoint(&server), &api.request()).await;
                let is_complete = matches!(events.last(), Some(AnswerEvent::Stopped(_)));
                assert_ne!(is_complete, error.is_some(), "{} {seed} {round}", api.provider);
            }
        }
    });
}

/// Cuts out, repeats, replaces or swaps a part, or makes a value another one.
fn damage(bytes: &mut Vec<u8>, random: &mut fastrand::Rng) {
    let at = random.usize(..bytes.len());
    let end = (at + random.usize(1..60)).min(bytes.len());
    match random.u8(..6) {
        0 => drop(bytes.drain(at..end)),
        1 => {
            let part = bytes[at..end].to_vec();
            bytes.splice(at..at, part);
        }
        2 => bytes[at] = random.u8(..),
        3 => bytes.truncate(at.max(1)),
        4 => {
            // Whole events change places.
            let text = String::from_utf8_lossy(bytes).into_owned();
            let mut events: Vec<&str> = text.split_inclusive("\n\n").collect();
            random.shuffle(&mut events);
            *bytes = events.concat().into_bytes();
        }
        _ => {
            let other = ["null", "[]", "{}", "7", "-1e400", "\"x\"", "true"][random.usize(..7)];
            let Some(colon) = bytes[at..].windows(2).position(|two| two == b"\":") else {
                return;
            };
            let value = at + colon + 2;
            let length = bytes[value..].iter().take_while(|byte| !b",}]\n".contains(byte)).count();
            bytes.splice(value..value + length, other.bytes());
        }
    }
    if bytes.is_empty() {
        bytes.push(b'\n');
    }
}
