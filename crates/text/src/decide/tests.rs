//! Deciding texts with markers for one side.

use super::*;
use crate::markers::{marker_length, markers};

const BASE: &str = "one\ntwo\nthree\nfour\nfive\n";
const ADA: &str = "ONE\nzwei\nthree\nfour\nfive\n";
const FOLDER: &str = "one\ndeux\nthree\nfour\nFIVE\n";

fn marked(base: &str, sides: &[(&str, &str)]) -> String {
    let sides: Vec<(&str, &[u8])> =
        sides.iter().map(|(label, text)| (*label, text.as_bytes())).collect();
    String::from_utf8(markers(base.as_bytes(), "base", &sides)).unwrap()
}

fn pick(text: &str, label: Option<&str>, version: &str) -> Option<String> {
    let pick = Pick { label, version: version.as_bytes() };
    pick.apply(text.as_bytes(), &[7]).map(|text| String::from_utf8(text).unwrap())
}

#[test]
fn only_what_does_not_fit_is_decided() {
    let base = "zero\none\ntwo\nthree\nfour\nfive\n";
    let ada = "ZERO\none\nzwei\nthree\nfour\nfive\n";
    let folder = "zero\none\ndeux\nthree\nfour\nFIVE\n";
    let text = marked(base, &[("ada", ada), ("folder", folder)]);
    let expected = |two: &str| Some(format!("ZERO\none\n{two}\nthree\nfour\nFIVE\n"));
    assert_eq!(pick(&text, Some("ada"), ada), expected("zwei"));
    assert_eq!(pick(&text, Some("folder"), folder), expected("deux"));
    assert_eq!(pick(&text, None, base), expected("two"));
}

#[test]
fn what_somebody_wrote_since_stays() {
    let text = marked(BASE, &[("ada", ADA), ("folder", FOLDER)]);
    let text = text.replace("four\n", "vier\n").replace("zwei\n", "zwo\n");
    let expected = "ONE\nzwo\nthree\nvier\nFIVE\n";
    assert_eq!(pick(&text, Some("ada"), ADA).as_deref(), Some(expected));
}

#[test]
fn sides_that_agree_or_changed_nothing() {
    let text = marked("1\n2\n3\n", &[("a", "1\nx\n3\n"), ("b", "1\n2\n3\n"), ("c", "1\ny\n3\n")]);
    assert_eq!(pick(&text, Some("b"), "1\n2\n3\n").as_deref(), Some("1\n2\n3\n"));
    let text = marked("1\n2\n3\n", &[("a", "1\nx\n3\n"), ("b", "1\nx\n3\n"), ("c", "1\ny\n3\n")]);
    assert_eq!(pick(&text, Some("b"), "1\nx\n3\n").as_deref(), Some("1\nx\n3\n"));
    assert_eq!(pick(&text, Some("nobody"), "other\n"), None, "it is of another merge");
}

#[test]
fn the_last_line_keeps_its_end() {
    for newline in ["\n", "\r\n"] {
        let base = format!("1{newline}2{newline}");
        let (ours, theirs) = (format!("1{newline}a"), format!("1{newline}b{newline}"));
        let text = marked(&base, &[("ours", &ours), ("theirs", &theirs)]);
        assert_eq!(pick(&text, Some("ours"), &ours), Some(ours.clone()));
        assert_eq!(pick(&text, Some("theirs"), &theirs), Some(theirs));
        assert_eq!(pick(&text, None, &base), Some(base));
    }
}

#[test]
fn broken_markers_decide_nothing() {
    let text = marked(BASE, &[("ada", ADA), ("folder", FOLDER)]);
    let markers = text.lines().filter(|line| line.len() > 5 && !line.contains("three"));
    for marker in markers {
        let broken = text.replacen(&format!("{marker}\n"), "", 1);
        assert_eq!(pick(&broken, Some("ada"), ADA), None, "without {marker}");
    }
    assert_eq!(pick(&format!("{text}{text}>>>>>>> x\n"), Some("ada"), ADA), None);
}

#[test]
fn a_text_that_was_merged_twice() {
    let once = marked("1\n2\n3\n", &[("ada", "1\na\n3\n"), ("folder", "1\nb\n3\n")]);
    let other = once.replace("3\n", "4\n");
    let sides = [("ada", once.as_bytes()), ("folder", b"1\nc\n3\n".as_slice())];
    let base: &[u8] = b"1\nb\n3\n";
    assert_eq!(marker_length(&[once.as_bytes()]), 8);
    let twice = markers(base, "base", &sides);
    let decide = |label, version: &str, length: &[usize]| {
        Pick { label: Some(label), version: version.as_bytes() }.apply(&twice, length)
    };
    assert_eq!(decide("ada", &once, &[7, 8]).as_deref(), Some(b"1\na\n3\n".as_slice()));
    assert_eq!(decide("folder", "1\nc\n3\n", &[7, 8]).as_deref(), Some(b"1\nc\n3\n".as_slice()));
    // The older conflict was none of this side's.
    let fork = Pick { label: Some("fork"), version: other.as_bytes() };
    assert_eq!(fork.apply(once.as_bytes(), &[7]), None);
}
