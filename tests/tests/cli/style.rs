//! `--quiet` and colours.

use offshoot_tests::product::Place;

use crate::transcript::demo_vault;

fn printed(place: &Place, arguments: &[&str]) -> (String, String) {
    let output = place.run(arguments);
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr))
}

#[test]
fn quiet_keeps_data_and_drops_the_rest() {
    let place = demo_vault();
    // What was done is not said, nor which workspace was picked.
    for arguments in [
        &["fs", "mkdir", "/made", "-w", "fix", "-q"][..],
        &["checkpoint", "create", "here", "-w", "fix", "--quiet"],
        &["undo", "-w", "fix", "-q"],
        &["redo", "-w", "fix", "-q"],
        &["workspace", "create", "other", "-q"],
        &["workspace", "delete", "other", "-q"],
        &["init", "-q"],
        &["discard", "-w", "fix", "--keep", "-q"],
    ] {
        assert_eq!(printed(&place, arguments), (String::new(), String::new()), "{arguments:?}");
    }
    // What was asked for is there as ever.
    for arguments in [
        &["fs", "cat", "/README.md"][..],
        &["fs", "ls"],
        &["log"],
        &["op", "log"],
        &["status"],
        &["workspace", "list"],
        &["checkpoint", "list"],
        &["vault", "info"],
        &["config", "show"],
    ] {
        let (text, _) = printed(&place, arguments);
        let quiet: Vec<&str> = arguments.iter().copied().chain(["-q"]).collect();
        assert!(!text.is_empty(), "{arguments:?}");
        assert_eq!(printed(&place, &quiet), (text, String::new()), "{arguments:?}");
    }
}

#[test]
fn quiet_does_not_hide_errors() {
    let place = demo_vault();
    let output = place.run(["fs", "cat", "/nowhere", "-q"]);
    assert_eq!(output.status.code(), Some(3));
    assert!(String::from_utf8_lossy(&output.stderr).starts_with("error: "), "{output:?}");
}

const SHOWING: &[&[&str]] = &[
    &["fs", "ls"],
    &["log"],
    &["op", "log"],
    &["status"],
    &["diff"],
    &["diff", "--name-status"],
    &["workspace", "tree"],
];

#[test]
fn colours_are_shown_only_where_they_are_wanted() {
    let place = demo_vault();
    place.ok_with(["fs", "write", "/README.md", "-w", "fix"], b"other\n");
    for arguments in SHOWING {
        let plain = printed(&place, arguments);
        assert!(!plain.0.contains('\x1b') && !plain.1.contains('\x1b'), "{plain:?}");
        let always: Vec<&str> =
            arguments.iter().copied().chain(["-c", "ui.color=always"]).collect();
        let (coloured, _) = printed(&place, &always);
        assert!(coloured.contains('\x1b'), "{arguments:?}: {coloured}");
        assert_eq!(without_colours(&coloured), plain.0, "{arguments:?}");
        for (name, value) in [("NO_COLOR", "1"), ("OFFSHOOT_UI__COLOR", "never")] {
            let output = place.command(*arguments).env(name, value).output().unwrap();
            assert_eq!(String::from_utf8_lossy(&output.stdout), plain.0, "{arguments:?} {name}");
        }
    }
}

#[test]
fn what_the_user_says_outweighs_the_environment() {
    let place = demo_vault();
    let mut command = place.command(["fs", "ls", "-c", "ui.color=always"]);
    let output = command.env("NO_COLOR", "1").output().unwrap();
    assert!(output.stdout.contains(&0x1b), "{output:?}");
    let mut command = place.command(["fs", "ls", "-c", "ui.color=never"]);
    let output = command.env("CLICOLOR_FORCE", "1").output().unwrap();
    assert!(!output.stdout.contains(&0x1b), "{output:?}");
    // Documents for programs never have colours.
    let output = place.run(["fs", "ls", "--json", "-c", "ui.color=always"]);
    assert!(!output.stdout.contains(&0x1b), "{output:?}");
}

fn without_colours(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("\x1b[") {
        out.push_str(before);
        rest = after.split_once('m').map_or("", |(_, after)| after);
    }
    out + rest
}
