//! Parts of tests that run as another user, in another namespace or many times at once: this very program, started again.

use offshoot_tests::child::role;
pub(crate) use offshoot_tests::child::{assert_passed, command, run_as_ordinary_user};

use crate::{closed, compaction, crowd, depth, placed, read_only, round_trip, stacks};

/// Does nothing unless another test started this program for it.
#[test]
fn child() {
    let Some((role, place)) = role() else { return };
    match role.as_str() {
        "ordinary user" => round_trip::as_ordinary_user(&place),
        "read only" => read_only::as_ordinary_user(&place),
        "usual limits" => depth::in_usual_limits(&place),
        "stacks" => stacks::as_ordinary_user(&place),
        "look at mounts" => stacks::look_at_mounts(&place),
        "merged stacks" => compaction::as_ordinary_user(&place),
        "closed files" => closed::as_ordinary_user(&place),
        "write closed files" => closed::write(&place),
        "remove closed directories" => closed::removed_as_ordinary_user(&place),
        "placed links" => placed::as_ordinary_user(&place),
        "write" => crowd::write(&place),
        other => panic!("there is no role {other}"),
    }
}
