//! Writing and recognising markers.

use super::*;

fn text(base: &str, sides: &[(&str, &str)]) -> String {
    let sides: Vec<(&str, &[u8])> =
        sides.iter().map(|(label, text)| (*label, text.as_bytes())).collect();
    String::from_utf8(markers(base.as_bytes(), "base", &sides)).unwrap()
}

#[test]
fn two_sides_look_like_diff3() {
    let found = text("1\n2\n3\n", &[("ours", "1\na\n3\n"), ("theirs", "1\nb\n3\n")]);
    let expected = "1\n<<<<<<< ours\na\n||||||| base\n2\n=======\nb\n>>>>>>> theirs\n3\n";
    assert_eq!(found, expected);
    assert!(has_markers(found.as_bytes()));
    assert!(has_markers_of(found.as_bytes(), 7));
}

#[test]
fn more_sides_have_a_label_each() {
    let base = "1\n2\n3\n";
    let sides = [("a", "1\na\n3\n"), ("b", "1\nb\n3\n"), ("c", "1\nc\n3\n")];
    let expected = "1\n<<<<<<< a\na\n||||||| base\n2\n======= b\nb\n=======\nc\n>>>>>>> c\n3\n";
    assert_eq!(text(base, &sides), expected);
    // Who agrees is shown once, who changed nothing is not shown.
    let sides = [("a", "1\nx\n3\n"), ("b", base), ("c", "1\ny\n3\n"), ("d", "1\nx\n3\n")];
    let expected = "1\n<<<<<<< a, d\nx\n||||||| base\n2\n=======\ny\n>>>>>>> c\n3\n";
    assert_eq!(text(base, &sides), expected);
}

#[test]
fn markers_are_longer_than_what_looks_like_one() {
    let base = "title\n==========\n2\n";
    let found =
        text(base, &[("ours", "title\n==========\na\n"), ("theirs", "title\n==========\nb\n")]);
    assert!(found.contains("\n<<<<<<<<<<< ours\na\n"), "{found}");
    assert!(has_markers_of(found.as_bytes(), 11));
    assert!(!has_markers_of(base.as_bytes(), 11));
    assert!(!has_markers(base.as_bytes()));
}

#[test]
fn nested_markers_are_told_apart() {
    let inner = text("2\n", &[("x", "a\n"), ("y", "b\n")]);
    let found = text(&inner, &[("ours", "p\n"), ("theirs", "q\n")]);
    assert!(found.starts_with("<<<<<<<< ours\np\n|||||||| base\n<<<<<<< x\na\n"), "{found}");
    assert!(has_markers_of(found.as_bytes(), 8) && has_markers_of(found.as_bytes(), 7));
}

#[test]
fn a_missing_last_newline_does_not_hide_a_marker() {
    let found = text("1", &[("ours", "a"), ("theirs", "b")]);
    assert_eq!(found, "<<<<<<< ours\na\n||||||| base\n1\n=======\nb\n>>>>>>> theirs\n");
}

#[test]
fn markers_end_as_the_lines_do() {
    let found = text("1\r\n", &[("ours", "a\r\n"), ("theirs", "b\r\n")]);
    let expected = "<<<<<<< ours\r\na\r\n||||||| base\r\n1\r\n=======\r\nb\r\n>>>>>>> theirs\r\n";
    assert_eq!(found, expected);
    assert!(has_markers(found.as_bytes()));
}

#[test]
fn a_label_stays_on_its_line() {
    let found = text("1\n", &[("two\nlines", "a\n"), ("theirs", "b\n")]);
    assert!(found.starts_with("<<<<<<< two lines\na\n"), "{found}");
}

#[test]
fn what_is_left_of_markers_is_found() {
    for left in ["a\n>>>>>>> theirs\n", "=======\n", "<<<<<<< x", "|||||||\r\n"] {
        assert!(has_markers_of(left.as_bytes(), 7), "{left:?}");
    }
    for none in ["", "a <<<<<<< b\n", "<<<<<<<<\n", "<<<<<<<x\n", "======\n", "->>>>>>>\n"] {
        assert!(!has_markers_of(none.as_bytes(), 7), "{none:?}");
        assert!(!has_markers(none.as_bytes()), "{none:?}");
    }
    assert!(!has_markers(b"<<<<<<< a\n=======\n>>>>>>>> b\n"), "of different lengths");
}
