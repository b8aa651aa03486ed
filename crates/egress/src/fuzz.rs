//! Parsers under random and mangled input: none panics, and what they accept has one meaning.

use std::sync::Arc;

use offshoot_tests::rng::{Rng, seed_from_env_or};
use offshoot_tests::tier::cases;

use crate::dns;
use crate::host::{Host, parse_authority};
use crate::http::head::{end_of_head, parse_request, parse_response};
use crate::limits::EgressLimits;
use crate::lookup::SystemLookup;
use crate::made_up::MadeUp;
use crate::opaque::{Content, classify};
use crate::ranges::{Cidr, special};
use crate::record::Ledger;
use crate::rules::NetRules;
use crate::socks;
use crate::state::State;
use crate::tls::{Hello, greeting, parse_hello};
use crate::walls::EgressWalls;

/// Runs a case many times, each with numbers of its own; a failure names the seed that repeats it.
fn many(run: impl Fn(&mut Rng)) {
    let seed = seed_from_env_or(0xe9e55);
    for case in 0..cases(3000, 300_000) {
        let mut rng = Rng::new(seed.wrapping_add(case));
        let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| run(&mut rng)));
        assert!(caught.is_ok(), "repeat with OFFSHOOT_SEED={}", seed.wrapping_add(case));
    }
}

/// Changes bytes, cuts, repeats and inserts pieces.
fn mangle(rng: &mut Rng, mut bytes: Vec<u8>, pieces: &[&str]) -> Vec<u8> {
    for _ in 0..rng.below(8) {
        let at = rng.below(bytes.len() as u64 + 1) as usize;
        match rng.below(5) {
            0 => bytes.truncate(at),
            1 => {
                let end = at + rng.below((bytes.len() - at) as u64 + 1) as usize;
                let part = bytes[at..end].to_vec();
                bytes.splice(at..at, part);
            }
            2 => {
                let random = rng.below(4) as usize;
                bytes.splice(at..at, rng.bytes(random));
            }
            3 if at < bytes.len() => bytes[at] ^= 1 << rng.below(8),
            _ => {
                let piece = rng.pick(pieces).copied().unwrap_or_default();
                bytes.splice(at..at, piece.bytes());
            }
        }
    }
    bytes
}

const TEXTS: &[&str] = &[
    "a.test",
    "*.a.test",
    "a.test:80",
    "127.0.0.1",
    "10.0.0.0/8",
    "[::1]:80",
    "fd00::/8",
    "registries",
    "0x7f.1",
    "127.1",
    "2130706433",
    "xn--bcher-kva.example",
    "localhost",
    "::ffff:1.2.3.4",
    "256.1.1.1",
    "a..b",
    ".",
    "-",
    ":",
    "/",
    ",",
    "*",
    "[",
    "]",
    "@",
    "%",
    "0",
    "00",
    "é",
    "\u{3002}",
    "\0",
    " ",
    "https://",
];

#[test]
fn hosts_have_one_spelling_and_are_never_numbers() {
    many(|rng| {
        let start = rng.pick(TEXTS).copied().unwrap_or_default().as_bytes().to_vec();
        let bytes = mangle(rng, start, TEXTS);
        let text = String::from_utf8_lossy(&bytes);
        let Ok(host) = Host::parse(&text) else { return };
        assert_eq!(Host::parse(&host.to_string()).as_ref(), Ok(&host), "{text:?}");
        assert_eq!(parse_authority(&host.with_port(80)), Ok((host.clone(), Some(80))), "{text:?}");
        if let Host::Name(name) = &host {
            // What the system's own resolver takes for an address without asking anybody.
            let numeric = name.parse::<std::net::Ipv4Addr>().is_ok()
                || name.split('.').all(|label| label.starts_with(|c: char| c.is_ascii_digit()))
                    && name.rsplit('.').next().is_some_and(|last| last.parse::<u32>().is_ok());
            assert!(!numeric && name.is_ascii() && *name == name.to_ascii_lowercase(), "{text:?}");
        }
    });
}

#[test]
fn rules_that_are_read_can_be_written_and_read_again() {
    many(|rng| {
        let start = rng.pick(TEXTS).copied().unwrap_or_default().as_bytes().to_vec();
        let bytes = mangle(rng, start, TEXTS);
        let text = String::from_utf8_lossy(&bytes);
        match NetRules::parse(&text) {
            Ok(rules) => {
                let written: Vec<String> = rules.iter().map(ToString::to_string).collect();
                assert_eq!(NetRules::parse(&written.join(",")).as_ref(), Ok(&rules), "{text:?}");
            }
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    });
}

#[test]
fn no_range_of_the_world_lists_this_machine() {
    many(|rng| {
        let bits = rng.next_u64();
        let address = std::net::Ipv4Addr::from_bits(bits as u32);
        let length = (bits >> 32) as u8 % 33;
        let mask = u32::MAX.checked_shl(32 - u32::from(length)).unwrap_or(0);
        let base = std::net::Ipv4Addr::from_bits(address.to_bits() & mask);
        let rules = NetRules::parse(&format!("{base}/{length}:80")).expect("a range");
        let host = Host::from(std::net::IpAddr::from(address));
        let reached = rules.may_reach(&host, address.into(), 80).is_ok();
        let range: Cidr = format!("{base}/{length}").parse().expect("a range");
        let expected = special(address.into()).is_none_or(|special| special.range.covers(&range));
        assert_eq!(reached, expected, "{address} {range}");
        // Whatever wraps a special address is special as well.
        if special(address.into()).is_some() {
            let six = address.to_ipv6_mapped();
            assert!(special(six.into()).is_some(), "{six}");
            let nat = std::net::Ipv6Addr::from_bits(
                (0x64_ff9b_u128 << 96) | u128::from(address.to_bits()),
            );
            assert!(special(nat.into()).is_some(), "{nat}");
        }
    });
}

const HEADS: &[&str] = &[
    "GET / HTTP/1.1\r\nHost: a.test\r\n\r\n",
    "POST http://a.test:80/x?y HTTP/1.1\r\nHost: a.test:80\r\nContent-Length: 5\r\n\r\n",
    "CONNECT a.test:443 HTTP/1.1\r\nHost: a.test:443\r\n\r\n",
    "PUT / HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\nConnection: close, x\r\n\r\n",
    "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n",
];

const PIECES: &[&str] = &[
    "\r\n",
    "\n",
    "\r",
    "\0",
    " ",
    "\t",
    ":",
    "Content-Length: 6\r\n",
    "Transfer-Encoding: chunked\r\n",
    "Host: b.test\r\n",
    " folded\r\n",
    "chunked",
    ",",
    "Content-Length : 6\r\n",
    "\u{b}",
    "http://",
    "@",
    "#",
    "HTTP/1.0",
    "X: y\r\n",
];

#[test]
fn heads_that_are_accepted_have_one_meaning() {
    many(|rng| {
        let start = rng.pick(HEADS).copied().unwrap_or_default().as_bytes().to_vec();
        let bytes = mangle(rng, start, PIECES);
        drop(parse_response(&bytes));
        let Ok(Some(end)) = end_of_head(&bytes, 0) else { return };
        let head = &bytes[..end];
        let Ok(request) = parse_request(head) else { return };
        // Read once more by somebody who splits at line feeds and trims, as the most lenient of servers do.
        let text = String::from_utf8_lossy(head);
        let mut lines = text.split('\n').skip(1).map(str::trim).filter(|line| !line.is_empty());
        let field = |name: &str, line: &str| {
            let (own, value) = line.split_once(':')?;
            own.trim().eq_ignore_ascii_case(name).then(|| value.trim().to_owned())
        };
        let all: Vec<&str> = lines.by_ref().collect();
        let of = |name: &str| all.iter().filter_map(|line| field(name, line)).collect::<Vec<_>>();
        assert!(of("host").len() <= 1, "{text:?}");
        assert!(of("content-length").len() + of("transfer-encoding").len() <= 1, "{text:?}");
        let passed =
            |name: &str| request.headers.iter().any(|(own, _)| own.eq_ignore_ascii_case(name));
        for name in ["host", "content-length", "transfer-encoding", "connection", "upgrade"] {
            assert!(!passed(name), "{text:?}");
        }
        assert!(!request.path.contains(['\r', '\n', ' ', '\0']), "{text:?}");
    });
}

#[test]
fn the_end_of_a_head_does_not_depend_on_how_it_comes() {
    many(|rng| {
        let start = rng.pick(HEADS).copied().unwrap_or_default().as_bytes().to_vec();
        let bytes = mangle(rng, start, PIECES);
        let whole = end_of_head(&bytes, 0);
        let mut length = 0;
        let mut searched = 0;
        let pieced = loop {
            match end_of_head(&bytes[..length], searched) {
                Ok(None) if length < bytes.len() => {}
                found => break found,
            }
            searched = length;
            length = (length + 1 + rng.below(7) as usize).min(bytes.len());
        };
        assert_eq!(whole.is_err(), pieced.is_err(), "{:?}", String::from_utf8_lossy(&bytes));
        assert_eq!(whole.ok().flatten(), pieced.ok().flatten());
    });
}

#[test]
fn greetings_of_socks_never_panic() {
    let good: &[&[u8]] =
        &[&[5, 1, 0], &[5, 1, 0, 1, 127, 0, 0, 1, 0, 80], b"\x05\x01\x00\x03\x06a.test\x00\x50"];
    many(|rng| {
        let start = rng.pick(good).copied().unwrap_or_default().to_vec();
        let bytes = mangle(rng, start, TEXTS);
        for length in 0..=bytes.len() {
            let part = &bytes[..length];
            if let socks::Parsed::Whole(_, used) = socks::parse_request(part) {
                assert!(used <= length);
            }
            if let socks::Parsed::Whole(_, used) = socks::parse_greeting(part) {
                assert!(used <= length);
            }
        }
    });
}

#[test]
fn greetings_of_tls_say_one_name_or_none() {
    many(|rng| {
        let names = [&["a.test"][..], &[], &["a.test", "evil.test"]];
        let names = rng.pick(&names).copied().unwrap_or_default();
        let start = greeting(names, 1 + rng.below(200) as usize);
        let plain = rng.one_in(4);
        let bytes = if plain { start } else { mangle(rng, start, TEXTS) };
        let whole = parse_hello(&bytes);
        if plain && names.len() < 2 {
            let expected = names.first().map(|name| Host::parse(name).expect("a name"));
            assert_eq!(whole, Hello::Whole(expected));
        }
        // What was decided once is not decided differently when more comes.
        let mut decided = None;
        for length in 0..=bytes.len() {
            match (parse_hello(&bytes[..length]), &decided) {
                (Hello::Partial, None) => {}
                (Hello::Partial, Some(before)) => panic!("{before:?}, and then unclear"),
                (now, Some(before)) => assert_eq!(now, *before),
                (now, None) => decided = Some(now),
            }
        }
        if bytes.first() == Some(&22) {
            assert_ne!(classify(&bytes), Content::Raw);
        }
    });
}

#[test]
fn the_name_server_answers_with_what_it_made_up_alone() {
    let lookup = Arc::new(SystemLookup);
    let state = State {
        rules: NetRules::parse("a.test,*.b.test").expect("rules"),
        credentials: crate::credentials::Credentials::default(),
        limits: EgressLimits::default(),
        ledger: Ledger::new(10, None),
        made_up: MadeUp::new(Cidr::BENCHMARKS, 50),
        lookup,
        walls: EgressWalls::default(),
        inspect: None,
        client: None,
    };
    let good = b"\x01\x02\x01\0\0\x01\0\0\0\0\0\0\x01a\x04test\0\0\x01\0\x01";
    many(|rng| {
        let bytes =
            mangle(rng, good.to_vec(), &["\u{1}a", "\u{4}test", "\0", "\u{4}evil", "\0\u{10}"]);
        let Some(answer) = dns::answer(&bytes, &state) else { return };
        assert!(answer.len() <= bytes.len() + 16, "answers amplify nothing");
        assert_eq!(answer[..2], bytes[..2]);
        assert_eq!(answer[2] & 0x80, 0x80);
        if answer[7] == 1 {
            let address = <[u8; 4]>::try_from(&answer[answer.len() - 4..]).expect("four bytes");
            let name = state.made_up.name_of(std::net::IpAddr::from(address)).expect("made up");
            assert!(name == "a.test" || name.ends_with(".b.test"), "{name}");
        }
    });
}
