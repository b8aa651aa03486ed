//! The hosts that commands of an agent may be let reach.

use offshoot_protocol::{ExitCode, Hint};

use crate::error::{Error, Result};

/// Fails for hosts that a person did not name when the session began. `allows` says how they do that, with `{hosts}` in place of those.
///
/// ```
/// use offshoot_engine::exec::check_named_hosts;
///
/// let (named, asked) = (["crates.io".to_owned()], ["example.com".to_owned()]);
/// let allows = "a person starts `offshoot mcp --net allow={hosts}`";
/// assert!(check_named_hosts(&named, &named, allows).is_ok());
/// assert!(check_named_hosts(&named, &asked, allows).is_err());
/// ```
pub fn check_named_hosts(named: &[String], asked: &[String], allows: &str) -> Result<()> {
    let is_unnamed = |host: &&String| !named.iter().any(|it| it.eq_ignore_ascii_case(host));
    let Some(host) = asked.iter().find(is_unnamed) else { return Ok(()) };
    let message = format!("this session lets no command reach {host:?}");
    let hint = match named.is_empty() {
        true => allows.replace("{hosts}", "HOST"),
        false => format!("it was started with --net allow={}", named.join(",")),
    };
    Err(Error::new(ExitCode::Denied, message).hint(Hint::from(hint)))
}
