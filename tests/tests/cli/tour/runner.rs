//! Runs the commands of a document.

use std::fs;
use std::process::{Command, Stdio};

use offshoot_tests::document::{self, Step};
use offshoot_tests::product::{Place, binary};

/// Printed after each command, with its exit code.
const MARK: &str = "=== end of a step ===";

/// What the document says that is not so.
pub(super) fn problems(steps: &[Step]) -> Vec<String> {
    let place = Place::new();
    let printed = run(&place, steps);
    document::problems(&place, steps, &printed)
}

/// Runs all steps in one shell; gives what each printed and its exit code.
fn run(place: &Place, steps: &[Step]) -> Vec<(String, i32)> {
    let script = place.path().join("script");
    let end = format!("code=$?; echo; echo '{MARK}' $code");
    let commands = steps.iter().map(|step| format!("{}\n{end}\n", step.command));
    fs::write(&script, commands.collect::<String>()).expect("the script can be written");
    let folder = binary().parent().expect("the binary lies in a folder");
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::iter::once(folder.to_owned()).chain(std::env::split_paths(&path));
    let path = std::env::join_paths(folders).expect("folders without colons");
    let mut shell = Command::new("sh");
    shell.args(["-c", "exec 2>&1; . \"$0\""]).arg(&script);
    shell.env_clear().envs(place.environment()).env("PATH", path);
    shell.current_dir(place.project()).stdin(Stdio::null());
    let output = shell.output().expect("the shell runs");
    parse(&String::from_utf8_lossy(&output.stdout))
}

fn parse(text: &str) -> Vec<(String, i32)> {
    let mut steps = Vec::new();
    let mut rest = text;
    while let Some((output, after)) = rest.split_once(&format!("\n{MARK} ")) {
        let (code, after) = after.split_once('\n').unwrap_or((after, ""));
        steps.push((output.to_owned(), code.parse().unwrap_or(-1)));
        rest = after;
    }
    steps
}
