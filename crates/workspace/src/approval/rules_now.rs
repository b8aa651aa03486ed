//! The rules about commands as they are when somebody decides, or nobody does in time.

use std::fmt;
use std::sync::Arc;

use offshoot_vault::{Approval, Vault};

use crate::error::{Result, ServiceError};

type Check = dyn Fn(&Vault, &Approval) -> Result<()> + Send + Sync;

/// Says whether the rules as they are now let an approval be given. Those of when a command was asked for may be others.
#[derive(Clone, Default)]
pub struct RulesNow(Option<Arc<Check>>);

impl RulesNow {
    /// Rules that are looked at by `check`, which fails where they let nobody approve.
    pub fn new(check: impl Fn(&Vault, &Approval) -> Result<()> + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(check)))
    }

    /// Fails where nobody may approve of it now, and where nobody said what the rules are.
    pub(crate) fn check(&self, vault: &Vault, approval: &Approval) -> Result<()> {
        match &self.0 {
            Some(check) => check(vault, approval),
            None => Err(ServiceError::AskAgain),
        }
    }
}

impl fmt::Debug for RulesNow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RulesNow").finish_non_exhaustive()
    }
}
