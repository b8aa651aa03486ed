//! A vault tidies itself: nobody calls `gc`, and it stays small and quick.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use offshoot_needs::needs;
use offshoot_tests::product::{Place, document_of, in_background};
use offshoot_tests::tier::Tier;
use serde_json::Value;

use crate::background::eventually;
use crate::transcript::demo_vault;

/// How many operations are taken back at the end.
const UNDONE: u64 = 10;

/// Runs a text in the workspace `fix`, with these settings.
fn shell(place: &Place, settings: &[String], text: &str) -> Value {
    let mut command = place.command(["exec", "-w", "fix", "--json"]);
    command.args(settings.iter().flat_map(|setting| ["-c", setting]));
    let document = document_of(&command.args(["--shell", text]).output().unwrap());
    assert_eq!(document["success"], true, "{document:#}");
    assert_eq!(document["result"]["driver"], "overlay", "{document:#}");
    document["result"].clone()
}

fn wait_for_background(place: &Place) {
    eventually("the background is quiet", || in_background(&place.home()).is_empty());
}

fn vault_dir(place: &Place) -> PathBuf {
    let mut vaults = fs::read_dir(place.home().join("vaults")).unwrap();
    vaults.next().unwrap().unwrap().path()
}

fn layers(place: &Place) -> usize {
    fs::read_dir(vault_dir(place).join("layers")).unwrap().count()
}

fn median(times: &[Duration]) -> Duration {
    let mut times = times.to_vec();
    times.sort_unstable();
    times[times.len() / 2]
}

#[needs(Overlay, UserNamespace)]
#[test]
fn many_commands_leave_few_layers_and_little_space() {
    let place = demo_vault();
    // Long with what users have by default, quick with less of everything.
    let tier = Tier::from_env();
    let commands = tier.pick(60, 2000);
    let (depth, operations) = tier.pick((4, 12), (16, 100));
    let settings = [
        "compact.auto=true".to_owned(),
        format!("compact.depth={depth}"),
        "gc.auto=true".to_owned(),
        format!("gc.auto_operations={operations}"),
    ];
    let mut times = Vec::new();
    for step in 0..commands {
        let text = format!("echo {step} >> log; echo {step} > file-{}", step % 20);
        let started = Instant::now();
        shell(&place, &settings, &text);
        times.push(started.elapsed());
    }
    wait_for_background(&place);
    shell(&place, &settings, "true");
    wait_for_background(&place);

    let part = commands.min(100);
    let (first, last) = (&times[..part as usize], &times[times.len() - part as usize..]);
    let info = place.json(&["-c", "gc.auto=true", "vault", "info", "--exact"]);
    println!(
        "{commands} commands: {} layers, {} bytes in blocks, {:?} each at first, {:?} at last",
        layers(&place),
        info["disk_bytes"],
        median(first),
        median(last)
    );
    // What is shown, what one step back is shown with, and what came since the last collection.
    let since = info["collection"]["layers_since"].as_u64().unwrap();
    let bound = 2 * depth + since + 8;
    assert!(layers(&place) as u64 <= bound, "{} of {bound}: {info:#}", layers(&place));
    assert!(since < commands / 2, "{info:#}");
    let collection = &info["collection"];
    assert!(collection["last_ms"].as_u64().is_some(), "{info:#}");
    assert!(collection["freed_bytes"].as_u64().unwrap() > 0, "{info:#}");
    assert!(info["disk_bytes"].as_u64().unwrap() < 100 << 20, "{info:#}");

    // Everything that the settings promise can be taken back, exactly.
    for _ in 0..=UNDONE {
        place.ok(["undo", "-q", "-w", "fix"]);
    }
    let lines = |count: u64| (0..count).map(|line| format!("{line}\n")).collect::<String>();
    let left = commands - UNDONE - 1;
    assert_eq!(place.ok(["fs", "cat", "/log", "-w", "fix"]), lines(left));
    let seen = shell(&place, &[], &format!("cat log file-{}", (left - 1) % 20));
    assert_eq!(seen["stdout"], format!("{}{}\n", lines(left), left - 1));
    place.ok(["vault", "check"]);
}

#[needs(Overlay, UserNamespace)]
#[test]
fn settings_say_whether_and_when() {
    let place = demo_vault();
    let run = |settings: &[&str], text: &str| {
        let settings: Vec<String> = settings.iter().map(|text| (*text).to_owned()).collect();
        shell(&place, &settings, text);
        wait_for_background(&place);
        place.json(&["vault", "info"])["collection"]["last_ms"].as_u64()
    };
    assert_eq!(run(&["gc.auto=false", "gc.auto_operations=1"], "echo 1 > one"), None);
    assert_eq!(run(&["gc.auto=true", "gc.auto_operations=1000"], "echo 2 > one"), None);
    let first = run(&["gc.auto=true", "gc.auto_operations=2"], "echo 3 > one");
    assert!(first.is_some());
    let large = "head -c 300000 /dev/urandom > large";
    assert_eq!(run(&["gc.auto=true", "gc.auto_size=1MiB"], large), first);
    assert!(run(&["gc.auto=true", "gc.auto_size=400KiB"], large) > first);
}

/// A process in the background does not bring back what somebody removed under it.
#[needs(Overlay, UserNamespace)]
#[test]
fn a_vault_that_is_gone_stays_gone() {
    for _ in 0..3 {
        let place = demo_vault();
        let settings = ["gc.auto=true".to_owned(), "gc.auto_operations=1".to_owned()];
        shell(&place, &settings, "echo 1 > one");
        // It may still make files meanwhile.
        eventually("a vault that is removed", || fs::remove_dir_all(vault_dir(&place)).is_ok());
        wait_for_background(&place);
        assert_eq!(fs::read_dir(place.home().join("vaults")).unwrap().count(), 0);
    }
}
