//! What a model wrote, where people read it.

use super::*;

const STEERS: &str = r#"version = 1
[[turn]]
say = [
  { text = "I \u001b[31mlook\u0007 at \u202eit.\n" },
  { call = "\u001b[32mgreen\u0007", id = "a", arguments = { path = "\u001b]0;x\u0007\u202e\u0000" } },
  { call = "ask_user", id = "b", arguments = { question = "Is it \u001b[31mred\u202e?" } },
]
[[turn]]
say = [{ text = "Done." }]
"#;

/// Nothing of it steers a terminal to which a pipe or a file is shown later.
#[needs(UserNamespace)]
#[test]
fn what_a_model_wrote_steers_no_terminal() {
    let place = place(STEERS);
    let page = place.path().join("page.md");
    let page_name = page.to_str().unwrap();
    let output = place.run([&RUN[..], &["-w", "fix", "--name", "shown", "go"]].concat());
    assert_eq!(output.status.code(), Some(123), "{output:?}");
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert!(out.contains("I ^[[31mlook^G at <202e>it.\n"), "{out:?}");
    assert!(out.contains("Is it ^[[31mred<202e>?"), "{out:?}");
    assert!(err.contains("> ^[[32mgreen^G "), "{err:?}");
    let markdown = place.ok(["sessions", "export", "shown", "--markdown"]);
    assert!(markdown.contains("Calls `^[[32mgreen^G`:"), "{markdown:?}");
    place.ok(["sessions", "export", "shown", "--markdown", page_name]);
    let shown = place.ok(["sessions", "show", "shown"]);
    for text in [out, err, markdown, std::fs::read_to_string(page).unwrap(), shown] {
        let steers = |c: char| (c.is_control() && c != '\n' && c != '\t') || c == '\u{202e}';
        assert!(!text.contains(steers), "{text:?}");
    }
}
