//! Who acts: a person, and the agent that acts for them.

pub use offshoot_vault::Actor;

use crate::error::Result;
use crate::offshoot::Offshoot;
use crate::settings::{self, ProjectRule, Whose};

impl Offshoot {
    /// Refuses an agent that would set in the user's file what holds more than how things look: what a project may not set freely either. Refuses
    /// the name of a preset that there is not, too, whoever sets it.
    ///
    /// ```
    /// # fn example(offshoot: &offshoot_engine::Offshoot) -> offshoot_engine::Result<()> {
    /// use offshoot_engine::settings::Whose;
    ///
    /// offshoot.may_set(Whose::User, "approvals.fallback", Some("deny"))?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn may_set(&self, whose: Whose, key: &str, value: Option<&str>) -> Result<()> {
        if whose == Whose::User && settings::project_rule(key) != ProjectRule::Free {
            self.actor().require_person("change this setting of the user")?;
        }
        value.map_or(Ok(()), |value| self.check_setting(key, value))
    }
}

/// The name of this process's account, or its number where it has none.
pub(crate) fn own_account() -> String {
    let uid = rustix::process::getuid().as_raw();
    account(uid).unwrap_or_else(|| format!("uid-{uid}"))
}

/// The name of an account.
pub(crate) fn account(uid: u32) -> Option<String> {
    let uid = uid.to_string();
    let accounts = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    let mut fields = accounts.lines().map(|line| line.split(':').collect::<Vec<_>>());
    let found = fields.find(|fields| fields.get(2) == Some(&uid.as_str()));
    found.map(|fields| fields[0].to_owned())
}
