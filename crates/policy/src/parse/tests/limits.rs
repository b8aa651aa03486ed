//! Texts that are meant to be too much.

use std::thread;

use super::{check, parse_text};
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
        assert!(parse_text(text(20).as_bytes()).unclear.is_empty(), "{open}");
        assert!(!parse_text(text(70).as_bytes()).unclear.is_empty(), "{open}");
    }
}

/// A parser that keeps no count of its levels, or of what it reads again, does not live through these.
#[test]
fn numbers_and_levels_that_are_too_much_do_no_harm() {
    check("ls ~99999999999999999999", &["ls ‹~99999999999999999999›"]);
    assert!(!parse_text("case x in x) ".repeat(40).as_bytes()).unclear.is_empty());
    let nested = |count| format!("{}:{}", ": \"x$(".repeat(count), ")\"".repeat(count));
    assert_eq!(parse_text(nested(20).as_bytes()).commands.len(), 21);
    assert!(!parse_text(nested(40).as_bytes()).unclear.is_empty());
}

#[test]
fn what_has_no_command_where_one_has_to_be_is_unclear() {
    for text in
        ["if a; then fi", "if then a; fi", "while a; do done", "while do a; done", "{ }", "( )"]
    {
        let whys: Vec<String> =
            parse_text(text.as_bytes()).unclear.into_iter().map(|unclear| unclear.why).collect();
        assert_eq!(whys, ["there is no command where one has to be"], "{text}");
    }
    for text in ["a $( )", "case x in x) ;; esac", "", "# a"] {
        assert!(parse_text(text.as_bytes()).unclear.is_empty(), "{text}");
    }
}

#[test]
fn what_more_may_change_is_unclear() {
    check("!(a)", &["a apart", "? `!(` may begin a pattern"]);
    check("! (a)", &["a apart"]);
    check("a b\\", &["a b\\", "? it ends with a backslash"]);
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
