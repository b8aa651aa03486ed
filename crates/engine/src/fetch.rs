//! Pages of the web, by the rules of the network proxy.

use offshoot_egress::{EgressOptions, NetRules, Refusal};
pub use offshoot_egress::{Page, PageError, PageRequest};
use offshoot_protocol::ExitCode;

use crate::error::{Error, Result};
use crate::offshoot::Offshoot;

impl Offshoot {
    /// Fetches a page from one of these hosts, which are rules as in `--net allow=`. Each redirect is checked anew, names are resolved once
    /// and lead to no private address. It needs a runtime of tokio.
    ///
    /// ```
    /// # async fn example(offshoot: &offshoot_engine::Offshoot) -> offshoot_engine::Result<()> {
    /// use offshoot_engine::fetch::PageRequest;
    ///
    /// let page = offshoot.fetch(&PageRequest::new("https://docs.rs/"), &["docs.rs".to_owned()]).await?;
    /// println!("{}", page.status);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn fetch(&self, request: &PageRequest, hosts: &[String]) -> Result<Page> {
        let rules = NetRules::parse(&hosts.join(",")).map_err(|error| {
            Error::usage(error.to_string()).hint("correct the hosts that are allowed")
        })?;
        Ok(offshoot_egress::fetch_page(EgressOptions::new(rules), request).await?)
    }
}

impl From<PageError> for Error {
    fn from(error: PageError) -> Self {
        let code = match &error {
            PageError::Url { .. } => ExitCode::Usage,
            PageError::Refused { refusal, .. } if refusal.is_by_rule() => ExitCode::Denied,
            PageError::Time(_) => ExitCode::Timeout,
            _ => ExitCode::Failure,
        };
        let told = Self::new(code, error.to_string());
        match error {
            PageError::Refused { refusal: Refusal::NotAllowed, host } => {
                let host = host.strip_suffix(":443").or(host.strip_suffix(":80")).unwrap_or(&host);
                told.hint(format!("a person allows it with --net allow={host}"))
            }
            PageError::Url { .. } => told.hint("give the whole address, as in https://docs.rs/"),
            _ => told,
        }
    }
}
