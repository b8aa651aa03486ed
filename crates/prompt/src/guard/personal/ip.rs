//! Addresses in the network.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::span::{PersonalKind, PersonalSpan};

pub(super) fn find(text: &str) -> Vec<PersonalSpan> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '.' || c == ':';
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(start) = text[from..].find(is_part).map(|at| from + at) {
        let rest = &text[start..];
        let end = start + rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        from = end;
        if let Some((start, end)) = address(text, start, end) {
            found.push(PersonalSpan { kind: PersonalKind::IpAddress, start, end });
        }
    }
    found
}

/// The address in a word, without what stands around it.
fn address(text: &str, start: usize, end: usize) -> Option<(usize, usize)> {
    let word = text[start..end].trim_end_matches('.');
    // A full stop or colon of a sentence, and a port.
    let trimmed = word.strip_suffix(':').filter(|rest| !rest.ends_with(':')).unwrap_or(word);
    let without_port = trimmed.rsplit_once(':').map(|(host, _)| host);
    let candidates = [Some(trimmed), without_port].into_iter().flatten();
    for candidate in candidates {
        let is_meant = match (candidate.parse::<Ipv4Addr>(), candidate.parse::<Ipv6Addr>()) {
            (Ok(address), _) => is_somebody(IpAddr::V4(address)),
            (_, Ok(address)) => candidate.len() > 4 && is_somebody(IpAddr::V6(address)),
            _ => false,
        };
        if is_meant {
            return Some((start, start + candidate.len()));
        }
    }
    None
}

fn is_somebody(address: IpAddr) -> bool {
    !address.is_loopback() && !address.is_unspecified()
}
