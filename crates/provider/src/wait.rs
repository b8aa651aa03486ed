//! How long to wait before a request is sent again.

use std::time::{Duration, SystemTime};

use http::HeaderMap;
use http::header::RETRY_AFTER;

/// When requests are sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryPolicy {
    /// How many requests are sent at most for one answer, with the first.
    pub attempts: u32,
    /// The longest first wait, which doubles each time.
    pub first: Duration,
    /// The longest wait of all.
    pub longest: Duration,
    /// The longest wait that a server may ask for. If it asks for more, its error is told at once.
    pub longest_asked: Duration,
    /// Whether an answer that broke off begins anew.
    pub restart: bool,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            attempts: 4,
            first: Duration::from_millis(500),
            longest: Duration::from_secs(30),
            longest_asked: Duration::from_secs(60),
            restart: true,
        }
    }
}

impl RetryPolicy {
    /// A policy that sends each request once.
    pub fn never() -> Self {
        Self { attempts: 1, ..Self::default() }
    }

    /// How long to wait after so many attempts; nothing if the server asks for too much.
    pub(crate) fn wait(&self, attempts: u32, asked: Option<Duration>) -> Option<Duration> {
        match asked {
            // A little more, so that those who were refused together do not come back together.
            Some(asked) if asked <= self.longest_asked => Some(asked + random(asked / 10)),
            Some(_) => None,
            None => {
                let doubled = 2_u32.saturating_pow(attempts.saturating_sub(1));
                Some(random(self.first.saturating_mul(doubled).min(self.longest)))
            }
        }
    }
}

fn random(most: Duration) -> Duration {
    most.mul_f64(fastrand::f64())
}

/// When a server wants to be asked again.
pub(crate) fn asked(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    if let Some(milliseconds) = text("retry-after-ms").and_then(|text| text.parse::<f64>().ok()) {
        return Duration::try_from_secs_f64(milliseconds / 1000.0).ok();
    }
    let after = text(RETRY_AFTER.as_str())?;
    match after.parse::<f64>() {
        Ok(seconds) => Duration::try_from_secs_f64(seconds).ok(),
        Err(_) => {
            let date = httpdate::parse_http_date(after).ok()?;
            Some(date.duration_since(now).unwrap_or_default())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(name: &'static str, value: &str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(name, value.parse().unwrap());
        headers
    }

    #[test]
    fn servers_say_when() {
        let now = httpdate::parse_http_date("Sun, 06 Nov 1994 08:49:37 GMT").unwrap();
        let said = |name, value| asked(&headers(name, value), now);
        assert_eq!(said("retry-after", "7"), Some(Duration::from_secs(7)));
        assert_eq!(said("retry-after", "0.5"), Some(Duration::from_millis(500)));
        assert_eq!(said("retry-after-ms", "250"), Some(Duration::from_millis(250)));
        let later = "Sun, 06 Nov 1994 08:50:07 GMT";
        assert_eq!(said("retry-after", later), Some(Duration::from_secs(30)));
        let earlier = "Sun, 06 Nov 1994 08:00:00 GMT";
        assert_eq!(said("retry-after", earlier), Some(Duration::ZERO));
        for wrong in ["-1", "soon", "", "nan", "1e300"] {
            assert_eq!(said("retry-after", wrong), None, "{wrong}");
        }
        let mut both = headers("retry-after", "9");
        both.insert("retry-after-ms", "40".parse().unwrap());
        assert_eq!(asked(&both, now), Some(Duration::from_millis(40)));
    }

    #[test]
    fn waits_grow_with_full_jitter() {
        let policy = RetryPolicy { first: Duration::from_secs(1), ..RetryPolicy::default() };
        for (attempts, most) in [(1, 1), (2, 2), (3, 4), (10, 30), (u32::MAX, 30)] {
            let most = Duration::from_secs(most);
            let waits: Vec<Duration> =
                (0..200).map(|_| policy.wait(attempts, None).unwrap()).collect();
            assert!(waits.iter().all(|wait| *wait <= most), "{attempts}");
            assert!(waits.iter().any(|wait| *wait > most / 2), "{attempts}");
            assert!(waits.iter().any(|wait| *wait < most / 2), "{attempts}");
        }
        let asked = Duration::from_secs(20);
        let wait = policy.wait(1, Some(asked)).unwrap();
        assert!(wait >= asked && wait <= asked * 11 / 10);
        assert_eq!(policy.wait(1, Some(Duration::from_secs(61))), None);
    }
}
