//! What a file has besides its bytes.

/// A time to the nanosecond, before or after 1970.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Mtime {
    /// Whole seconds since 1970, rounded down.
    pub seconds: i64,
    /// Nanoseconds on top, below a thousand million.
    pub nanoseconds: u32,
}

impl Mtime {
    /// The current time.
    pub fn now() -> Self {
        let now = rustix::time::clock_gettime(rustix::time::ClockId::Realtime);
        Self { seconds: now.tv_sec, nanoseconds: now.tv_nsec as u32 }
    }

    /// The one that `stat` gave.
    #[inline]
    pub fn of(stat: &rustix::fs::Stat) -> Self {
        Self { seconds: stat.st_mtime, nanoseconds: stat.st_mtime_nsec as u32 }
    }
}

/// An extended attribute: name and value.
pub type Xattr = (Vec<u8>, Vec<u8>);
