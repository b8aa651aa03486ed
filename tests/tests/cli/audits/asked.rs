//! What is asked of the log and of the timeline: what matches nothing, what is removed, and what was decided.

use super::*;

/// The lines that are told beside the answer.
fn told(place: &Place, arguments: &[&str]) -> String {
    let output = place.run(arguments);
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stderr).unwrap()
}

#[needs(UserNamespace)]
#[test]
fn what_matches_nothing_is_told() {
    let place = demo_vault();
    let nobody = ["audit", "log", "--user", "nobody at all", "--kind", "fs mv"];
    assert_eq!(told(&place, &nobody), "no event matches --kind fs mv, --user nobody at all\n");
    let json = place.run(with_json(&nobody));
    assert!(json.stdout.is_empty() && !json.stderr.is_empty(), "{json:?}");
    assert_eq!(told(&place, &[&nobody[..], &["--quiet"]].concat()), "");
    assert_eq!(told(&place, &["audit", "log"]), "");
    // A kind that there is not is a slip.
    let wrong = place.json_error(&["audit", "log", "--kind", "fs mov"], 2);
    assert!(wrong.to_string().contains("fs mv"), "{wrong}");
    let help = place.ok(["audit", "log", "--help"]);
    assert!(help.contains("exec_started") && help.contains("workspace expire"), "{help}");
}

/// A file is named as other commands name it: in the workspace, from where somebody stands, or on the host.
#[needs(UserNamespace)]
#[test]
fn a_file_is_found_by_each_of_its_names() {
    let place = demo_vault();
    place.ok(["exec", "-w", "fix", "--", "sh", "-c", "mkdir d; echo a > d/a"]);
    let host = place.project().join("d/a");
    let names = ["/d/a", "d/a", "./d", host.to_str().unwrap()];
    for name in names {
        assert_eq!(kinds(&log(&place, &["--path", name])), ["exec"], "{name}");
    }
    let below = place.project().join("src");
    let mut command = place.command(["audit", "log", "--json", "--path", "../d"]);
    let output = command.current_dir(below).output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap().lines().count(), 1);
}

#[needs(UserNamespace)]
#[test]
fn a_timeline_says_what_was_removed() {
    let place = busy();
    let whole = place.json(&["timeline", "--all"]);
    assert_eq!(whole["pruned"], Value::Null);
    let removed = place.json(&["audit", "prune", "--before", "0s", "--yes"])["events"].clone();
    for arguments in [&["timeline", "-w", "fix"][..], &["timeline", "--all"]] {
        let story = place.json(arguments);
        assert_eq!(story["pruned"]["seq"], removed, "{story:#}");
        assert!(story["pruned"]["time"].is_string(), "{story:#}");
        let said = place.ok(arguments);
        let expected = format!("earlier events, up to #{removed}, were removed on ");
        assert!(said.starts_with(&expected), "{said}");
    }
    assert!(told(&place, &["audit", "log"]).contains("were removed on "));
}

/// What holds for one command alone is no other setting.
#[needs(UserNamespace)]
#[test]
fn limits_of_one_command_are_no_settings() {
    let place = demo_vault();
    let run = |options: &[&str]| {
        place.ok([&["exec", "-w", "fix"], options, &["--", "true"]].concat());
        log(&place, &["--kind", "settings_changed", "-n", "1000"]).len()
    };
    let before = run(&[]);
    for options in [
        &["--memory", "512MiB"][..],
        &["--timeout", "9s"],
        &["--processes", "99", "--cpu", "60s"],
        &["-c", "exec.max_memory=1GiB"],
    ] {
        assert_eq!(run(options), before, "{options:?}");
    }
    assert_eq!(run(&[]), before);
    place.ok(["config", "set", "exec.max_memory", "1GiB"]);
    assert_eq!(run(&["--memory", "512MiB"]), before + 1);
    let event = log(&place, &["--kind", "settings_changed"]).pop().unwrap();
    assert!(event["details"]["after"].to_string().contains("exec.max_memory"), "{event:#}");
}
