//! Payloads that are compressed, and what poses as one.

use std::io::Write;

use offshoot_mxp::{
    AgentMessage, MAX_PAYLOAD, MessageBody, MessageFlags, MessageKind, PayloadError,
};

fn compressed(payload: &[u8]) -> AgentMessage<'_> {
    AgentMessage::new(MessageKind::Event, 1, 1, payload).with(MessageFlags::COMPRESSED)
}

#[test]
fn what_is_worth_it_is_compressed() {
    let words = "all that was said before, ".repeat(1000);
    let body = MessageBody::json(&words).unwrap();
    let small = body.clone().compressed();
    assert!(small.flags.has(MessageFlags::COMPRESSED) && small.bytes.len() < 1000);
    let message = AgentMessage::new(MessageKind::Event, 1, 1, &small.bytes).with(small.flags);
    assert_eq!(message.json::<String>().unwrap(), words);
    assert_eq!(message.content().unwrap(), body.bytes);
    let mut random = fastrand::Rng::with_seed(1);
    let noise: Vec<u8> = std::iter::repeat_with(|| random.u8(..)).take(5000).collect();
    let noise = MessageBody { bytes: noise, flags: MessageFlags::NONE };
    assert_eq!(noise.clone().compressed(), noise);
    let short = MessageBody::json(&"short").unwrap();
    assert_eq!(short.clone().compressed(), short);
}

#[test]
fn what_expands_is_stopped() {
    // A few kilobytes that would become 64 megabytes, with their length in the frame and without.
    let mut writer = zstd::stream::write::Encoder::new(Vec::new(), 3).unwrap();
    let zeros = vec![0; 1 << 20];
    for _ in 0..64 {
        writer.write_all(&zeros).unwrap();
    }
    let bomb = writer.finish().unwrap();
    assert!(bomb.len() < 100_000, "{}", bomb.len());
    assert!(matches!(compressed(&bomb).content(), Err(PayloadError::Expands)));
    let told = zstd::bulk::compress(&vec![0; MAX_PAYLOAD + 1], 1).unwrap();
    assert!(matches!(compressed(&told).content(), Err(PayloadError::Expands)));
    let longest = zstd::bulk::compress(&vec![0; MAX_PAYLOAD], 1).unwrap();
    assert_eq!(compressed(&longest).content().unwrap().len(), MAX_PAYLOAD);
}

#[test]
fn what_is_damaged_is_told() {
    let frame = zstd::bulk::compress(&[7; 3000], 1).unwrap();
    assert_eq!(compressed(&frame).content().unwrap().len(), 3000);
    for end in 0..frame.len() {
        let cut = compressed(&frame[..end]).content();
        assert!(matches!(cut, Err(PayloadError::Damaged)), "{end}: {cut:?}");
    }
    let two = [&frame[..], &frame].concat();
    assert!(matches!(compressed(&two).content(), Err(PayloadError::Damaged)));
    assert!(matches!(compressed(b"no frame").content(), Err(PayloadError::Damaged)));
    let sealed = compressed(&frame).with(MessageFlags::ENCRYPTED);
    assert!(matches!(sealed.content(), Err(PayloadError::Encrypted)));
}
