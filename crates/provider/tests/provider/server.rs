//! A server on loopback that answers as it is told, whole, in pieces, late or not to the end.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use futures::{StreamExt, stream};
use http_body_util::{BodyExt, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// What the server says to one request.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) pieces: Vec<Bytes>,
    /// Before the head.
    pub(crate) delay: Duration,
    /// Before each piece.
    pub(crate) pause: Duration,
    pub(crate) end: End,
}

/// How an answer ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// As it should.
    Done,
    /// The connection breaks.
    Cut,
    /// Nothing comes any more.
    Hang,
}

impl Answer {
    pub(crate) fn new(status: u16, kind: &str, body: impl Into<Bytes>) -> Self {
        Self {
            status,
            headers: vec![("content-type".to_owned(), kind.to_owned())],
            pieces: vec![body.into()],
            delay: Duration::ZERO,
            pause: Duration::ZERO,
            end: End::Done,
        }
    }

    /// A stream of events.
    pub(crate) fn events(body: impl Into<Bytes>) -> Self {
        Self::new(200, "text/event-stream; charset=utf-8", body)
    }

    pub(crate) fn json(status: u16, body: &Value) -> Self {
        Self::new(status, "application/json", body.to_string())
    }

    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn end(mut self, end: End) -> Self {
        self.end = end;
        self
    }
}

/// A request that came.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) method: http::Method,
    pub(crate) path: String,
    pub(crate) headers: http::HeaderMap,
    pub(crate) body: Value,
}

/// A server that runs until it is dropped.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    seen: Arc<Mutex<Vec<Seen>>>,
    /// Requests whose answers are under way.
    busy: Arc<AtomicUsize>,
    /// The most of them at once.
    most: Arc<AtomicUsize>,
    task: JoinHandle<()>,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Counts an answer that is under way.
struct Busy(Arc<AtomicUsize>);

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Server {
    /// Answers each request by what a function says to it and to the number of those before.
    pub(crate) async fn new(
        answer: impl Fn(&Seen, usize) -> Answer + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let seen: Arc<Mutex<Vec<Seen>>> = Arc::default();
        let busy: Arc<AtomicUsize> = Arc::default();
        let most: Arc<AtomicUsize> = Arc::default();
        let answer = Arc::new(answer);
        let (all, now, peak) = (Arc::clone(&seen), Arc::clone(&busy), Arc::clone(&most));
        let task = tokio::spawn(async move {
            loop {
                let Ok((stream, _)) = listener.accept().await else {
                    return;
                };
                let (answer, all) = (Arc::clone(&answer), Arc::clone(&all));
                let (now, peak) = (Arc::clone(&now), Arc::clone(&peak));
                let service = service_fn(move |request: hyper::Request<Incoming>| {
                    let (answer, all) = (Arc::clone(&answer), Arc::clone(&all));
                    let (now, peak) = (Arc::clone(&now), Arc::clone(&peak));
                    async move {
                        peak.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                        let busy = Busy(now);
                        let (head, body) = request.into_parts();
                        let body = body.collect().await.unwrap().to_bytes();
                        let seen = Seen {
                            method: head.method,
                            path: head.uri.to_string(),
                            headers: head.headers,
                            body: serde_json::from_slice(&body).unwrap_or_default(),
                        };
                        let before = {
                            let mut all = all.lock().unwrap();
                            all.push(seen.clone());
                            all.len() - 1
                        };
                        let answer = answer(&seen, before);
                        tokio::time::sleep(answer.delay).await;
                        Ok::<_, Infallible>(respond(answer, busy))
                    }
                });
                tokio::spawn(async move {
                    let connection = hyper::server::conn::http1::Builder::new()
                        .serve_connection(TokioIo::new(stream), service);
                    // A connection that breaks is what is tested.
                    drop(connection.await);
                });
            }
        });
        Self { address, seen, busy, most, task }
    }

    /// Answers one after the other, and the last one again and again.
    pub(crate) async fn of(answers: Vec<Answer>) -> Self {
        Self::new(move |_, before| answers[before.min(answers.len() - 1)].clone()).await
    }

    pub(crate) fn base(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }

    pub(crate) fn most_at_once(&self) -> usize {
        self.most.load(Ordering::SeqCst)
    }

    pub(crate) fn busy(&self) -> usize {
        self.busy.load(Ordering::SeqCst)
    }
}

type Piece = Result<Frame<Bytes>, std::io::Error>;

fn respond(
    answer: Answer,
    busy: Busy,
) -> hyper::Response<impl hyper::body::Body<Data = Bytes, Error = std::io::Error>> {
    let Answer { status, headers, pieces, pause, end, .. } = answer;
    let pieces = stream::iter(pieces).then(move |piece| async move {
        tokio::time::sleep(pause).await;
        Piece::Ok(Frame::data(piece))
    });
    let tail = stream::once(async move {
        match end {
            End::Done => None,
            End::Cut => {
                // What was said before is to arrive.
                tokio::time::sleep(Duration::from_millis(20)).await;
                Some(Err(std::io::Error::other("cut")))
            }
            End::Hang => {
                std::future::pending::<()>().await;
                None
            }
        }
    });
    let body = pieces.chain(tail.filter_map(|piece: Option<Piece>| async move { piece }));
    let body = body.inspect(move |_| {
        let _while_it_lasts = &busy;
    });
    let mut response = hyper::Response::builder().status(status);
    for (name, value) in headers {
        response = response.header(name, value);
    }
    response.body(StreamBody::new(Box::pin(body))).unwrap()
}
