//! End-to-end tests of the command line: the real binary, in places of its own, as people and programs use it.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

#[path = "cli/agree.rs"]
mod agree;
#[path = "cli/answers.rs"]
mod answers;
#[path = "cli/approvals.rs"]
mod approvals;
#[path = "cli/arrivals.rs"]
mod arrivals;
#[path = "cli/audits.rs"]
mod audits;
#[path = "cli/background.rs"]
mod background;
#[path = "cli/bad_input.rs"]
mod bad_input;
#[path = "cli/beginnings.rs"]
mod beginnings;
#[path = "cli/bindings.rs"]
mod bindings;
#[path = "cli/caches.rs"]
mod caches;
#[path = "cli/carry.rs"]
mod carry;
#[path = "cli/checkpoints.rs"]
mod checkpoints;
#[path = "cli/collectors.rs"]
mod collectors;
#[path = "cli/comforts.rs"]
mod comforts;
#[path = "cli/commits.rs"]
mod commits;
#[path = "cli/compaction.rs"]
mod compaction;
#[path = "cli/completions.rs"]
mod completions;
#[path = "cli/containers.rs"]
mod containers;
#[path = "cli/credentials.rs"]
mod credentials;
#[path = "cli/crowds.rs"]
mod crowds;
#[path = "cli/damage.rs"]
mod damage;
#[path = "cli/deletions.rs"]
mod deletions;
#[path = "cli/diffs.rs"]
mod diffs;
#[path = "cli/discarded.rs"]
mod discarded;
#[path = "cli/disputes.rs"]
mod disputes;
#[path = "cli/drivers.rs"]
mod drivers;
#[path = "cli/egress.rs"]
mod egress;
#[path = "cli/endless.rs"]
mod endless;
#[path = "cli/execs.rs"]
mod execs;
#[path = "cli/files.rs"]
mod files;
#[path = "cli/fleet.rs"]
mod fleet;
#[path = "cli/forked.rs"]
mod forked;
#[path = "cli/full_output.rs"]
mod full_output;
#[path = "cli/garbage.rs"]
mod garbage;
#[path = "cli/help.rs"]
mod help;
#[path = "cli/hints.rs"]
mod hints;
#[path = "cli/histories.rs"]
mod histories;
#[path = "cli/home.rs"]
mod home;
#[path = "cli/inputs.rs"]
mod inputs;
#[path = "cli/integrate.rs"]
mod integrate;
#[path = "cli/interrupted.rs"]
mod interrupted;
#[path = "cli/judged.rs"]
mod judged;
#[path = "cli/maintenance.rs"]
mod maintenance;
#[path = "cli/merges.rs"]
mod merges;
#[path = "cli/metadata.rs"]
mod metadata;
#[path = "cli/models.rs"]
mod models;
#[path = "cli/moved.rs"]
mod moved;
#[path = "cli/names.rs"]
mod names;
#[path = "cli/networks.rs"]
mod networks;
#[path = "cli/noise.rs"]
mod noise;
#[path = "cli/occupied.rs"]
mod occupied;
#[path = "cli/own_agent.rs"]
mod own_agent;
#[path = "cli/places.rs"]
mod places;
#[path = "cli/policies.rs"]
mod policies;
#[path = "cli/presets.rs"]
mod presets;
#[path = "cli/project_files.rs"]
mod project_files;
#[path = "cli/readers.rs"]
mod readers;
#[path = "cli/refusals.rs"]
mod refusals;
#[path = "cli/requests.rs"]
mod requests;
#[path = "cli/reviews.rs"]
mod reviews;
#[path = "cli/running.rs"]
mod running;
#[path = "cli/runs.rs"]
mod runs;
#[path = "cli/sandboxes.rs"]
mod sandboxes;
#[path = "cli/servers.rs"]
mod servers;
#[path = "cli/sessions.rs"]
mod sessions;
#[path = "cli/settings.rs"]
mod settings;
#[path = "cli/shortages.rs"]
mod shortages;
#[path = "cli/signals.rs"]
mod signals;
#[path = "cli/sizes.rs"]
mod sizes;
#[path = "cli/stale.rs"]
mod stale;
#[path = "cli/standing.rs"]
mod standing;
#[path = "cli/storage.rs"]
mod storage;
#[path = "cli/style.rs"]
mod style;
#[path = "cli/tools.rs"]
mod tools;
#[path = "cli/tour.rs"]
mod tour;
#[path = "cli/transcript.rs"]
mod transcript;
#[path = "cli/typed.rs"]
mod typed;
#[path = "cli/unprivileged.rs"]
mod unprivileged;
#[path = "cli/unread.rs"]
mod unread;
#[path = "cli/unreadable.rs"]
mod unreadable;
#[path = "cli/usages.rs"]
mod usages;
#[path = "cli/vaults.rs"]
mod vaults;
#[path = "cli/wear.rs"]
mod wear;
#[path = "cli/words.rs"]
mod words;
#[path = "cli/workspaces.rs"]
mod workspaces;
