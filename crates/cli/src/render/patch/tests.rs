//! Patches are read as they were written.

use super::*;

const PATCH: &[u8] = b"diff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n one\n--- two\n+++ two\n \\three\n@@ -9 +9 @@\n-let size = 1;\n\\ No newline at end of file\n+let length = 1;\n\\ No newline at end of file\n";

#[test]
fn lines_are_told_apart_by_the_counts() {
    let blocks = blocks(PATCH);
    let line = |text| PatchLine { text, newline: true };
    let change = Block::Change { removed: vec![line(b"-- two")], added: vec![line(b"++ two")] };
    assert_eq!(blocks[5], change);
    assert_eq!(blocks[3], Block::Hunk { line: b"@@ -1,3 +1,3 @@", before: 1, after: 1 });
    let no_newline = |text| PatchLine { text, newline: false };
    let last = Block::Change {
        removed: vec![no_newline(b"let size = 1;")],
        added: vec![no_newline(b"let length = 1;")],
    };
    assert_eq!(blocks.last(), Some(&last));
}

#[test]
fn colours_add_nothing_but_colours() {
    let shown = anstream::adapter::strip_str(&coloured(PATCH)).to_string();
    assert_eq!(shown.as_bytes(), PATCH);
}

#[test]
fn what_changed_in_a_line_stands_out() {
    let shown = coloured(PATCH);
    assert!(shown.contains(&paint(BAD.invert(), "size")), "{shown:?}");
    assert!(shown.contains(&paint(GOOD.invert(), "length")), "{shown:?}");
    let other = coloured(b"@@ -1 +1 @@\n-completely\n+different\n");
    assert!(!other.contains(&format!("{}", BAD.invert())), "{other:?}");
}

#[test]
fn a_file_cannot_steer_the_terminal() {
    let shown = coloured(b"@@ -1 +1 @@\n-a\x1b[2Jb\n+c\x07\n");
    let shown = anstream::adapter::strip_str(&shown).to_string();
    assert!(shown.contains("-a^[[2Jb\n+c^G\n"), "{shown:?}");
}
