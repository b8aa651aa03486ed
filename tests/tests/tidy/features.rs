//! The program that tests drive is the one that users build. Cargo adds up the features that the selected packages want of
//! another: what only tests want of a package would change the program in tests, and have it compiled once more.

use std::collections::BTreeSet;
use std::process::Command;

use crate::listing::repository_root;

/// Between a package and its features in what cargo lists.
const WITH: &str = " with ";

/// Features that change nothing in the program: a list of others, which are there by their own names; more traits of types that
/// the program does not use so, those of `libc` for the tracer of the tests and those of `arrayvec` for the parser that they
/// compare with; and what that parser's macros want of `syn`, of which nothing is in the program.
const WITHOUT_EFFECT: [(&str, &str); 8] = [
    (ANY, "default"),
    ("libc", "extra_traits"),
    ("arrayvec", "std"),
    ("syn", "derive"),
    ("syn", "extra-traits"),
    ("syn", "visit"),
    ("syn", "visit-mut"),
    // Does nothing until a benchmark asks for it.
    ("offshoot-vault", "measured"),
];

/// Stands for every package.
const ANY: &str = "*";

/// The packages of the program and their features, as `cargo run` selects them.
pub(crate) fn of_users() -> String {
    tree(&["--package", "offshoot-cli", "--edges", "normal"])
}

/// All packages and their features, as `cargo test --workspace` selects them.
pub(crate) fn of_tests() -> String {
    tree(&["--workspace", "--edges", "normal,dev"])
}

fn tree(selection: &[&str]) -> String {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| env!("CARGO").into());
    let output = Command::new(cargo)
        .args(["tree", "--prefix", "none", "--format", &format!("{{p}}{WITH}{{f}}")])
        .args(selection)
        .current_dir(repository_root())
        .output()
        .expect("these rules need cargo");
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "cargo cannot list the packages: {complaint}");
    String::from_utf8(output.stdout).expect("packages have readable names")
}

/// Fails on a package of the program that has other features in tests.
pub(crate) fn check(users: &str, tests: &str) -> Vec<String> {
    let in_tests = packages(tests);
    let differ = packages(users).into_iter().filter(|package| !in_tests.contains(package));
    differ
        .map(|(package, features)| {
            let features = features.join(",");
            format!("{package} has the features \"{features}\" for users, and others in tests")
        })
        .collect()
}

/// Each package with its features, which may be several times with different ones: macros have their own.
fn packages(tree: &str) -> BTreeSet<(&str, Vec<&str>)> {
    let lines = tree.lines().filter_map(|line| line.trim_end_matches(" (*)").split_once(WITH));
    lines
        .map(|(package, features)| {
            let name = package.split(' ').next().unwrap_or_default();
            let matters = |feature: &&str| {
                let is_without = |of| WITHOUT_EFFECT.contains(&(of, *feature));
                !feature.is_empty() && !is_without(ANY) && !is_without(name)
            };
            (package, features.split(',').filter(matters).collect())
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_features_in_tests_are_found() {
        let users = "cli v1 with \na v1 with std\nb v2 with \nb v2 with  (*)\n";
        assert_eq!(check(users, &format!("{users}c v1 with x\n")), [""; 0]);
        let tests = "cli v1 with \na v1 with std,unicode\nb v2 with \n";
        let problem = "a v1 has the features \"std\" for users, and others in tests";
        assert_eq!(check(users, tests), [problem]);
    }

    #[test]
    fn a_macro_may_have_its_own() {
        let users = "a v1 with std\na v1 with std,host\n";
        assert_eq!(check(users, "a v1 with std\na v1 with std,host (*)\n"), [""; 0]);
        assert_eq!(check(users, "a v1 with std,host\n").len(), 1);
    }

    #[test]
    fn a_list_of_features_is_none_itself() {
        assert_eq!(check("a v1 with std\n", "a v1 with default,std\n"), [""; 0]);
        assert_eq!(check("a v1 with default\n", "a v1 with default,std\n").len(), 1);
    }

    #[test]
    fn one_without_effect_is_so_for_its_package_alone() {
        assert_eq!(check("arrayvec v1 with \n", "arrayvec v1 with default,std\n"), [""; 0]);
        assert_eq!(check("a v1 with \n", "a v1 with std\n").len(), 1);
    }
}
