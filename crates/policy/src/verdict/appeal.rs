//! What would have let a request run, found out only where somebody asks.

use std::fmt;
use std::sync::Arc;

use crate::context::Context;
use crate::rules::Rules;
use crate::rules::remedy::why_it_stays;
use crate::script::ShellWord;
use crate::verdict::part::PartVerdict;
use crate::verdict::remedy::Remedy;
use crate::verdict::rule_info::RuleInfo;

/// All that it takes to find a remedy. Deciding is done far more often than explaining.
#[derive(Clone)]
pub(crate) struct Appeal {
    pub(crate) rules: Arc<Rules>,
    pub(crate) context: Context,
    /// A rule about the whole that keeps it from running, whatever is said about its parts.
    pub(crate) stopped_by: Option<Arc<RuleInfo>>,
    /// The words of the request, where it is one command and nothing else.
    pub(crate) alone: Option<Vec<ShellWord>>,
}

impl Appeal {
    /// What would have let these parts run.
    pub(crate) fn remedy(&self, parts: &[PartVerdict]) -> Remedy {
        match &self.stopped_by {
            Some(rule) => Remedy::none(why_it_stays(rule)),
            None => {
                let remedy = self.rules.remedy(parts, &self.context);
                if remedy.rule.is_none() {
                    return remedy;
                }
                let several = "it is several commands, or has a pipe or a redirection";
                let exact = self.alone.as_deref().ok_or(several);
                match exact.and_then(|words| self.rules.exact(words, parts, &self.context)) {
                    Ok(exact) => Remedy { exact: Some(exact), ..remedy },
                    Err(why) => Remedy { inexact: Some(why), ..remedy },
                }
            }
        }
    }
}

/// Without the rules, which are many.
impl fmt::Debug for Appeal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Appeal").field("stopped_by", &self.stopped_by).finish_non_exhaustive()
    }
}
