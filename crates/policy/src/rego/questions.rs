//! Modules that are asked about something else than commands.

use std::collections::BTreeMap;
use std::time::Duration;

use super::module::Module;
use crate::error::Problem;
use crate::options::NamedText;

/// What a module is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegoQuestions {
    /// The package that it has to be in, such as `offshoot`.
    pub package: &'static str,
    /// The rules that decide. A module that defines none of them is warned about.
    pub deciding: &'static [&'static str],
    /// Rules that are asked for besides.
    pub besides: &'static [&'static str],
}

impl RegoQuestions {
    /// All rules that are asked for.
    pub(super) fn names(self) -> Vec<&'static str> {
        self.deciding.iter().chain(self.besides).copied().collect()
    }

    /// Where the package is among all data.
    pub(super) fn data(self) -> String {
        format!("data.{}", self.package)
    }
}

/// A module of Rego that is asked about documents of the caller, with the same limits as one about commands: length, nesting, time, a stack of its
/// own, and what one step may make.
#[derive(Debug)]
pub struct RegoModule {
    module: Module,
}

impl RegoModule {
    /// Reads and prepares a module.
    pub fn load(file: &NamedText, questions: RegoQuestions) -> Result<Self, Problem> {
        Ok(Self { module: Module::load_for(questions, &file.name, &file.text)? })
    }

    /// What it defines in vain.
    pub fn warnings(&self) -> &[String] {
        self.module.warnings()
    }

    /// The values of all rules that are asked for and defined; or why there are none. A set becomes a list.
    pub fn ask(
        &self,
        input: serde_json::Value,
        timeout: Duration,
    ) -> Result<BTreeMap<&'static str, serde_json::Value>, String> {
        self.module.values(input, timeout)
    }
}
