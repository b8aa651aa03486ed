//! Numbers of bank accounts.

use super::character::{at, before, is_word};
use super::checksum::mod97;
use super::span::{PersonalKind, PersonalSpan};

/// How long the numbers of each country are, as the registry of IBANs has them.
const LENGTHS: &str = "AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 DK18 DO28 EE20 \
    EG29 ES24 FI18 FK18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 LI21 \
    LT20 LU20 LV21 LY25 MC27 MD24 ME22 MK19 MN20 MR27 MT31 MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29 PT25 QA29 RO24 RS22 RU33 SA24 \
    SC31 SD18 SE24 SI19 SK24 SM27 SO23 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 YE30";

pub(super) fn find(text: &str) -> Vec<PersonalSpan> {
    let mut found: Vec<PersonalSpan> = Vec::new();
    let bytes = text.as_bytes();
    for start in 0..bytes.len().saturating_sub(14) {
        let begins = bytes[start].is_ascii_alphabetic()
            && bytes[start + 1].is_ascii_alphabetic()
            && bytes[start + 2].is_ascii_digit()
            && bytes[start + 3].is_ascii_digit();
        let is_behind = found.last().is_none_or(|last| start >= last.end);
        // A letter is one byte here, so this is a place between characters.
        if begins
            && is_behind
            && before(text, start).is_none_or(|c| !is_word(c))
            && let Some(end) = end(text, start)
        {
            found.push(PersonalSpan { kind: PersonalKind::Iban, start, end });
        }
    }
    found
}

/// Where a number ends that begins here, if it is right.
fn end(text: &str, start: usize) -> Option<usize> {
    let country = text[start..start + 2].to_ascii_uppercase();
    let entry = LENGTHS.split_whitespace().find(|entry| entry.starts_with(&country))?;
    let length: usize = entry[2..].parse().ok()?;
    let mut characters = Vec::with_capacity(length);
    let mut end = start;
    for (offset, c) in text[start..].char_indices() {
        if characters.len() == length {
            break;
        }
        if c.is_ascii_alphanumeric() {
            characters.push(c);
            end = start + offset + 1;
        } else if !(c == ' ' || c == '-') || end != start + offset {
            // Anything else, and two signs in a row, end it.
            return None;
        }
    }
    let is_whole = characters.len() == length && at(text, end).is_none_or(|c| !is_word(c));
    let turned = characters.iter().skip(4).chain(characters.iter().take(4)).copied();
    (is_whole && mod97(turned) == 1).then_some(end)
}
