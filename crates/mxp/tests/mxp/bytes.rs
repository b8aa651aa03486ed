//! Whatever bytes come.

use fastrand::Rng;
use offshoot_mxp::{
    AgentMessage, HEADER_LENGTH, Header, MAX_PAYLOAD, MessageError, MessageFlags, MessageKind,
    OVERHEAD,
};
use twox_hash::XxHash3_64;

use crate::vectors::vectors;

fn header(change: impl Fn(&mut [u8])) -> MessageError {
    let mut bytes = vectors()[1].1.clone();
    change(&mut bytes);
    AgentMessage::parse(&bytes).unwrap_err()
}

#[test]
fn what_is_wrong_is_told() {
    assert_eq!(header(|bytes| bytes[0] = 0), MessageError::Magic(0x4D58_5000));
    assert_eq!(header(|bytes| bytes[4] = 0x13), MessageError::Kind(0x13));
    assert_eq!(header(|bytes| bytes[5] = 0x10), MessageError::Flags(0x10));
    assert_eq!(header(|bytes| bytes[7] = 1), MessageError::Reserved(0x0100));
    assert_eq!(header(|bytes| bytes[31] = 1), MessageError::TooLong((1 << 56) + 13));
    assert!(matches!(header(|bytes| bytes[40] ^= 1), MessageError::Checksum { .. }));
    let bytes = vectors()[1].1.clone();
    let more = [&bytes[..], b"xx"].concat();
    assert_eq!(AgentMessage::parse(&more), Err(MessageError::Trailing(2)));
    assert_eq!(AgentMessage::parse_prefix(&more).unwrap().1, b"xx");
    let long = vec![0; MAX_PAYLOAD + 1];
    let message = AgentMessage::new(MessageKind::Event, 1, 1, &long);
    assert_eq!(message.to_bytes(), Err(MessageError::TooLong(MAX_PAYLOAD as u64 + 1)));
    let longest = AgentMessage::new(MessageKind::Event, 1, 1, &long[1..]).to_bytes().unwrap();
    assert_eq!(AgentMessage::parse(&longest).unwrap().payload.len(), MAX_PAYLOAD);
}

/// Each bit counts, and whoever reads piece by piece is told how many bytes to wait for.
#[test]
fn every_bit_and_every_length_is_looked_at() {
    for (message, bytes) in vectors() {
        for bit in 0..bytes.len() * 8 {
            let mut bytes = bytes.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert!(AgentMessage::parse(&bytes).is_err(), "{message:?}: bit {bit}");
        }
        for have in 0..bytes.len() {
            let need = if have < HEADER_LENGTH { HEADER_LENGTH } else { bytes.len() };
            let expected = Err(MessageError::Incomplete { have, need });
            assert_eq!(AgentMessage::parse(&bytes[..have]), expected, "{message:?}");
        }
    }
}

/// How many messages that nobody thought of are tried; each has a seed of its own, which a failure names.
const CASES: u64 = 2000;

fn bytes(random: &mut Rng, longest: usize) -> Vec<u8> {
    let length = random.usize(..longest);
    std::iter::repeat_with(|| random.u8(..)).take(length).collect()
}

#[test]
fn what_is_written_is_read() {
    for seed in 0..CASES {
        let random = &mut Rng::with_seed(seed);
        let kind = MessageKind::ALL[random.usize(..MessageKind::ALL.len())];
        let flags = MessageFlags::from_number(random.u8(..16)).unwrap();
        let (id, trace) = (random.u64(..), random.u64(..));
        let (payload, rest) = (bytes(random, 2000), bytes(random, 100));
        let message = AgentMessage::new(kind, id, trace, &payload).with(flags);
        let mut bytes = message.to_bytes().unwrap();
        assert_eq!(bytes.len(), OVERHEAD + payload.len());
        bytes.extend_from_slice(&rest);
        let (read, left) = AgentMessage::parse_prefix(&bytes).unwrap();
        assert_eq!((read, left), (message, &rest[..]), "seed {seed}");
        assert_eq!(Header::parse(&bytes).unwrap().to_bytes(), message.frame().unwrap().0);
        // Whatever the payload is, reading it ends.
        let _read = read.content();
    }
}

/// Headers that are nearly right, with anything behind them.
#[test]
fn bytes_behind_a_right_start_do_no_harm() {
    for seed in 0..CASES {
        let random = &mut Rng::with_seed(seed);
        let mut all = vectors()[0].1[..HEADER_LENGTH].to_vec();
        all[4] = MessageKind::ALL[random.usize(..MessageKind::ALL.len())].number();
        all[5] = random.u8(..20);
        all[24..].copy_from_slice(&random.u64(..300).to_le_bytes());
        all.extend_from_slice(&bytes(random, 400));
        // Every other one has a checksum that is right.
        let end = HEADER_LENGTH + usize::from(all[24]) + (usize::from(all[25]) << 8);
        if random.bool() && all.len() >= end + 8 {
            let sum = XxHash3_64::oneshot(&all[..end]).to_le_bytes();
            all[end..end + 8].copy_from_slice(&sum);
        }
        match AgentMessage::parse_prefix(&all) {
            Ok((message, left)) => {
                assert_eq!(message.len() + left.len(), all.len(), "seed {seed}");
                let _read = message.content();
                assert!(all.starts_with(&message.to_bytes().unwrap()), "seed {seed}");
            }
            Err(MessageError::Incomplete { have, need }) => assert!(need > have, "seed {seed}"),
            Err(_) => {}
        }
    }
}
