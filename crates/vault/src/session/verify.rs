//! Whether the log of a session is what was appended.

use std::collections::BTreeSet;

use offshoot_store::{Hash, Id, Reader, SessionRow};
use offshoot_tree::BlobId;

use super::append::INLINE_BODY;
use super::chain::{chain, place, signer};
use crate::audit::key::PublicKey;
use crate::error::Result;

/// Events are read in pages of this many.
const PAGE: u32 = 256;

/// What is wrong with the log of a session, of which the row says how far it is; `seen` is told of the chain after each event, and whether
/// its body lies elsewhere.
pub(crate) fn flaw(
    reader: &Reader<'_>,
    row: &SessionRow,
    mut seen: impl FnMut(u64, &Hash, bool),
) -> Result<Option<String>> {
    let (mut before, mut last) = (Hash::default(), 0);
    seen(0, &before, false);
    loop {
        let page = reader.session_events(&row.id, last + 1, PAGE)?;
        if page.is_empty() {
            break;
        }
        for event in page {
            if event.number != last + 1 {
                return Ok(Some(format!("event {} is missing", last + 1)));
            }
            last = event.number;
            let expected = chain(&before, &event);
            let is_short = event.bytes <= INLINE_BODY as u64;
            let is_body = !is_short
                || (event.body.len() as u64 == event.bytes
                    && BlobId::of(event.body.as_bytes()).0 == event.content);
            if expected != event.chain || !is_body {
                return Ok(Some(format!("event {last} is not what was appended")));
            }
            before = expected;
            seen(last, &before, !is_short);
        }
    }
    Ok(match (last == row.events, before == row.chain) {
        (true, true) => None,
        (false, _) => Some(format!("it has {last} events, not {}", row.events)),
        (true, false) => Some("its last event is not what was appended".to_owned()),
    })
}

/// What is wrong with a session, as far as the audit log tells: `said` is how far it was by the last event about it, and `keys` are
/// those that signed for the audit log.
pub(crate) fn difference(
    reader: &Reader<'_>,
    row: &SessionRow,
    (said, keys): (Option<&str>, &BTreeSet<PublicKey>),
    vault: &Id,
) -> Result<Option<String>> {
    let is_signed = signer(row, vault).is_some_and(|key| keys.contains(&key));
    if !is_signed {
        return Ok(Some("no key of this log has signed how it stands".to_owned()));
    }
    let mut is_said = said.is_none();
    let number = said.and_then(|said| said.split_once(':')?.0.parse::<u64>().ok());
    let flaw = flaw(reader, row, |at, chain, _| {
        is_said |= number == Some(at) && said == Some(&place(at, chain));
    })?;
    Ok(match flaw {
        None if !is_said => {
            Some(format!("it is not what it was after event {}", number.unwrap_or_default()))
        }
        flaw => flaw,
    })
}
