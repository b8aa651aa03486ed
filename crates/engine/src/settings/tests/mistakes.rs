//! What is wrong in a place is told, with what was meant.

use super::*;

#[test]
fn unknown_keys_are_named_with_what_was_meant() {
    let check = |fixture: Fixture, message: &str, hint: &str| {
        assert_eq!(fixture.failure(), (message.to_owned(), hint.to_owned()));
    };
    check(
        Fixture::new().file("user.toml", "\n[diff]\n  contxt = 3\n"),
        "user.toml:3:3: unknown key \"diff.contxt\"",
        "did you mean diff.context?",
    );
    check(
        Fixture::new().file("project/offshoot.toml", "[dif]\ncontext = 3\n"),
        "project/offshoot.toml:2:1: unknown key \"dif.context\"",
        "did you mean diff.context?",
    );
    check(
        Fixture::new().file("user.toml", "color = \"never\""),
        "user.toml:1:1: unknown key \"color\"",
        "did you mean ui.color?",
    );
    check(
        Fixture::new().env("OFFSHOOT_DIFF__CONTXT", "3"),
        "environment variable OFFSHOOT_DIFF__CONTXT: unknown key \"diff.contxt\"",
        "did you mean OFFSHOOT_DIFF__CONTEXT?",
    );
    check(
        Fixture::new().flag("import.thread=3"),
        "option -c: unknown key \"import.thread\"",
        "did you mean import.threads?",
    );
    let (_, hint) = Fixture::new().flag("zzz=1").failure();
    assert!(hint.starts_with("the keys are ui.color, ui.progress, "));
    let (message, _) = Fixture::new().file("user.toml", "[zzz]\n").failure();
    assert_eq!(message, "user.toml:1:2: unknown key \"zzz\"");
}

#[test]
fn bad_values_are_named_with_what_is_allowed() {
    let check = |fixture: Fixture, message: &str| assert_eq!(fixture.message(), message);
    check(
        Fixture::new().file("user.toml", "[diff]\ncontext = 1001"),
        "user.toml:2:1: diff.context cannot be 1001: expected a whole number from 0 to 1000",
    );
    check(
        Fixture::new().file("user.toml", "diff.context = \"3\""),
        "user.toml:1:6: diff.context cannot be \"3\": expected a whole number from 0 to 1000",
    );
    check(
        Fixture::new().file("user.toml", "diff.context.deeper = 1"),
        "user.toml:1:6: diff.context cannot be a TOML table: expected a whole number from 0 to 1000",
    );
    check(
        Fixture::new().file("user.toml", "diff = 3"),
        "user.toml:1:1: diff cannot be 3: expected a section, as in [diff]",
    );
    check(
        Fixture::new().env("OFFSHOOT_UI__COLOR", "sometimes"),
        "environment variable OFFSHOOT_UI__COLOR: ui.color cannot be \"sometimes\": \
         expected one of \"auto\", \"always\", \"never\"",
    );
    check(
        Fixture::new().env("OFFSHOOT_UI__COLOR", OsStr::from_bytes(b"al\xffways")),
        "environment variable OFFSHOOT_UI__COLOR: ui.color cannot be \"al\u{fffd}ways\": \
         expected one of \"auto\", \"always\", \"never\"",
    );
    check(
        Fixture::new().flag("store.busy_timeout=30"),
        "option -c: store.busy_timeout cannot be \"30\": \
         expected a duration with its unit such as \"90m\", from \"0s\" to \"24h\"",
    );
    check(
        Fixture::new().flag("diff.max_text_bytes=2GiB"),
        "option -c: diff.max_text_bytes cannot be \"2GiB\": \
         expected a number of bytes or a size such as \"16MiB\", at most \"1GiB\"",
    );
    check(
        Fixture::new().flag("diff.renames=maybe"),
        "option -c: diff.renames cannot be \"maybe\": expected true or false",
    );
}

#[test]
fn limits_hold_at_both_ends() {
    for (good, bad) in [
        ("diff.context=0", "diff.context=-1"),
        ("diff.context=1000", "diff.context=1001"),
        ("diff.rename_similarity=1", "diff.rename_similarity=0"),
        ("diff.rename_similarity=100", "diff.rename_similarity=101"),
        ("diff.max_text_bytes=0", "diff.max_text_bytes=-1"),
        ("diff.max_text_bytes=1073741824", "diff.max_text_bytes=1073741825"),
        ("workspace.ephemeral_ttl=1s", "workspace.ephemeral_ttl=999ms"),
        ("workspace.ephemeral_ttl=365d", "workspace.ephemeral_ttl=366d"),
        ("import.threads=256", "import.threads=257"),
        ("store.busy_timeout=24h", "store.busy_timeout=25h"),
    ] {
        Fixture::new().flag(good).load();
        let message = Fixture::new().flag(bad).message();
        assert!(message.contains("expected"), "{bad}: {message}");
    }
}

#[test]
fn a_mistake_is_reported_even_where_a_later_place_overrides_it() {
    let fixture = Fixture::new().file("user.toml", "diff.context = -1").flag("diff.context=3");
    assert!(fixture.message().starts_with("user.toml:1:6: diff.context"));
}

#[test]
fn what_is_not_toml_is_named_by_line_and_column() {
    let message = Fixture::new().file("user.toml", "[ui]\ncolor = \"\u{e4}\" oops\n").message();
    assert!(message.starts_with("user.toml:2:13: "), "{message}");
    let message = Fixture::new().file("user.toml", "[ui").message();
    assert!(message.starts_with("user.toml:1:"), "{message}");
    assert!(!message.contains('\n'));
    let message =
        Fixture::new().file("user.toml", "[ui]\ncolor = \"never\"\ncolor = \"auto\"").message();
    assert!(message.starts_with("user.toml:3:1: "), "{message}");
    let message = Fixture::new().file("user.toml", b"[ui]\n\xc3\xa4\xff").message();
    assert_eq!(message, "user.toml:2:2: not UTF-8");
}

#[test]
fn files_of_other_systems_are_read() {
    let fixture = Fixture::new().file("user.toml", "\u{feff}[diff]\r\ncontext = 7\r\n");
    assert_eq!(fixture.load().config.diff.context, 7);
}

#[test]
fn a_flag_needs_a_key_and_a_value() {
    let (message, hint) = Fixture::new().flag("diff.context").failure();
    assert_eq!(message, "option -c \"diff.context\": not of the form KEY=VALUE");
    assert_eq!(hint, "write it as in diff.context=5");
    assert!(Fixture::new().flag("=3").message().contains("unknown key"));
    assert!(Fixture::new().flag("ui.color=").message().contains("cannot be \"\""));
}
