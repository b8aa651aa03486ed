//! Repositories that several people work in at once: a person in the folder, agents in workspaces, all with the real git, and the product
//! between them. No commit that anybody made gets out of reach, and every repository stays whole.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

#[path = "repositories/agreed.rs"]
mod agreed;
#[path = "repositories/broken.rs"]
mod broken;
#[path = "repositories/decided.rs"]
mod decided;
#[path = "repositories/dropped.rs"]
mod dropped;
#[path = "repositories/exact.rs"]
mod exact;
#[path = "repositories/flow.rs"]
mod flow;
#[path = "repositories/formats.rs"]
mod formats;
#[path = "repositories/guarded.rs"]
mod guarded;
#[path = "repositories/ignored.rs"]
mod ignored;
#[path = "repositories/killed.rs"]
mod killed;
#[path = "repositories/kinds.rs"]
mod kinds;
#[path = "repositories/late.rs"]
mod late;
#[path = "repositories/linked.rs"]
mod linked;
#[path = "repositories/listed.rs"]
mod listed;
#[path = "repositories/lost.rs"]
mod lost;
#[path = "repositories/marked.rs"]
mod marked;
#[path = "repositories/moves.rs"]
mod moves;
#[path = "repositories/nested.rs"]
mod nested;
#[path = "repositories/others.rs"]
mod others;
#[path = "repositories/parts.rs"]
mod parts;
#[path = "repositories/planned.rs"]
mod planned;
#[path = "repositories/recorded.rs"]
mod recorded;
#[path = "repositories/replaced.rs"]
mod replaced;
#[path = "repositories/seen.rs"]
mod seen;
#[path = "repositories/story.rs"]
mod story;
#[path = "repositories/submodules.rs"]
mod submodules;
#[path = "repositories/undone.rs"]
mod undone;
#[path = "repositories/unfinished.rs"]
mod unfinished;
#[path = "repositories/ways.rs"]
mod ways;
#[path = "repositories/world.rs"]
mod world;

use offshoot_needs::needs;
use offshoot_tests::stories::Stories;
use offshoot_tests::tier::{Tier, cases};

#[needs(Overlay, UserNamespace, "git")]
#[test]
fn no_commit_gets_out_of_reach() {
    let steps = Tier::from_env().pick(24, 40);
    let name = "no_commit_gets_out_of_reach";
    let stories = Stories { binary: "repositories", name, count: cases(4, 3000) };
    stories.tell(|seed| story::tell(seed, steps), |(), ()| {});
}

/// A witness must be able to say no.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_commit_that_is_lost_is_noticed() {
    let found = (0..3).any(|seed| story::tell_with_a_loss(seed).is_err());
    assert!(found, "a commit that was lost went unnoticed");
}
