//! One page of the web, by the rules of the proxy and through it: there is no second way to connect.

use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::timeout;

use crate::egress::{EgressOptions, state};
use crate::error::EgressError;
use crate::http::head::{end_of_head, parse_response};
use crate::http::{Mode, Origin, Session};
use crate::record::{Refusal, Route};
use crate::url::Url;
use crate::wire::Duplex;

/// How much is under way between the proxy and this.
const PIPE: usize = 64 << 10;

/// What is to be fetched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageRequest {
    /// The address of the page: http or https.
    pub url: String,
    /// How many bytes of it are wanted; what is beyond is left out.
    pub most: usize,
    /// How often a server may send on to another address.
    pub redirects: usize,
    /// How long all of it may take.
    pub time: Duration,
}

impl PageRequest {
    /// A page of at most 2 MiB, within 30 seconds and 5 redirects.
    pub fn new(url: impl Into<String>) -> Self {
        Self { url: url.into(), most: 2 << 20, redirects: 5, time: Duration::from_secs(30) }
    }
}

/// A page, as a server gave it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// Where it was in the end.
    pub url: String,
    /// The status of HTTP.
    pub status: u16,
    /// What it says to be.
    pub content_type: Option<String>,
    /// Its bytes.
    pub body: Vec<u8>,
    /// Whether there is more than was wanted.
    pub is_cut: bool,
}

/// Why a page could not be fetched.
#[derive(Debug, thiserror::Error)]
pub enum PageError {
    /// It is no address of a page.
    #[error("cannot fetch {url:?}: {problem}")]
    Url {
        /// What was given, or where a server sent to.
        url: String,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// The rules do not allow it, or nobody is there.
    #[error("{}", refusal.message(host))]
    Refused {
        /// The host, with its port.
        host: String,
        /// Why.
        refusal: Refusal,
    },
    /// One redirect led to another too often.
    #[error("{0} redirects, and still no page")]
    Redirects(usize),
    /// It took too long.
    #[error("no page after {} s", .0.as_secs())]
    Time(Duration),
    /// The answer is none.
    #[error("the server's answer cannot be read: {0}")]
    Answer(String),
    /// The network cannot be used at all.
    #[error(transparent)]
    Egress(#[from] EgressError),
}

/// Fetches a page. Rules, addresses and certificates are checked for it and for each redirect, as they are for a command. It needs a
/// runtime of tokio.
pub async fn fetch_page(
    mut options: EgressOptions,
    request: &PageRequest,
) -> Result<Page, PageError> {
    options.limits.connect_time = options.limits.connect_time.min(request.time);
    let all = follow(options, request);
    timeout(request.time, all).await.unwrap_or(Err(PageError::Time(request.time)))
}

async fn follow(options: EgressOptions, request: &PageRequest) -> Result<Page, PageError> {
    let wrong = |url: &str, problem| PageError::Url { url: url.to_owned(), problem };
    let mut url = Url::parse(&request.url).map_err(|problem| wrong(&request.url, problem))?;
    for _ in 0..=request.redirects {
        let answer = once(options.clone(), &url, request.most).await?;
        match answer.location {
            Some(location) => {
                url = url.join(&location).map_err(|problem| wrong(&location, problem))?;
            }
            None => return Ok(answer.page),
        }
    }
    Err(PageError::Redirects(request.redirects))
}

/// An answer, and where it sends to.
struct Answer {
    page: Page,
    location: Option<String>,
}

/// One request to one server.
async fn once(options: EgressOptions, url: &Url, most: usize) -> Result<Answer, PageError> {
    let head_size = options.limits.head_size;
    let state = Arc::new(state(options, url.encrypted)?);
    let (mut ours, theirs) = tokio::io::duplex(PIPE);
    let origin = Origin { host: url.host.clone(), port: url.port, encrypted: url.encrypted };
    let session = Session {
        state: Arc::clone(&state),
        client: Duplex::of(theirs),
        mode: Mode::Server(origin),
        route: Route::Http,
        dialled: None,
    };
    // HTTP/1.0 knows no chunks: the answer ends where the connection does.
    let head = format!(
        "GET {} HTTP/1.0\r\nHost: {}\r\nUser-Agent: offshoot\r\nAccept: text/html, text/*, */*\r\nAccept-Encoding: identity\r\n\r\n",
        url.path,
        url.host.with_port(url.port),
    );
    let ask = async move {
        let broken = |error: std::io::Error| PageError::Answer(error.to_string());
        ours.write_all(head.as_bytes()).await.map_err(broken)?;
        let mut bytes = Vec::new();
        let wanted = (head_size + most + 1) as u64;
        (&mut ours).take(wanted).read_to_end(&mut bytes).await.map_err(broken)?;
        Ok::<_, PageError>(bytes)
    };
    let mut asking = std::pin::pin!(ask);
    let mut serving = std::pin::pin!(session.serve());
    let bytes = tokio::select! {
        bytes = &mut asking => bytes?,
        () = &mut serving => asking.await?,
    };
    if let Some(refusal) = state.ledger.report().connections.into_iter().find_map(|it| it.refusal) {
        return Err(PageError::Refused { host: url.host.with_port(url.port), refusal });
    }
    read(url, &bytes, most)
}

fn read(url: &Url, bytes: &[u8], most: usize) -> Result<Answer, PageError> {
    let wrong = |problem: &str| PageError::Answer(problem.to_owned());
    let end = end_of_head(bytes, 0).map_err(wrong)?.ok_or_else(|| wrong("it ends too early"))?;
    let response = parse_response(&bytes[..end]).map_err(wrong)?;
    let header = |wanted: &str| {
        let found = response.headers.iter().find(|(name, _)| name.eq_ignore_ascii_case(wanted));
        found.map(|(_, value)| String::from_utf8_lossy(value).trim().to_owned())
    };
    let body = &bytes[end..];
    let page = Page {
        url: url.text(),
        status: response.status,
        content_type: header("content-type"),
        body: body[..body.len().min(most)].to_vec(),
        is_cut: body.len() > most,
    };
    let sends_on = matches!(response.status, 301 | 302 | 303 | 307 | 308);
    Ok(Answer { page, location: header("location").filter(|_| sends_on) })
}
