//! Cards of agents: fetched, checked, and what of them is asked.

use bytes::Bytes;
use http::header::{ACCEPT, AUTHORIZATION, ETAG, HOST, IF_NONE_MATCH, USER_AGENT};
use http::{Request, StatusCode};
use http_body_util::Full;

use super::call::bearer;
use super::error::A2aClientError;
use super::options::A2aClientOptions;
use crate::bounds;
use crate::limits::A2aLimits;
use crate::web::{Target, Web, whole};
use crate::wire::{A2aCard, A2aInterface, BINDING_JSONRPC, BINDING_REST};

type Result<T> = std::result::Result<T, A2aClientError>;

const WELL_KNOWN: &str = "/.well-known/agent-card.json";
/// Longer cards are none.
const LONGEST: usize = 1 << 20;
/// So many interfaces of a card are looked at.
const MOST: usize = 64;

/// Where the card of an agent is.
pub(super) fn place(url: &str) -> Result<Target> {
    let at = Target::parse(url)?;
    if at.path().ends_with(".json") { Ok(at) } else { Ok(at.below(WELL_KNOWN)?) }
}

/// The card and its tag, unless it still has the tag that is known.
pub(super) async fn fetch(
    web: &Web,
    at: &Target,
    options: &A2aClientOptions,
    known: Option<&str>,
) -> Result<Option<(A2aCard, Option<String>)>> {
    let mut attempt = 0;
    // Cards are public, mostly; the token is shown to a server that asks for it alone.
    let mut shows_token = false;
    loop {
        let fetched = fetch_once(web, at, options, known, shows_token).await;
        let Err(error) = fetched else { return fetched };
        let wants_token =
            matches!(&error, A2aClientError::Status { status: StatusCode::UNAUTHORIZED, .. });
        if wants_token && !shows_token && options.token.is_some() {
            shows_token = true;
            continue;
        }
        if !error.is_passing() || attempt >= options.retries {
            return Err(error);
        }
        tokio::time::sleep(options.wait(attempt)).await;
        attempt += 1;
    }
}

async fn fetch_once(
    web: &Web,
    at: &Target,
    options: &A2aClientOptions,
    known: Option<&str>,
    shows_token: bool,
) -> Result<Option<(A2aCard, Option<String>)>> {
    let mut request = Request::get(at.path())
        .header(HOST, at.authority())
        .header(ACCEPT, "application/json")
        .header(USER_AGENT, "offshoot-a2a");
    if let Some(known) = known {
        request = request.header(IF_NONE_MATCH, known);
    }
    if let Some(token) = options.token.as_ref().filter(|_| shows_token) {
        request = request.header(AUTHORIZATION, bearer(token)?);
    }
    let request = request
        .body(Full::new(Bytes::new()))
        .map_err(|error| A2aClientError::Request(error.to_string()))?;
    let response = web.send(at, request, options.timeout).await?;
    let status = response.status();
    if status == StatusCode::NOT_MODIFIED && known.is_some() {
        return Ok(None);
    }
    if status != StatusCode::OK {
        return Err(A2aClientError::status(&at.host, status));
    }
    let tag = response.headers().get(ETAG).and_then(|tag| tag.to_str().ok()).map(str::to_owned);
    let limit = LONGEST.min(options.answer);
    let bytes = whole(at, response.into_body(), limit, options.timeout).await?;
    bounds::check(&bytes, &A2aLimits::default())
        .map_err(|fault| A2aClientError::card(fault.message))?;
    let card: A2aCard = serde_json::from_slice(&bytes)
        .map_err(|error| A2aClientError::card(format!("it is none of revision 1.0: {error}")))?;
    Ok(Some((card, tag)))
}

/// The first place of a card that this client can and may ask.
pub(super) fn choose(
    card: &A2aCard,
    at: Option<&Target>,
    options: &A2aClientOptions,
) -> Result<(A2aInterface, Target)> {
    if card.name.is_empty() {
        return Err(A2aClientError::card("the agent has no name"));
    }
    let mut refused = None;
    for interface in card.supported_interfaces.iter().take(MOST) {
        let is_known = [BINDING_JSONRPC, BINDING_REST].contains(&&*interface.protocol_binding);
        let is_spoken = interface.protocol_version.split('.').next() == Some("1");
        if !is_known || !is_spoken {
            continue;
        }
        let target = match Target::parse(&interface.url) {
            Ok(target) => target,
            Err(error) => {
                refused = Some(error.to_string());
                continue;
            }
        };
        let is_elsewhere = at.is_some_and(|at| !target.has_origin_of(at));
        if is_elsewhere && !options.allow_other_hosts {
            refused = Some(format!(
                "it leads to {}, another server than its own; set `allow_other_hosts` if that is meant",
                target.host
            ));
            continue;
        }
        if !target.is_permitted(&*options.policy) {
            refused = Some(format!("{} may not be connected to", target.host));
            continue;
        }
        return Ok((interface.clone(), target));
    }
    let nothing = || "it names no JSONRPC or HTTP+JSON interface of revision 1".to_owned();
    Err(A2aClientError::card(refused.unwrap_or_else(nothing)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn card(interfaces: &[(&str, &str, &str)]) -> A2aCard {
        let one = |(url, binding, version): &(&str, &str, &str)| A2aInterface {
            url: (*url).to_owned(),
            protocol_binding: (*binding).to_owned(),
            tenant: String::new(),
            protocol_version: (*version).to_owned(),
        };
        let supported_interfaces = interfaces.iter().map(one).collect();
        A2aCard { supported_interfaces, ..A2aCard::new("a", "b", "1") }
    }

    #[test]
    fn the_first_that_fits_is_chosen() {
        let at = Target::parse("https://a.example/x").unwrap();
        let options = A2aClientOptions::default();
        let chosen = |interfaces: &[(&str, &str, &str)]| {
            choose(&card(interfaces), Some(&at), &options)
                .map(|(_, target)| target.path().to_owned())
        };
        let all = [
            ("https://a.example/grpc", "GRPC", "1.0"),
            ("https://a.example/old", "JSONRPC", "0.3"),
            ("https://b.example/other", "JSONRPC", "1.0"),
            ("https://a.example/rest", "HTTP+JSON", "1.0"),
            ("https://a.example/rpc", "JSONRPC", "1.0"),
        ];
        assert_eq!(chosen(&all).unwrap(), "/rest");
        let why = chosen(&all[..3]).unwrap_err().to_string();
        assert!(why.contains("b.example") && why.contains("allow_other_hosts"), "{why}");
        assert!(chosen(&all[..2]).unwrap_err().to_string().contains("names no JSONRPC"));
        let trusted = A2aClientOptions { allow_other_hosts: true, ..A2aClientOptions::default() };
        assert!(choose(&card(&all[..3]), Some(&at), &trusted).is_ok());
        let plain = [("http://10.0.0.1/rpc", "JSONRPC", "1.0")];
        assert!(choose(&card(&plain), None, &options).is_err());
    }

    #[test]
    fn cards_are_where_the_specification_says() {
        let path = |url| place(url).unwrap().path().to_owned();
        assert_eq!(path("https://a.example"), WELL_KNOWN);
        assert_eq!(path("https://a.example/base/"), format!("/base{WELL_KNOWN}"));
        assert_eq!(path("https://a.example/my/card.json"), "/my/card.json");
    }
}
