//! Commands of all kinds in several workspaces, killed at random moments or by a power cut.
//!
//! Each case follows from its seed, but for the moment at which a kill arrives; to repeat one, set [`CASE`] to what the
//! failure printed. Whatever happens, each workspace shows the state before or after a command and nothing in between, what
//! an envelope called flushed is there, what an interrupted command wrote can be recovered as it was at one moment,
//! and nothing stays behind: no process, no mount, no half-made folder.

#[path = "campaign/cuts.rs"]
pub(crate) mod cuts;
#[path = "campaign/kills.rs"]
pub(crate) mod kills;
#[path = "campaign/remains.rs"]
mod remains;
#[path = "campaign/script.rs"]
mod script;
#[path = "campaign/site.rs"]
mod site;
#[path = "campaign/tally.rs"]
mod tally;
#[path = "campaign/tree.rs"]
mod tree;

use std::env;

use offshoot_tests::rng::Rng;
use offshoot_tests::tier::cases;

use crate::points::seed;

/// The environment variable that names the one case to run.
const CASE: &str = "OFFSHOOT_CRASH_CASE";

/// The seeds of this run's cases.
fn seeds(quick: u64, long: u64, salt: u64) -> Vec<u64> {
    if let Ok(text) = env::var(CASE) {
        return vec![text.parse().unwrap_or_else(|_| panic!("{CASE}={text} is no number"))];
    }
    let mut rng = Rng::new(seed() ^ salt);
    (0..cases(quick, long)).map(|_| rng.next_u64() >> 16).collect()
}

/// Says how to repeat a case.
fn named(case: u64, result: Result<(), String>) -> Result<(), String> {
    result.map_err(|why| format!("{CASE}={case}: {why}"))
}
