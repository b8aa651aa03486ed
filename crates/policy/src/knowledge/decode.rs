//! Reads tools, variables and places in the order in which `build/emit.rs` writes them.

use offshoot_vocabulary::EffectCategory;

use super::codes::{HARMLESS, ROLES, STYLES, bit};
use super::reader::Reader;
use super::table::{
    CredentialLocation, Effect, First, Known, Language, Operands, Role, Style, Tool, Variable, When,
};
use crate::category::Categories;

/// How deep subcommands may lie in each other. Whatever the bytes say, the stack holds it.
const LEVELS: usize = 8;

type Named<T> = (&'static str, T);

impl Reader {
    /// A program with all its subcommands.
    pub(super) fn tool(&mut self) -> Option<Tool> {
        self.tool_within(LEVELS)
    }

    fn tool_within(&mut self, levels: usize) -> Option<Tool> {
        let levels = levels.checked_sub(1)?;
        let effects = self.list(Self::effect)?;
        let inner = self.list(|reader| reader.tool_within(levels))?;
        // The fields are read in this order.
        Some(Tool {
            name: self.text()?,
            about: self.text()?,
            is: self.categories()?,
            style: self.style()?,
            options: self.list(|reader| reader.known(effects))?,
            prefixes: self.list(|reader| reader.known(effects))?,
            first: self.option(Self::first)?,
            operands: self.operands()?,
            language: self.language()?,
            input: self.option(Self::role)?,
            leading: self.flag()?,
            appends: self.flag()?,
            versioned: self.flag()?,
            whens: self.list(Self::when)?,
            subs: self.list(|reader| reader.sub(inner))?,
            patterns: self.list(|reader| reader.sub(inner))?,
            default: self.option(|reader| inner.get(reader.number()?))?,
        })
    }

    fn sub(&mut self, inner: &'static [Tool]) -> Option<Named<&'static Tool>> {
        Some((self.text()?, inner.get(self.number()?)?))
    }

    fn known(&mut self, effects: &'static [Effect]) -> Option<Named<Known>> {
        let name = self.text()?;
        let code = self.number()?;
        let known = match HARMLESS.get(code) {
            Some((_, known)) => *known,
            None => Known::Matters(effects.get(code - HARMLESS.len())?),
        };
        Some((name, known))
    }

    fn effect(&mut self) -> Option<Effect> {
        Some(Effect {
            value: self.option(Self::role)?,
            optional: self.flag()?,
            write_with: self.texts()?,
            only: self.texts()?,
            except: self.texts()?,
            adds: self.categories()?,
            is: self.option(Self::categories)?,
            operands: self.option(Self::operands)?.map(|operands| &*Box::leak(operands.into())),
            language: self.language()?,
            input: self.option(Self::role)?,
            why: self.text()?,
        })
    }

    fn when(&mut self) -> Option<When> {
        Some(When {
            at_least: self.number()?.try_into().ok()?,
            at_most: self.number()?.try_into().ok()?,
            words: self.texts()?,
            with: self.texts()?,
            without: self.texts()?,
            adds: self.categories()?,
            is: self.option(Self::categories)?,
            why: self.text()?,
        })
    }

    fn first(&mut self) -> Option<First> {
        Some(First { role: self.role()?, unless: self.texts()? })
    }

    fn operands(&mut self) -> Option<Operands> {
        Some(Operands { ahead: self.list(Self::role)?, rest: self.role()? })
    }

    fn role(&mut self) -> Option<Role> {
        ROLES.get(usize::from(self.byte()?)).map(|(_, role)| *role)
    }

    fn style(&mut self) -> Option<Style> {
        STYLES.get(usize::from(self.byte()?)).map(|(_, style)| *style)
    }

    fn categories(&mut self) -> Option<Categories> {
        let bits = self.byte()?;
        let members =
            EffectCategory::ALL.iter().copied().filter(|category| bits & bit(*category) != 0);
        (bits >> EffectCategory::ALL.len() == 0).then(|| members.collect())
    }

    fn language(&mut self) -> Option<Language> {
        Some(match self.text()? {
            "sh" => Language::Shell,
            "sed" => Language::Sed,
            "awk" => Language::Awk,
            other => Language::Other(other),
        })
    }

    pub(super) fn variable(&mut self) -> Option<Variable> {
        Some(Variable {
            name: self.text()?,
            adds: self.categories()?,
            harmless: self.texts()?,
            lasting: self.flag()?,
            why: self.text()?,
        })
    }

    pub(super) fn place(&mut self) -> Option<CredentialLocation> {
        Some(CredentialLocation { home: self.flag()?, path: self.text()?, why: self.text()? })
    }
}
