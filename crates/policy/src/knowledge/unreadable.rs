//! What stands in for knowledge that cannot be read. The build reads what it wrote, so that none of this is ever needed;
//! were it, then nothing would be taken for harmless.

use offshoot_vocabulary::EffectCategory;

use super::table::{CredentialLocation, Language, Operands, Role, Style, Tool, Variable};
use crate::category::Categories;

const WHY: &str = "what is known of it cannot be read";
const WORST: Categories = Categories::only(EffectCategory::Mutating)
    .with(EffectCategory::Networked)
    .with(EffectCategory::Destructive)
    .with(EffectCategory::HostEscapeRisk);

/// Any program.
pub(super) static TOOL: Tool = Tool {
    name: "this program",
    about: "may do anything: what is known of it cannot be read",
    is: WORST,
    style: Style::None,
    options: &[],
    prefixes: &[],
    first: None,
    operands: Operands { ahead: &[], rest: Role::Text },
    language: Language::Other(""),
    input: None,
    leading: false,
    appends: false,
    versioned: true,
    whens: &[],
    subs: &[],
    patterns: &[],
    default: None,
};

/// All variables.
pub(super) static VARIABLES: &[Variable] =
    &[Variable { name: "*", adds: WORST, harmless: &[], lasting: false, why: WHY }];

/// A home as a whole, and where systems keep what is secret.
pub(super) static PLACES: &[CredentialLocation] = &[
    CredentialLocation { home: true, path: "*", why: WHY },
    CredentialLocation { home: false, path: "etc", why: WHY },
    CredentialLocation { home: false, path: "proc", why: WHY },
    CredentialLocation { home: false, path: "root", why: WHY },
    CredentialLocation { home: false, path: "run", why: WHY },
    CredentialLocation { home: false, path: "var", why: WHY },
];
