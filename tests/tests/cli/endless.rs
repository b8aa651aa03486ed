//! Commands that write without measure: time and disk end them, and nothing of what they wrote is lost.

use std::time::{Duration, Instant};

use offshoot_needs::needs;
use offshoot_tests::product::{Place, document_of};
use offshoot_tests::user::{User, give_away};
use serde_json::Value;

use crate::transcript::demo_vault;

/// Runs the binary as somebody.
type Run<'a> = &'a dyn Fn(&[&str]) -> std::process::Output;

fn envelope(run: Run<'_>, arguments: &[&str]) -> (Value, Option<i32>) {
    let output = run(arguments);
    (document_of(&output)["result"].clone(), output.status.code())
}

/// A file that is a terabyte long and has no data: reading it would take longer than anybody waits.
fn sealing_ends_in_time(place: &Place, run: Run<'_>) {
    let started = Instant::now();
    let arguments = ["exec", "-w", "fix", "--timeout", "1s", "--json", "--"];
    let huge = [&arguments[..], &["truncate", "-s", "1T", "huge"]].concat();
    let (result, code) = envelope(run, &huge);
    assert!(started.elapsed() < Duration::from_secs(60), "{:?}", started.elapsed());
    assert_eq!(code, Some(124), "{result}");
    assert_eq!(result["timed_out"], true, "{result}");
    assert_eq!((&result["failed_in"], &result["recoverable"]), (&"sealing".into(), &true.into()));
    assert!(result["error"]["message"].as_str().unwrap().contains("the time was over"), "{result}");
    assert_eq!(result["exit_code"], 0, "the command itself was done");
    // It is there to be kept or dropped, and the workspace is what it was.
    let left = document_of(&run(&["recover", "list", "--json"]))["result"].clone();
    assert_eq!(left["recoverable"].as_array().map(Vec::len), Some(1), "{left}");
    assert_eq!(run(&["fs", "stat", "/huge", "-w", "fix"]).status.code(), Some(3));
    let exec = result["exec"].as_str().unwrap();
    assert!(run(&["recover", "drop", exec]).status.success());
    assert!(run(&["exec", "-w", "fix", "--", "true"]).status.success());
    drop(place.json(&["vault", "check"]));
}

/// Directories in directories, more than any project has: looking at them would take all memory there is.
fn depth_is_limited(run: Run<'_>) {
    let deep = "import os\nfor i in range(3000):\n    os.mkdir('d')\n    os.chdir('d')";
    let started = Instant::now();
    let (result, code) =
        envelope(run, &["exec", "-w", "fix", "--json", "--", "python3", "-c", deep]);
    assert!(started.elapsed() < Duration::from_secs(30), "{:?}", started.elapsed());
    assert_eq!(code, Some(125), "{result}");
    assert!(
        result["error"]["message"].as_str().unwrap().contains("512 directories deep"),
        "{result}"
    );
    assert_eq!(result["recoverable"], true, "{result}");
    assert!(run(&["recover", "drop", result["exec"].as_str().unwrap()]).status.success());
    let fine = deep.replace("3000", "500");
    let (result, code) =
        envelope(run, &["exec", "-w", "fix", "--json", "--", "python3", "-c", &fine]);
    assert_eq!(code, Some(0), "{result}");
}

/// Writes more than it may, and would go on.
fn disk_is_limited(run: Run<'_>) {
    let started = Instant::now();
    let limited = ["exec", "-w", "fix", "-c", "exec.max_disk=4MiB", "--json", "--shell"];
    let endless = "trap '' TERM; head -c 64M /dev/zero > big; while :; do sleep 1; done";
    let (result, code) = envelope(run, &[&limited[..], &[endless]].concat());
    assert!(started.elapsed() < Duration::from_secs(30), "{:?}", started.elapsed());
    assert_eq!(code, Some(125), "{result}");
    assert_eq!(result["limit_reached"], "disk", "{result}");
    assert_eq!((&result["interrupted"], &result["recoverable"]), (&false.into(), &true.into()));
    assert!(result["error"]["message"].as_str().unwrap().contains("exec.max_disk"), "{result}");
    assert_eq!(run(&["fs", "stat", "/big", "-w", "fix"]).status.code(), Some(3));
    assert!(run(&["recover", "drop", result["exec"].as_str().unwrap()]).status.success());
    // Whoever is faster than the watch is found out in the end.
    let fast = "head -c 8M /dev/zero > big";
    let (result, _) = envelope(run, &[&limited[..], &[fast]].concat());
    assert_eq!(result["limit_reached"], "disk", "{result}");
    assert!(run(&["recover", "drop", result["exec"].as_str().unwrap()]).status.success());
    // What stays within it is kept, however long a hole is, and so is all without a limit.
    let (result, code) = envelope(run, &[&limited[..], &["truncate -s 1G hole"]].concat());
    assert_eq!((code, &result["limit_reached"]), (Some(0), &Value::Null), "{result}");
    let free = ["exec", "-w", "fix", "--json", "--shell", fast];
    let (result, code) = envelope(run, &free);
    assert_eq!((code, &result["limit_reached"]), (Some(0), &Value::Null), "{result}");
    assert!(run(&["fs", "stat", "/big", "-w", "fix"]).status.success());
}

#[needs(Overlay, UserNamespace)]
#[test]
fn time_and_disk_end_what_has_no_end() {
    let place = demo_vault();
    sealing_ends_in_time(&place, &|arguments| place.run(arguments));
    disk_is_limited(&|arguments| place.run(arguments));
    depth_is_limited(&|arguments| place.run(arguments));
}

#[needs(Root, Overlay, UserNamespace)]
#[test]
fn time_and_disk_end_what_has_no_end_for_an_ordinary_user() {
    let (place, user) = (demo_vault(), User::new());
    give_away(place.path());
    disk_is_limited(&|arguments| user.run(&place, arguments));
}
