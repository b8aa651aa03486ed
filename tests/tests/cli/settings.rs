//! Settings do what they say: each of these fails where its setting is ignored.

use offshoot_tests::product::Place;

use crate::transcript::demo;

/// A vault with a workspace `w` in which a text was moved and changed by about a third.
fn moved() -> Place {
    let place = demo();
    let lines: Vec<String> = (0..30).map(|n| format!("line {n} of the text\n")).collect();
    place.write("text.txt", lines.concat());
    place.ok(["init"]);
    place.ok(["workspace", "create", "w"]);
    place.ok(["fs", "mv", "/text.txt", "/moved.txt", "-w", "w"]);
    let changed: String = lines[..20].concat() + &"something else entirely\n".repeat(10);
    place.ok_with(["fs", "write", "/moved.txt", "-w", "w"], changed.as_bytes());
    place
}

fn kinds(place: &Place, setting: &str) -> String {
    let changes = place.json(&["-c", setting, "diff", "-w", "w"])["changes"].clone();
    let kinds = changes.as_array().unwrap().iter().map(|c| c["kind"].as_str().unwrap().to_owned());
    kinds.collect::<Vec<_>>().join(" ")
}

#[test]
fn how_alike_a_moved_file_must_be() {
    let place = moved();
    assert_eq!(kinds(&place, "diff.rename_similarity=40"), "renamed");
    assert_eq!(kinds(&place, "diff.rename_similarity=95"), "added deleted");
}

#[test]
fn how_long_a_text_may_be() {
    let place = moved();
    let patch = |limit: &str| place.ok(["-c", limit, "diff", "-w", "w"]);
    assert!(patch("diff.max_text_bytes=1MiB").contains("+something else"));
    let short = patch("diff.max_text_bytes=100");
    assert!(short.contains("GIT binary patch") && !short.contains("+something else"), "{short}");
}

#[test]
fn how_long_an_ephemeral_workspace_lives() {
    let place = demo();
    place.ok(["init"]);
    let expires = |setting: &str, name: &str| {
        let made = place.json(&["-c", setting, "workspace", "create", name, "--ephemeral"]);
        made["workspace"]["expires"].as_str().unwrap().to_owned()
    };
    let day = expires("workspace.ephemeral_ttl=24h", "day");
    let year = expires("workspace.ephemeral_ttl=365d", "year");
    assert!(day < year, "{day} {year}");
    place.ok(["-c", "workspace.ephemeral_ttl=1s", "workspace", "create", "second", "--ephemeral"]);
    std::thread::sleep(std::time::Duration::from_millis(1200));
    place.ok(["workspace", "create", "next"]);
    let listed = place.ok(["workspace", "list"]);
    assert!(!listed.contains("second") && listed.contains("day"), "{listed}");
}
