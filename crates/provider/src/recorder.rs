//! Writes down what is sent and answered.

pub(crate) mod line;

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use futures::future::BoxFuture;
use futures::stream::BoxStream;
use futures::{FutureExt, StreamExt, stream};

use self::line::{End, Line, RequestLine, ResponseLine, headers_of};
use crate::error::{ErrorKind, ProviderError};
use crate::key::ApiKey;
use crate::transport::{Transport, WireRequest, WireResponse};

/// Writes exchanges to a file: see the design page for its format. Clones write to the same file.
#[derive(Clone)]
pub struct Recorder {
    shared: Arc<Shared>,
}

struct Shared {
    file: Mutex<File>,
    next: AtomicU64,
}

impl Recorder {
    /// Begins a record in a new file, which nobody else may read: conversations are private.
    pub fn create(path: &Path) -> Result<Self, ProviderError> {
        use std::os::unix::fs::OpenOptionsExt;
        let file = File::options()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(path)
            .map_err(|error| unwritable(&format!("{}: {error}", path.display())))?;
        let shared = Shared { file: Mutex::new(file), next: AtomicU64::new(0) };
        shared.write(&Line::version())?;
        Ok(Self { shared: Arc::new(shared) })
    }

    /// A transport that writes down what goes by another one. A key that a server repeats is not written.
    pub(crate) fn record(
        &self,
        inner: Arc<dyn Transport>,
        key: Option<ApiKey>,
    ) -> Arc<dyn Transport> {
        Arc::new(Recording { shared: Arc::clone(&self.shared), inner, key })
    }
}

impl Shared {
    fn write(&self, line: &Line) -> Result<(), ProviderError> {
        let mut bytes = serde_json::to_vec(line).map_err(|error| unwritable(&error.to_string()))?;
        bytes.push(b'\n');
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.write_all(&bytes).map_err(|error| unwritable(&error.to_string()))
    }
}

fn unwritable(why: &str) -> ProviderError {
    let message = format!("the record of the exchange cannot be written: {why}");
    ProviderError::new(ErrorKind::BadRequest, message)
}

/// A transport that writes down what goes by another one.
struct Recording {
    shared: Arc<Shared>,
    inner: Arc<dyn Transport>,
    key: Option<ApiKey>,
}

impl Transport for Recording {
    fn send(
        &self,
        request: WireRequest,
    ) -> BoxFuture<'static, Result<WireResponse, ProviderError>> {
        let n = self.shared.next.fetch_add(1, Ordering::Relaxed);
        let mut log =
            Log { shared: Arc::clone(&self.shared), n, key: self.key.clone(), is_ended: false };
        let inner = Arc::clone(&self.inner);
        async move {
            log.write(Line { request: Some(RequestLine::of(&request)), ..Line::of(n) })?;
            let response = match inner.send(request).await {
                Ok(response) => response,
                Err(error) => {
                    log.end(End::Error(error.details().message.clone()))?;
                    return Err(error);
                }
            };
            let headers = headers_of(&response.headers);
            let headers =
                headers.into_iter().map(|(name, value)| (name, log.hide(value))).collect();
            let head = ResponseLine { status: response.status, headers };
            log.write(Line { response: Some(head), ..Line::of(n) })?;
            let body = log.follow(response.body);
            Ok(WireResponse { body, ..response })
        }
        .boxed()
    }
}

/// What is written of one exchange. Dropped before its end, the exchange was.
struct Log {
    shared: Arc<Shared>,
    n: u64,
    key: Option<ApiKey>,
    is_ended: bool,
}

impl Log {
    fn write(&self, line: Line) -> Result<(), ProviderError> {
        self.shared.write(&line)
    }

    fn end(&mut self, how: End) -> Result<(), ProviderError> {
        self.is_ended = true;
        self.write(Line { end: Some(how), ..Line::of(self.n) })
    }

    fn follow(
        self,
        body: BoxStream<'static, Result<Bytes, ProviderError>>,
    ) -> BoxStream<'static, Result<Bytes, ProviderError>> {
        stream::unfold((self, body), |(mut log, mut body)| async move {
            if log.is_ended {
                return None;
            }
            let piece = body.next().await;
            let written = match &piece {
                Some(Ok(bytes)) => log.piece(bytes),
                Some(Err(error)) => log.end(End::Error(error.details().message.clone())),
                None => log.end(End::Done),
            };
            match (written, piece) {
                (Err(error), _) => {
                    log.is_ended = true;
                    Some((Err(error), (log, body)))
                }
                (Ok(()), Some(piece)) => Some((piece, (log, body))),
                (Ok(()), None) => None,
            }
        })
        .boxed()
    }

    fn piece(&self, bytes: &[u8]) -> Result<(), ProviderError> {
        match std::str::from_utf8(bytes) {
            Ok(text) => self.write(Line::piece(self.n, self.hide(text.to_owned()).as_bytes())),
            Err(_) => self.write(Line::piece(self.n, bytes)),
        }
    }

    /// Takes the key out of what a server repeats.
    fn hide(&self, text: String) -> String {
        match &self.key {
            Some(key) if text.contains(key.expose()) => text.replace(key.expose(), "[key]"),
            _ => text,
        }
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        if !self.is_ended {
            // A record without an end tells the same, if this cannot be written.
            self.end(End::Dropped).unwrap_or_default();
        }
    }
}
