//! Parts of tests that run in processes of their own.

use offshoot_tests::child::role;

use crate::{cuts, problems};

/// Does nothing unless another test started this program for it.
#[test]
fn child() {
    let Some((role, place)) = role() else { return };
    match role.as_str() {
        "apply" => problems::as_ordinary_user(&place),
        "apply once" => cuts::apply_once(&place),
        "apply and take back" => cuts::apply_and_take_back(&place),
        "apply on two" => cuts::on_another_file_system(&place),
        other => panic!("there is no role {other}"),
    }
}
