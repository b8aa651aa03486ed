//! Tests that cannot run here are shown as ignored, with the reason.

use std::process::Command;

use offshoot_machine::{Feature, probe};
use offshoot_needs::needs;

/// A test for each feature, which says whether what was found when the tests were built is true of who runs them.
macro_rules! features {
    ($($name:ident: $feature:ident,)*) => {
        const FEATURES: &[(&str, Feature)] = &[$((stringify!($name), Feature::$feature)),*];

        mod as_built {
            use super::*;

            $(
                #[needs($feature)]
                #[test]
                fn $name() {
                    let now = probe(Feature::$feature);
                    assert_eq!(now, Ok(()), "the tests were built where this could be done; \
                               to have it looked for again: touch tests/needs/build.rs");
                }
            )*
        }
    };
}

features! {
    root: Root,
    loop_mount: LoopMount,
    ptrace: Ptrace,
    overlay: Overlay,
    data_layers: DataLayers,
    user_xattr: UserXattr,
    user_namespace: UserNamespace,
    io_uring: IoUring,
    calls_32: Calls32,
}

#[test]
fn what_cannot_be_done_is_shown_as_ignored() {
    let mut command = Command::new(std::env::current_exe().unwrap());
    let output = command.arg("skips::as_built::").output().unwrap();
    let shown = String::from_utf8(output.stdout).unwrap();
    for (name, feature) in FEATURES {
        let outcome =
            probe(*feature).map_or_else(|why| format!("ignored, {why}"), |()| "ok".into());
        let line = format!("test skips::as_built::{name} ... {outcome}");
        assert!(shown.lines().any(|shown| shown == line), "{line} is not in:\n{shown}");
    }
}
