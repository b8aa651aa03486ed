//! Messages of the name system: one question in, one short answer out.

use std::net::Ipv4Addr;

const HEADER: usize = 12;
const INTERNET: u16 = 1;
/// An address of IPv4.
const A: u16 = 1;
/// An address of IPv6.
const AAAA: u16 = 28;
/// How to connect to a service, in general and for HTTPS.
const SVCB: u16 = 64;
const HTTPS: u16 = 65;

/// How long an answer may be kept. Made-up addresses never change.
const SECONDS: u32 = 60;

/// Codes of answers without one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Code {
    Failure = 2,
    NoSuchName = 3,
    NotImplemented = 4,
    Refused = 5,
}

/// What to answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    Address(Ipv4Addr),
    /// The name is there, and has nothing of what was asked for.
    Nothing,
    Code(Code),
}

/// A question as it came.
#[derive(Debug)]
pub(super) struct Question<'a> {
    id: [u8; 2],
    /// The first byte of the flags: kind of message, recursion.
    flags: u8,
    /// Name, type and class as they came, to be repeated.
    raw: &'a [u8],
    labels: Vec<&'a [u8]>,
    kind: u16,
    class: u16,
}

impl<'a> Question<'a> {
    /// Reads a message that asks exactly one thing; anything else is nothing to answer.
    pub(super) fn parse(packet: &'a [u8]) -> Option<Self> {
        let header = packet.get(..HEADER)?;
        let count = |at: usize| u16::from_be_bytes([header[at], header[at + 1]]);
        let is_answer = header[2] & 0x80 != 0;
        if is_answer || count(4) != 1 || count(6) != 0 || count(8) != 0 || count(10) > 1 {
            return None;
        }
        let mut labels = Vec::new();
        let mut at = HEADER;
        loop {
            let length = usize::from(*packet.get(at)?);
            at += 1;
            match length {
                0 => break,
                // Pointers have nothing to point at in a question.
                1..=63 if labels.len() < 128 => labels.push(packet.get(at..at + length)?),
                _ => return None,
            }
            at += length;
            if at > HEADER + 255 {
                return None;
            }
        }
        let fixed = packet.get(at..at + 4)?;
        let raw = packet.get(HEADER..at + 4)?;
        let kind = u16::from_be_bytes([fixed[0], fixed[1]]);
        let class = u16::from_be_bytes([fixed[2], fixed[3]]);
        Some(Self { id: [header[0], header[1]], flags: header[2], raw, labels, kind, class })
    }

    /// Whether it is a question of the usual kind: no transfer, no update, no other class.
    pub(super) fn is_plain(&self) -> bool {
        self.flags & 0x78 == 0 && self.class == INTERNET
    }

    pub(super) fn asks_address(&self) -> bool {
        self.kind == A
    }

    /// Whether programs ask this before they connect, and do without an answer.
    pub(super) fn asks_way_to_connect(&self) -> bool {
        [AAAA, SVCB, HTTPS].contains(&self.kind)
    }

    /// The name with dots, unless a label has bytes that no name of a host has.
    pub(super) fn name(&self) -> Option<String> {
        let plain =
            |label: &&[u8]| label.iter().all(|byte| byte.is_ascii_graphic() && *byte != b'.');
        if !self.labels.iter().all(plain) {
            return None;
        }
        let texts: Option<Vec<&str>> =
            self.labels.iter().map(|label| std::str::from_utf8(label).ok()).collect();
        Some(texts?.join("."))
    }

    /// The answer as a message.
    pub(super) fn answer(&self, answer: Answer) -> Vec<u8> {
        let (code, addresses) = match answer {
            Answer::Address(_) => (0, 1_u16),
            Answer::Nothing => (0, 0),
            Answer::Code(code) => (code as u8, 0),
        };
        let mut message = Vec::with_capacity(HEADER + self.raw.len() + 16);
        message.extend(self.id);
        // An answer with authority, to the same kind of question; recursion is available.
        message.extend([0x84 | (self.flags & 0x79), 0x80 | code]);
        message.extend([0, 1]);
        message.extend(addresses.to_be_bytes());
        message.extend([0; 4]);
        message.extend(self.raw);
        if let Answer::Address(address) = answer {
            // The name is that of the question, by a pointer to it.
            message.extend([0xc0, HEADER as u8]);
            message.extend(A.to_be_bytes());
            message.extend(INTERNET.to_be_bytes());
            message.extend(SECONDS.to_be_bytes());
            message.extend(4_u16.to_be_bytes());
            message.extend(address.octets());
        }
        message
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(name: &str, kind: u16) -> Vec<u8> {
        let mut packet = vec![7, 8, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0];
        for label in name.split('.') {
            packet.push(label.len() as u8);
            packet.extend(label.as_bytes());
        }
        packet.push(0);
        packet.extend(kind.to_be_bytes());
        packet.extend([0, 1]);
        packet
    }

    #[test]
    fn a_question_is_read_and_answered() {
        let bytes = packet("Example.com", A);
        let question = Question::parse(&bytes).unwrap();
        assert_eq!(question.name().as_deref(), Some("Example.com"));
        assert!(question.is_plain() && question.asks_address());
        let answer = question.answer(Answer::Address(Ipv4Addr::new(198, 18, 0, 1)));
        assert_eq!(answer[..4], [7, 8, 0x85, 0x80]);
        assert_eq!(answer[answer.len() - 4..], [198, 18, 0, 1]);
        let refused = question.answer(Answer::Code(Code::Refused));
        assert_eq!(refused[3] & 0xf, 5);
        assert_eq!(refused.len(), bytes.len());
    }

    #[test]
    fn what_is_no_question_gets_no_answer() {
        let good = packet("a.test", A);
        for length in 0..good.len() {
            assert!(Question::parse(&good[..length]).is_none(), "{length}");
        }
        let mut answer = good.clone();
        answer[2] |= 0x80;
        assert!(Question::parse(&answer).is_none());
        let mut pointer = good.clone();
        pointer[HEADER] = 0xc0;
        assert!(Question::parse(&pointer).is_none());
        let mut two = good;
        two[5] = 2;
        assert!(Question::parse(&two).is_none());
        let long = packet(&["a"; 130].join("."), A);
        assert!(Question::parse(&long).is_none());
    }

    #[test]
    fn names_with_odd_bytes_are_none() {
        for name in ["a\0b.test", "a b.test", "\u{e9}.test"] {
            let bytes = packet(name, A);
            assert_eq!(Question::parse(&bytes).unwrap().name(), None, "{name}");
        }
    }
}
