//! Progress on the screen, and what is said beside it.

use offshoot_tests::product::Place;
use rustix::process::Signal;

use crate::console::{Console, place};

/// Who has read it once does not find it between the lines afterwards.
#[test]
fn progress_leaves_nothing_behind() {
    let place = Place::new();
    place.write("README.md", "# Demo\n");
    let mut console = Console::run(&place, &["init", "-c", "ui.progress=always"]);
    assert_eq!(console.end().code(), Some(0), "{}", console.screen());
    assert!(console.screen().contains("found "), "{:?}", console.screen());
    let text = console.text();
    assert!(text.starts_with("vault project holds "), "{text:?}");
    assert_eq!(text.lines().count(), 1, "{text:?}");
}

/// The last words stand in its place.
#[test]
fn an_interruption_takes_progress_away() {
    let place = place();
    place.ok_with(["fs", "write", "/new.txt", "-w", "fix"], b"new\n");
    let vault = std::fs::canonicalize(place.home().join("names/project")).unwrap();
    let mut options = std::fs::File::options();
    let held = options.create(true).truncate(false).write(true).open(vault.join("apply")).unwrap();
    held.lock().unwrap();
    let wait = ["commit", "-w", "fix", "-c", "ui.progress=always", "-c", "store.busy_timeout=10m"];
    let mut console = Console::run(&place, &wait);
    console.wait_for("writing files to the folder");
    console.signal(Signal::INT);
    assert_eq!(console.end().code(), Some(130), "{}", console.screen());
    assert_eq!(console.text(), "error: interrupted; nothing was changed\n");
}
