//! Texts that are meant to be too much.

use std::thread;

use super::{check, first_reading, parse_text};
use crate::parse::{MAX_TEXT, parse_argv};

#[test]
fn nesting_is_bounded_and_so_is_the_stack() {
    let openers = [
        "(",
        "{ ",
        "$(",
        "`",
        "\"${x:-",
        "((",
        "$((",
        "if ",
        "a=(",
        "[[ (",
        "${a[",
        "<(",
        "case x in x) ",
        "f() ",
        "{a,",
        "!",
        "$[",
        "x <<E; (",
    ];
    let small_stack = thread::Builder::new().stack_size(512 << 10);
    let all = move || {
        for one in openers {
            for other in openers {
                for count in [40, 70, 3000] {
                    parse_text(format!("{one}{other}").repeat(count).as_bytes());
                }
            }
        }
    };
    small_stack.spawn(all).expect("a thread").join().expect("no overflow");
}

#[test]
fn too_deep_is_unclear() {
    for (open, close) in [("(", ")"), ("{ ", ";}"), ("a $(", ")"), ("\"${x:-", "}\"")] {
        let text = |count| format!("{}a{}", open.repeat(count), close.repeat(count));
        assert!(first_reading(text(20).as_bytes()).unclear.is_empty(), "{open}");
        assert!(!parse_text(text(70).as_bytes()).unclear.is_empty(), "{open}");
    }
}

#[test]
fn a_second_reading_objects_and_does_no_harm() {
    let objections = |text: &str| parse_text(text.as_bytes()).unclear.len();
    assert_eq!(objections("ls -la | head"), 0);
    assert_eq!(objections("for x in a; { b; }"), 1);
    for text in ["ls ~99999999999999999999", "ls 99999999999>f", &"case x in x) ".repeat(40)] {
        assert!(objections(text) > 0, "{text}");
    }
    let nested = format!("{}:{}", ": \"x$(".repeat(30), ")\"".repeat(30));
    assert_eq!(objections(&nested), 1);
}

#[test]
fn what_is_too_long_is_not_read_twice() {
    let text = |length: usize| "ab ".repeat(length.div_ceil(3))[..length].to_owned();
    let whys = |length| {
        let script = parse_text(text(length).as_bytes());
        script.unclear.into_iter().map(|unclear| unclear.why).collect::<Vec<_>>()
    };
    assert_eq!(whys(4096), Vec::<String>::new());
    assert_eq!(whys(4097), ["it is too long to be read twice"]);
}

/// The second parser looked for ever for the end of a here-document that begins in the last line.
#[test]
fn a_here_document_in_the_last_line_is_read() {
    for text in
        ["cat <<'' 'a\nb' ", "cat <<'' 'a\nb' \\\n", "cat <<'' 'a\nb' # c", "x $(cat <<'' 'a\nb' )"]
    {
        let script = parse_text(text.as_bytes());
        assert!(!script.commands.is_empty() || !script.unclear.is_empty(), "{text:?}");
    }
}

#[test]
fn bytes_that_are_no_text() {
    check(&"a ".repeat(MAX_TEXT), &["? the text is longer than 64 KiB"]);
    check("a\0b", &["? there is a NUL byte in the text"]);
    check("a \u{1}", &["a \u{1}", "? there is a control character in the text"]);
    let script = parse_text(b"a \xff");
    assert_eq!(super::lines(&script), ["a \u{fffd}", "? it is not UTF-8"]);
}

#[test]
fn arguments_need_no_shell() {
    let script = parse_argv(&["echo", "$(a)", "*", ""]);
    assert_eq!(super::lines(&script), ["echo $(a) * ''"]);
    assert_eq!(super::lines(&parse_argv(&[b"a\xff"])), ["a\u{fffd}", "? an argument is not UTF-8"]);
    assert_eq!(super::lines(&parse_argv::<&str>(&[])), Vec::<String>::new());
}
