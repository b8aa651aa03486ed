//! Personal data in texts, by its form.

mod card;
mod character;
mod checksum;
mod iban;
mod id;
mod ip;
mod mail;
mod phone;
mod span;

pub use id::{IdChecksum, NationalIdShape};
pub use span::{PersonalKind, PersonalSpan};

/// Finds personal data.
///
/// ```
/// use offshoot_prompt::{PersonalKind, PersonalPatterns};
///
/// let found = PersonalPatterns::default().find("pay to DE89 3704 0044 0532 0130 00, not to DE00370400440532013000");
/// assert_eq!(found.len(), 1);
/// assert_eq!((found[0].kind, found[0].start, found[0].end), (PersonalKind::Iban, 7, 34));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PersonalPatterns {
    ip_addresses: bool,
    national_ids: Vec<NationalIdShape>,
}

impl PersonalPatterns {
    /// Also finds IP addresses.
    pub fn with_ip_addresses(mut self) -> Self {
        self.ip_addresses = true;
        self
    }

    /// Also finds ids of this shape.
    pub fn with_national_id(mut self, shape: NationalIdShape) -> Self {
        self.national_ids.push(shape);
        self
    }

    /// Everything that is found, by where it begins. What is a card number or an IBAN is no phone number as well.
    pub fn find(&self, text: &str) -> Vec<PersonalSpan> {
        let mut found = Vec::new();
        if text.contains('@') {
            found.extend(mail::find(text));
        }
        if text.bytes().any(|byte| byte.is_ascii_digit()) {
            found.extend(iban::find(text));
            found.extend(card::find(text));
            for shape in &self.national_ids {
                found.extend(shape.find(text));
            }
            let is_taken = |span: &PersonalSpan| {
                found.iter().any(|other| span.start < other.end && other.start < span.end)
            };
            let phones: Vec<_> = phone::find(text).filter(|span| !is_taken(span)).collect();
            found.extend(phones);
        }
        if self.ip_addresses {
            found.extend(ip::find(text));
        }
        found.sort_by_key(|span| (span.start, span.end, span.kind));
        found
    }
}
