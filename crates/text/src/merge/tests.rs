//! Merging lines.

use super::*;

fn merged(base: &str, sides: &[&str]) -> Option<String> {
    let sides: Vec<&[u8]> = sides.iter().map(|side| side.as_bytes()).collect();
    let merged = TextMerge::of(base.as_bytes(), &sides).merged();
    merged.map(|text| String::from_utf8(text).unwrap())
}

fn regions(base: &str, sides: &[&str]) -> Vec<Region> {
    let sides: Vec<&[u8]> = sides.iter().map(|side| side.as_bytes()).collect();
    TextMerge::of(base.as_bytes(), &sides).conflicts().cloned().collect()
}

#[test]
fn changes_apart_from_each_other_fit() {
    let base = "1\n2\n3\n4\n5\n";
    assert_eq!(merged(base, &["a\n2\n3\n4\n5\n", "1\n2\n3\n4\nb\n"]).unwrap(), "a\n2\n3\n4\nb\n");
    assert_eq!(merged(base, &["2\n3\n4\n5\n", "1\n2\n3\n4\n5\n6\n"]).unwrap(), "2\n3\n4\n5\n6\n");
    assert_eq!(merged(base, &["x\n1\n2\n3\n4\n5\n", "1\n2\n3\n"]).unwrap(), "x\n1\n2\n3\n");
    let three = ["a\n2\n3\n4\n5\n", "1\n2\nb\n4\n5\n", "1\n2\n3\n4\nc\n"];
    assert_eq!(merged(base, &three).unwrap(), "a\n2\nb\n4\nc\n");
}

#[test]
fn changes_that_touch_do_not() {
    let base = "1\n2\n3\n4\n";
    assert_eq!(merged(base, &["1\na\n3\n4\n", "1\n2\nb\n4\n"]), None);
    assert_eq!(merged(base, &["1\n3\n4\n", "1\n2\nx\n3\n4\n"]), None);
    let found = regions(base, &["1\na\n3\n4\n", "1\n2\nb\n4\n"]);
    let expected = Region { base: 1..3, sides: vec![1..3, 1..3], changed: vec![0, 1] };
    assert_eq!(found, [expected]);
}

#[test]
fn equal_changes_are_one() {
    let base = "1\n2\n3\n4\n5\n";
    let one = "1\nx\n3\n4\n5\n";
    assert_eq!(merged(base, &[one, one]).unwrap(), one);
    assert_eq!(merged(base, &[one, "1\nx\n3\n4\ny\n"]).unwrap(), "1\nx\n3\n4\ny\n");
    assert_eq!(merged(base, &[one, base, one]).unwrap(), one);
}

#[test]
fn what_is_inserted_twice_is_cut_down_to_what_differs() {
    let found = regions("", &["same\na\nend\n", "same\nb\nc\nend\n"]);
    let expected = Region { base: 0..0, sides: vec![1..2, 1..3], changed: vec![0, 1] };
    assert_eq!(found, [expected]);
    let found = regions("1\n", &["1\nx\ny\n", "1\nx\n"]);
    let expected = Region { base: 1..1, sides: vec![2..3, 2..2], changed: vec![0, 1] };
    assert_eq!(found, [expected]);
}

#[test]
fn sides_count_their_own_lines() {
    // The first side is two lines longer before the conflict, the second one shorter.
    let found = regions(
        "1\n2\n3\n4\n5\n6\n7\n8\n",
        &["x\ny\n1\n2\n3\n4\n5\n6\na\n8\n", "1\n2\n4\n5\n6\nb\n8\n"],
    );
    let expected = Region { base: 6..7, sides: vec![8..9, 5..6], changed: vec![0, 1] };
    assert_eq!(found, [expected]);
}

#[test]
fn a_last_line_without_newline_is_a_line_of_its_own() {
    assert_eq!(merged("1\n2\n3", &["a\n2\n3", "1\n2\n3\n4"]).unwrap(), "a\n2\n3\n4");
    assert_eq!(merged("1\n2\n3", &["1\n2\n3\n", "1\n2\n3\nx\n"]), None);
    assert_eq!(merged("1\n2\n3\n", &["a\n2\n3\n", "1\n2\n3"]).unwrap(), "a\n2\n3");
    assert_eq!(merged("", &["", ""]).unwrap(), "");
    assert_eq!(merged("1\n2\n3\n", &["", "1\n2\n3\n"]).unwrap(), "");
}
