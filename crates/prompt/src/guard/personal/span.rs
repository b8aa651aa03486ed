//! What was found, and where.

use crate::word::words;

words! {
    /// A kind of personal data.
    pub enum PersonalKind {
        /// A mail address.
        EmailAddress = "email",
        /// A phone number.
        PhoneNumber = "phone",
        /// The number of a bank account.
        Iban = "iban",
        /// The number of a payment card.
        CardNumber = "card",
        /// An address in the network.
        IpAddress = "ip",
        /// A number that a state gives to somebody.
        NationalId = "id",
    }
}

/// Where something is, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PersonalSpan {
    /// What it is.
    pub kind: PersonalKind,
    /// Its first byte.
    pub start: usize,
    /// The byte behind it.
    pub end: usize,
}
