//! Work that is due by the clock.

use std::str::FromStr;

use croner::Cron;
use croner::parser::{CronParser, Seconds, Year};
use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::amount::Budget;
use crate::task::{DeliveryPromise, TaskRetry};

fn once() -> DeliveryPromise {
    DeliveryPromise::Once
}

/// Missed runs are counted up to here.
const COUNTED: u64 = 1_000;

/// The shortest interval.
const SHORTEST_MS: u64 = 10;

/// The most runs that `RunAll` makes up for.
const MOST_RUNS: u32 = 1_000;

/// Work that is due by the clock.
///
/// ```
/// use offshoot_kernel::{JobSchedule, KernelJob, MissedRuns};
///
/// let schedule = JobSchedule::cron("0 9 * * MON-FRI", "Europe/Berlin");
/// let job = KernelJob::new("report", schedule).missed(MissedRuns::RunOnce);
/// assert!(job.check().is_ok());
/// assert!(KernelJob::new("never", JobSchedule::cron("61 * * * *", "UTC")).check().is_err());
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KernelJob {
    /// Names it.
    pub name: String,
    /// When it is due.
    pub schedule: JobSchedule,
    /// What each run gets.
    #[serde(default)]
    pub body: Value,
    /// What each run may spend.
    #[serde(default)]
    pub budget: Option<Budget>,
    /// What becomes of runs that were missed.
    pub missed: MissedRuns,
    /// How often a run may be handled. By default once, also if it breaks off.
    #[serde(default = "once")]
    pub promise: DeliveryPromise,
    /// When a run that failed is tried again.
    #[serde(default)]
    pub retry: TaskRetry,
}

/// When a job is due.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "is")]
pub enum JobSchedule {
    /// By a pattern of cron.
    Cron {
        /// The pattern.
        pattern: String,
        /// A name of the IANA time zone database.
        zone: String,
    },
    /// Every so often from when it was set.
    Every {
        /// How often, in milliseconds.
        ms: u64,
    },
    /// At one time.
    Once {
        /// The wall time.
        at_ms: u64,
    },
}

/// What becomes of runs that were missed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "is")]
pub enum MissedRuns {
    /// They are left out.
    Skip {
        /// How late a run may be and not count as missed.
        grace_ms: u64,
    },
    /// The latest one runs.
    RunOnce,
    /// The latest few run, oldest first.
    RunAll {
        /// At most so many.
        bound: u32,
    },
}

impl Default for MissedRuns {
    fn default() -> Self {
        Self::Skip { grace_ms: 60_000 }
    }
}

/// Why a job cannot be set.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JobError {
    /// The pattern cannot be read.
    #[error("job {name}: cannot read the cron pattern {pattern:?}: {why}")]
    Pattern {
        /// The job.
        name: String,
        /// The pattern.
        pattern: String,
        /// What is wrong.
        why: String,
    },
    /// The time zone is not known.
    #[error("job {name}: unknown time zone {zone:?}; use a name such as Europe/Berlin or UTC")]
    Zone {
        /// The job.
        name: String,
        /// The zone.
        zone: String,
    },
    /// A number is out of its bounds.
    #[error("job {name}: {what} is {given}, it must be from {least} to {most}")]
    Range {
        /// The job.
        name: String,
        /// Which number.
        what: &'static str,
        /// What it is.
        given: u64,
        /// The least.
        least: u64,
        /// The most.
        most: u64,
    },
}

/// What is due.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct DueRuns {
    /// Runs that begin, oldest first.
    pub(crate) run: Vec<u64>,
    /// The latest due time that passed.
    pub(crate) latest: u64,
    /// How many are left out; counting stops somewhere.
    pub(crate) missed: u64,
}

impl KernelJob {
    /// A job without body or budget that leaves out missed runs.
    pub fn new(name: impl Into<String>, schedule: JobSchedule) -> Self {
        Self {
            name: name.into(),
            schedule,
            body: Value::Null,
            budget: None,
            missed: MissedRuns::default(),
            promise: DeliveryPromise::Once,
            retry: TaskRetry::default(),
        }
    }

    /// With a body.
    #[must_use]
    pub fn body(self, body: Value) -> Self {
        Self { body, ..self }
    }

    /// With a budget for each run.
    #[must_use]
    pub fn budget(self, budget: Budget) -> Self {
        Self { budget: Some(budget), ..self }
    }

    /// With a way to handle missed runs.
    #[must_use]
    pub fn missed(self, missed: MissedRuns) -> Self {
        Self { missed, ..self }
    }

    /// With a promise for each run.
    #[must_use]
    pub fn promise(self, promise: DeliveryPromise) -> Self {
        Self { promise, ..self }
    }

    /// Whether it can be set.
    pub fn check(&self) -> Result<(), JobError> {
        let range = |what, given, least, most| match (least..=most).contains(&given) {
            true => Ok(()),
            false => Err(JobError::Range { name: self.name.clone(), what, given, least, most }),
        };
        if let MissedRuns::RunAll { bound } = self.missed {
            range("bound", bound.into(), 1, MOST_RUNS.into())?;
        }
        match &self.schedule {
            JobSchedule::Every { ms } => range("ms", *ms, SHORTEST_MS, i64::MAX as u64),
            JobSchedule::Once { at_ms } => range("at_ms", *at_ms, 0, i64::MAX as u64),
            JobSchedule::Cron { .. } => CronTimes::new(&self.name, &self.schedule).map(|_| ()),
        }
    }

    /// Its due times, if it was set at a time. What was set was checked; a zone that has since left the database is never due.
    pub(crate) fn times(&self, set_ms: u64) -> Option<JobTimes> {
        Some(match &self.schedule {
            JobSchedule::Cron { .. } => {
                JobTimes::Cron(Box::new(CronTimes::new(&self.name, &self.schedule).ok()?))
            }
            JobSchedule::Every { ms } => {
                JobTimes::Every { from: set_ms, ms: (*ms).max(SHORTEST_MS) }
            }
            JobSchedule::Once { at_ms } => JobTimes::Once { at: *at_ms },
        })
    }

    /// What passed after `last`, up to now.
    pub(crate) fn due(&self, times: &JobTimes, last: u64, now: u64) -> Option<DueRuns> {
        let latest = times.before(now).filter(|latest| *latest > last)?;
        let most = match self.missed {
            MissedRuns::Skip { grace_ms } if now - latest > grace_ms => 0,
            MissedRuns::Skip { .. } | MissedRuns::RunOnce => 1,
            MissedRuns::RunAll { bound } => bound.min(MOST_RUNS) as usize,
        };
        let mut run = Vec::new();
        let mut missed = 0;
        let mut next = Some(latest);
        while let Some(due) = next.filter(|due| *due > last) {
            if run.len() < most {
                run.push(due);
            } else {
                missed += 1;
            }
            if missed >= COUNTED {
                break;
            }
            next = due.checked_sub(1).and_then(|before| times.before(before));
        }
        run.reverse();
        Some(DueRuns { run, latest, missed })
    }
}

impl JobSchedule {
    /// By a pattern of cron, in a time zone.
    pub fn cron(pattern: impl Into<String>, zone: impl Into<String>) -> Self {
        Self::Cron { pattern: pattern.into(), zone: zone.into() }
    }
}

/// The due times of a job, read once.
#[derive(Debug)]
pub(crate) enum JobTimes {
    Cron(Box<CronTimes>),
    Every { from: u64, ms: u64 },
    Once { at: u64 },
}

#[derive(Debug)]
pub(crate) struct CronTimes {
    cron: Cron,
    zone: TimeZone,
}

impl JobTimes {
    /// The latest due time that is not after a time.
    fn before(&self, time: u64) -> Option<u64> {
        match self {
            Self::Cron(cron) => cron.before(time),
            Self::Every { from, ms } => {
                let passed = time.checked_sub(*from)? / ms;
                (passed > 0).then(|| from + passed * ms)
            }
            Self::Once { at } => (*at <= time).then_some(*at),
        }
    }

    /// The first due time after a time.
    pub(crate) fn after(&self, time: u64) -> Option<u64> {
        match self {
            Self::Cron(cron) => cron.after(time),
            Self::Every { from, ms } => {
                let passed = time.saturating_sub(*from) / ms;
                from.checked_add(passed.checked_add(1)?.checked_mul(*ms)?)
            }
            Self::Once { at } => (*at > time).then_some(*at),
        }
    }
}

impl CronTimes {
    fn new(name: &str, schedule: &JobSchedule) -> Result<Self, JobError> {
        let JobSchedule::Cron { pattern, zone } = schedule else {
            return Err(JobError::Pattern {
                name: name.to_owned(),
                pattern: String::new(),
                why: "there is none".to_owned(),
            });
        };
        let parser = CronParser::builder().seconds(Seconds::Optional).year(Year::Optional).build();
        let cron = parser.parse(pattern).map_err(|error| JobError::Pattern {
            name: name.to_owned(),
            pattern: pattern.clone(),
            why: error.to_string(),
        })?;
        let zone = TimeZone::get(zone)
            .map_err(|_| JobError::Zone { name: name.to_owned(), zone: zone.clone() })?;
        Ok(Self { cron, zone })
    }

    fn zoned(&self, time: u64) -> Option<Zoned> {
        let timestamp = Timestamp::from_millisecond(i64::try_from(time).ok()?).ok()?;
        Some(timestamp.to_zoned(self.zone.clone()))
    }

    fn before(&self, time: u64) -> Option<u64> {
        let found = self.cron.find_previous_occurrence(&self.zoned(time)?, true).ok()?;
        u64::try_from(found.timestamp().as_millisecond()).ok()
    }

    fn after(&self, time: u64) -> Option<u64> {
        let found = self.cron.find_next_occurrence(&self.zoned(time)?, false).ok()?;
        u64::try_from(found.timestamp().as_millisecond()).ok()
    }
}

impl FromStr for MissedRuns {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "skip" => Ok(Self::default()),
            "once" => Ok(Self::RunOnce),
            "all" => Ok(Self::RunAll { bound: 100 }),
            _ => Err(format!("unknown handling of missed runs {text:?}; use skip, once or all")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: u64 = 3_600_000;

    fn at(text: &str) -> u64 {
        text.parse::<Timestamp>().unwrap().as_millisecond().try_into().unwrap()
    }

    fn passed(job: &KernelJob, set_ms: u64, last: u64, now: u64) -> Option<DueRuns> {
        job.due(&job.times(set_ms).unwrap(), last, now)
    }

    fn next(job: &KernelJob, set_ms: u64, last: u64) -> Option<u64> {
        job.times(set_ms).unwrap().after(last)
    }

    #[test]
    fn missed_runs_are_handled_as_the_job_says() {
        let hourly =
            |missed| KernelJob::new("hourly", JobSchedule::cron("0 * * * *", "UTC")).missed(missed);
        let (last, now) = (at("2026-01-01T00:00:00Z"), at("2026-01-01T05:10:00Z"));
        let due = |missed| passed(&hourly(missed), 0, last, now).unwrap();
        let latest = at("2026-01-01T05:00:00Z");
        let skipped = due(MissedRuns::Skip { grace_ms: 1 });
        assert_eq!((skipped.run, skipped.latest, skipped.missed), (vec![], latest, 5));
        let in_grace = due(MissedRuns::Skip { grace_ms: HOUR });
        assert_eq!((in_grace.run, in_grace.missed), (vec![latest], 4));
        let once = due(MissedRuns::RunOnce);
        assert_eq!((once.run, once.missed), (vec![latest], 4));
        let all = due(MissedRuns::RunAll { bound: 3 });
        assert_eq!((all.run.len(), all.run[0], all.missed), (3, latest - 2 * HOUR, 2));
        assert_eq!(passed(&hourly(MissedRuns::RunOnce), 0, latest, now), None);
    }

    #[test]
    fn a_gap_of_the_clock_runs_after_it_and_a_fold_runs_once() {
        let job = KernelJob::new("night", JobSchedule::cron("30 2 * * *", "Europe/Berlin"));
        // 2026-03-29: 02:00 becomes 03:00.
        let gap = next(&job, 0, at("2026-03-28T12:00:00Z")).unwrap();
        assert_eq!(gap, at("2026-03-29T01:00:00Z"));
        // 2026-10-25: 03:00 becomes 02:00.
        let first = next(&job, 0, at("2026-10-24T12:00:00Z")).unwrap();
        let second = next(&job, 0, first).unwrap();
        assert_eq!(second, at("2026-10-26T01:30:00Z"));
    }

    #[test]
    fn intervals_count_from_when_they_were_set() {
        let job = KernelJob::new("beat", JobSchedule::Every { ms: 1_000 });
        assert_eq!(next(&job, 500, 500), Some(1_500));
        assert_eq!(passed(&job, 500, 500, 1_499), None);
        assert_eq!(passed(&job, 500, 500, 10_700).unwrap().run, [10_500]);
        assert_eq!(passed(&job, 500, 500, 10_700).unwrap().missed, 9);
    }

    #[test]
    fn bounds_are_checked() {
        let every = |ms| KernelJob::new("j", JobSchedule::Every { ms }).check();
        assert!(every(10).is_ok());
        assert!(every(9).is_err());
        let zone = KernelJob::new("j", JobSchedule::cron("* * * * *", "Mars/Olympus")).check();
        assert!(zone.unwrap_err().to_string().contains("Mars/Olympus"));
        let all = KernelJob::new("j", JobSchedule::Every { ms: 10 });
        assert!(all.missed(MissedRuns::RunAll { bound: 1_001 }).check().is_err());
    }
}
