//! Updates of tasks for webhooks.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_TYPE, HOST, HeaderName, USER_AGENT};
use http::{HeaderValue, Request, StatusCode};
use http_body_util::Full;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::check;
use crate::fault::{A2aCode, A2aFault};
use crate::limits::A2aPushLimits;
use crate::reach::A2aAddressPolicy;
use crate::web::{Target, Web};
use crate::wire::{A2aEvent, A2aPushConfig};

const TOKEN: HeaderName = HeaderName::from_static("x-a2a-notification-token");
/// URLs and credentials are no longer than this.
const LONGEST: usize = 4096;

/// Calls webhooks.
pub(crate) struct Pusher {
    out: Option<Out>,
    limits: A2aPushLimits,
    queues: Mutex<HashMap<Key, VecDeque<Bytes>>>,
    /// Those that are called at once.
    places: Semaphore,
    over: CancellationToken,
}

/// Who permits it, and who does it.
struct Out {
    policy: Arc<dyn A2aAddressPolicy>,
    web: Web,
}

/// A webhook of a task. Another address under the same name is another webhook.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Key {
    task: String,
    id: String,
    url: String,
}

impl Pusher {
    /// Without a policy there are no webhooks.
    pub(crate) fn new(
        policy: Option<Arc<dyn A2aAddressPolicy>>,
        limits: A2aPushLimits,
        over: CancellationToken,
    ) -> Arc<Self> {
        let out = policy.map(|policy| {
            let web = Web::new(Arc::clone(&policy), None);
            Out { policy, web }
        });
        let places = Semaphore::new(limits.deliveries.clamp(1, Semaphore::MAX_PERMITS));
        Arc::new(Self { out, limits, queues: Mutex::default(), places, over })
    }

    /// Whether there are webhooks at all.
    pub(crate) fn is_on(&self) -> bool {
        self.out.is_some()
    }

    /// Checks a webhook before it is kept, and gives it a name.
    pub(crate) fn check(&self, config: &mut A2aPushConfig) -> Result<(), A2aFault> {
        let Some(out) = &self.out else {
            let message = "this agent calls no webhooks; use a stream, or ask for the task";
            return Err(A2aFault::new(A2aCode::PushNotificationNotSupported, message));
        };
        if config.id.is_empty() {
            config.id = crate::id::fresh();
        }
        check::name("id", &config.id)?;
        if config.url.len() > LONGEST {
            return Err(A2aFault::params(format!("url: it has more than {LONGEST} bytes")));
        }
        let target =
            Target::parse(&config.url).map_err(|error| A2aFault::params(error.to_string()))?;
        if !target.is_permitted(&*out.policy) {
            return Err(A2aFault::params("url: this server does not connect to that address"));
        }
        let is_header = |text: &str| text.len() <= LONGEST && HeaderValue::from_str(text).is_ok();
        if !is_header(&config.token) {
            return Err(A2aFault::params("token: no header can have it"));
        }
        if let Some(proof) = &config.authentication {
            let is_scheme = !proof.scheme.is_empty()
                && proof.scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
            if !is_scheme || !is_header(&proof.credentials) {
                return Err(A2aFault::params("authentication: no header can have it"));
            }
        }
        Ok(())
    }

    /// Has an update delivered to all webhooks of a task.
    pub(crate) fn tell(self: &Arc<Self>, task: &str, configs: &[A2aPushConfig], event: &A2aEvent) {
        if configs.is_empty() || !self.is_on() {
            return;
        }
        // Events have no maps with keys that are no texts.
        let Ok(body) = serde_json::to_vec(event).map(Bytes::from) else { return };
        for config in configs {
            let (id, url) = (config.id.clone(), config.url.clone());
            let key = Key { task: task.to_owned(), id, url };
            let mut queues = self.queues();
            let is_new = !queues.contains_key(&key);
            let queue = queues.entry(key.clone()).or_default();
            queue.push_back(body.clone());
            if queue.len() > self.limits.queue.max(1) {
                queue.pop_front();
            }
            drop(queues);
            if is_new {
                let (pusher, config) = (Arc::clone(self), config.clone());
                tokio::spawn(async move {
                    tokio::select! {
                        () = pusher.deliver(&key, &config) => {}
                        () = pusher.over.cancelled() => {}
                    }
                });
            }
        }
    }

    /// Forgets what a webhook that was removed has not got yet.
    pub(crate) fn forget(&self, task: &str, id: &str) {
        self.queues().retain(|key, _| key.task != task || key.id != id);
    }

    /// Delivers what waits for a webhook, in its order, until nothing does.
    async fn deliver(&self, key: &Key, config: &A2aPushConfig) {
        loop {
            let body = {
                let mut queues = self.queues();
                let Some(body) = queues.get_mut(key).and_then(VecDeque::pop_front) else {
                    queues.remove(key);
                    return;
                };
                body
            };
            self.deliver_one(key, config, body).await;
        }
    }

    async fn deliver_one(&self, key: &Key, config: &A2aPushConfig, body: Bytes) {
        for attempt in 0..self.limits.attempts.max(1) {
            if attempt > 0 {
                tokio::time::sleep(wait(&self.limits, attempt, fastrand::f64())).await;
            }
            // A webhook that was removed meanwhile is not called again.
            if attempt > 0 && !self.queues().contains_key(key) {
                return;
            }
            let Ok(_place) = self.places.acquire().await else { return };
            match self.try_one(config, body.clone()).await {
                Some(status) if status.is_success() => return,
                Some(status) if !is_worth_another(status) => return,
                _ => {}
            }
        }
    }

    /// The status that a webhook answers, if it answers.
    async fn try_one(&self, config: &A2aPushConfig, body: Bytes) -> Option<StatusCode> {
        let out = self.out.as_ref()?;
        let target = Target::parse(&config.url).ok()?;
        let mut request = Request::post(target.path())
            .header(HOST, target.authority())
            .header(CONTENT_TYPE, "application/json")
            .header(USER_AGENT, "offshoot-a2a");
        if !config.token.is_empty() {
            request = request.header(TOKEN, secret(&config.token)?);
        }
        if let Some(proof) = config.authentication.as_ref().filter(|it| !it.credentials.is_empty())
        {
            let text = format!("{} {}", proof.scheme, proof.credentials);
            request = request.header(AUTHORIZATION, secret(&text)?);
        }
        let request = request.body(Full::new(body)).ok()?;
        let response = out.web.send(&target, request, self.limits.timeout).await.ok()?;
        Some(response.status())
    }

    fn queues(&self) -> MutexGuard<'_, HashMap<Key, VecDeque<Bytes>>> {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn secret(text: &str) -> Option<HeaderValue> {
    let mut value = HeaderValue::from_str(text).ok()?;
    value.set_sensitive(true);
    Some(value)
}

/// Whether a status may be another one later.
fn is_worth_another(status: StatusCode) -> bool {
    status.is_server_error()
        || matches!(
            status,
            StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_EARLY | StatusCode::TOO_MANY_REQUESTS
        )
}

/// How long to wait before a try: twice as long each time, up to a limit, and between half and all of that by chance.
fn wait(limits: &A2aPushLimits, attempt: u32, chance: f64) -> Duration {
    let doubled = limits.first_wait.saturating_mul(1_u32 << attempt.saturating_sub(1).min(20));
    doubled.min(limits.longest_wait).mul_f64(0.5 + chance.clamp(0.0, 1.0) / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reach::A2aReach;
    use crate::wire::A2aPushAuthentication;

    #[test]
    fn waits_grow_and_end() {
        let limits = A2aPushLimits::default();
        let at = |attempt| wait(&limits, attempt, 1.0);
        assert_eq!([at(1), at(2), at(3)], [500, 1000, 2000].map(Duration::from_millis));
        assert_eq!((at(9), at(u32::MAX)), (limits.longest_wait, limits.longest_wait));
        assert_eq!(wait(&limits, 1, 0.0), Duration::from_millis(250));
    }

    #[test]
    fn webhooks_are_checked() {
        let over = CancellationToken::new();
        let limits = A2aPushLimits::default();
        let off = Pusher::new(None, limits.clone(), over.clone());
        let mut hook = A2aPushConfig::new("http://127.0.0.1/");
        let code = |result: Result<(), A2aFault>| result.map_err(|fault| fault.code);
        assert_eq!(code(off.check(&mut hook)), Err(A2aCode::PushNotificationNotSupported));
        let on = Pusher::new(Some(Arc::new(A2aReach::Loopback)), limits, over);
        assert_eq!(code(on.check(&mut hook)), Ok(()));
        assert!(!hook.id.is_empty());
        let proof = |scheme: &str, credentials: &str| {
            let (scheme, credentials) = (scheme.to_owned(), credentials.to_owned());
            Some(A2aPushAuthentication { scheme, credentials })
        };
        for wrong in [
            A2aPushConfig::new("http://10.0.0.1/"),
            A2aPushConfig::new("http://[::ffff:169.254.169.254]/latest"),
            A2aPushConfig::new("ftp://127.0.0.1/"),
            A2aPushConfig::new(format!("http://127.0.0.1/{}", "a".repeat(LONGEST))),
            A2aPushConfig { token: "a\r\nb".to_owned(), ..hook.clone() },
            A2aPushConfig { authentication: proof("Bearer x", "a"), ..hook.clone() },
            A2aPushConfig { authentication: proof("Bearer", "a\nb"), ..hook.clone() },
            A2aPushConfig { id: "\u{7}".to_owned(), ..hook.clone() },
        ] {
            assert_eq!(
                code(on.check(&mut wrong.clone())),
                Err(A2aCode::InvalidParams),
                "{wrong:?}"
            );
        }
    }
}
