//! How words of the data stand in the tables: as their places in these lists. The build writes by them and the crate reads by them.

use offshoot_vocabulary::EffectCategory;

use super::table::{Known, Role, Style};

/// What a value or an operand is.
pub(crate) const ROLES: [(&str, Role); 17] = [
    ("text", Role::Text),
    ("read", Role::Read),
    ("write", Role::Write),
    ("output", Role::Output),
    ("delete", Role::Delete),
    ("last_write", Role::LastWrite),
    ("assignments", Role::Assignments),
    ("variable", Role::Variable),
    ("directory", Role::Directory),
    ("upload", Role::Upload),
    ("command", Role::Command),
    ("command_until", Role::CommandUntil),
    ("shell", Role::Shell),
    ("script", Role::Script),
    ("code", Role::Code),
    ("host", Role::Host),
    ("remote", Role::Remote),
];

/// How arguments are read.
pub(crate) const STYLES: [(&str, Style); 6] = [
    ("gnu", Style::Gnu),
    ("posix", Style::Posix),
    ("long", Style::Long),
    ("keys", Style::Keys),
    ("tar", Style::Tar),
    ("none", Style::None),
];

/// Options that are harmless, by the keys that list them. The numbers behind these are those of the options that matter.
pub(crate) const HARMLESS: [(&str, Known); 4] = [
    ("flags", Known::Flag),
    ("values", Known::Value(Role::Text)),
    ("reads", Known::Value(Role::Read)),
    ("optional", Known::Optional),
];

/// The bit of a category in a set.
pub(crate) const fn bit(category: EffectCategory) -> u8 {
    1 << category as u8
}
