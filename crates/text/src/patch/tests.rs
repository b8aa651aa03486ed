//! Patches are compared with what git itself prints for the same trees, and applied by `git apply`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use self::repository::{Entry, FILE, LINK, PROGRAM, Repository, entry};
use super::*;

mod repository;

const NAMED: PatchOptions<'static> =
    PatchOptions { text: TextOptions { context: 3 }, binary: None };

fn patch(before: Option<&Entry>, after: Option<&Entry>, similarity: Option<u8>) -> Vec<u8> {
    let mut out = Vec::new();
    let (before, after) = (before.map(Entry::side), after.map(Entry::side));
    write_patch(&mut out, before.as_ref(), after.as_ref(), similarity, &NAMED).unwrap();
    out
}

/// The same with binary changes in whole. What is opaque is 100,000 bytes that hardly shrink.
fn whole_patch(before: Option<&PatchSide<'_>>, after: Option<&PatchSide<'_>>) -> Vec<u8> {
    let mut out = Vec::new();
    let open = |hash: &[u8; 32]| -> io::Result<Box<dyn Read>> {
        Ok(Box::new(io::Cursor::new(opaque(hash[0]))))
    };
    let similarity = (before.map(|side| side.path) != after.map(|side| side.path)).then_some(60);
    let options = PatchOptions { text: TextOptions::default(), binary: Some(&open) };
    write_patch(&mut out, before, after, similarity, &options).unwrap();
    out
}

fn opaque(seed: u8) -> Vec<u8> {
    let mut state = u32::from(seed) + 1;
    let next = |_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state.to_be_bytes()[0]
    };
    (0..100_000).map(next).collect()
}

fn text_of(side: (PatchSide<'_>, PatchSide<'_>), similarity: Option<u8>) -> String {
    let mut out = Vec::new();
    write_patch(&mut out, Some(&side.0), Some(&side.1), similarity, &NAMED).unwrap();
    String::from_utf8(out).unwrap()
}

fn tree_of(root: &Repository, entry: Option<&Entry>) -> BTreeMap<PathBuf, (u32, Vec<u8>)> {
    let neighbour = Entry(b"neighbour".to_vec(), FILE, b"untouched\n".to_vec());
    let entries = entry.into_iter().chain([&neighbour]);
    entries.map(|Entry(path, mode, content)| (root.path(path), (*mode, content.clone()))).collect()
}

/// `git apply` must turn a tree with `before` into one with `after`, and back with `-R`.
fn applies(before: Option<&Entry>, after: Option<&Entry>, patch: &[u8]) {
    let repository = Repository::with(before);
    repository.git(&["apply", "--whitespace=nowarn", "-"], patch);
    assert_eq!(repository.tree(), tree_of(&repository, after));
    if loses_mode_in_reverse(patch) {
        return;
    }
    repository.git(&["apply", "--whitespace=nowarn", "-R", "-"], patch);
    assert_eq!(repository.tree(), tree_of(&repository, before));
}

/// `git apply -R` brings any deleted file back as a plain one, also with a patch git wrote itself.
fn loses_mode_in_reverse(patch: &[u8]) -> bool {
    let mut lines = patch.split(|byte| *byte == b'\n');
    lines.any(|line| line.starts_with(b"deleted file mode") && !line.ends_with(b" 100644"))
}

fn reported_similarity(patch: &[u8]) -> Option<u8> {
    let text = String::from_utf8_lossy(patch);
    let percent =
        text.lines().find_map(|line| line.strip_prefix("similarity index ")?.strip_suffix('%'));
    percent.map(|percent| percent.parse().unwrap())
}

/// Our patch is exactly git's, and git applies it.
fn check(before: Option<Entry>, after: Option<Entry>) {
    let (before, after) = (before.as_ref(), after.as_ref());
    let expected = Repository::with(before).expected_patch(before, after);
    let ours = patch(before, after, reported_similarity(&expected));
    let shown = |bytes: &[u8]| bytes.escape_ascii().to_string().replace("\\n", "\n");
    assert_eq!(shown(&ours), shown(&expected));
    applies(before, after, &ours);
}

/// Indented lines, so that git finds nothing to use as a section heading.
fn numbered(lines: usize) -> String {
    (1..=lines).map(|line| format!("  line {line}\n")).collect()
}

#[test]
fn added_deleted_and_modified() {
    for content in ["", "one\n", "one", "one\ntwo\n", "one\n\n\ntwo", "\n"] {
        check(None, entry("dir/file", FILE, content));
        check(entry("file", PROGRAM, content), None);
        check(entry("file", FILE, numbered(4)), entry("file", FILE, content));
        check(entry("file", FILE, content), entry("file", FILE, numbered(4)));
    }
    let edited = numbered(40)
        .replace("line 3\n", "LINE 3\n")
        .replace("line 30\n", "")
        .replace("line 33\n", "33\n33\n");
    check(entry("file", FILE, numbered(40)), entry("file", FILE, edited));
}

#[test]
fn final_newlines_and_carriage_returns() {
    let variants =
        ["a\nb\n", "a\nb", "a\r\nb\r\n", "a\r\nb", "a\r\nb\r", "a\nb\n\n", "x\nb", "a\rb\n"];
    for before in variants {
        for after in variants.iter().filter(|after| **after != before) {
            check(entry("file", FILE, before), entry("file", FILE, after));
        }
    }
}

#[test]
fn modes() {
    check(entry("file", FILE, "a\n"), entry("file", PROGRAM, "a\n"));
    check(entry("file", PROGRAM, "a\n"), entry("file", FILE, "b\n"));
    check(entry("file", FILE, ""), entry("file", PROGRAM, ""));
}

#[test]
fn renames() {
    let text = numbered(30);
    check(entry("from", FILE, &text), entry("to/there", FILE, &text));
    check(
        entry("from", FILE, &text),
        entry("to", PROGRAM, text.replace("line 7\n", "line seven\n")),
    );
    check(
        entry("from here\n", FILE, &text),
        entry("\"to\" thére ", FILE, text.replace("line 30\n", "end")),
    );
}

#[test]
fn a_move_without_a_similarity_is_a_deletion_and_a_creation() {
    let (before, after) = (entry("from", FILE, "a\n"), entry("to", FILE, "a\n"));
    let patch = patch(before.as_ref(), after.as_ref(), None);
    assert!(!String::from_utf8_lossy(&patch).contains("rename"));
    applies(before.as_ref(), after.as_ref(), &patch);
}

#[test]
fn symlinks() {
    check(None, entry("link", LINK, "target"));
    check(entry("link", LINK, "target"), None);
    check(entry("link", LINK, "target"), entry("link", LINK, "new\ntarget\n"));
    check(entry("link", LINK, "target"), entry("link", FILE, "target"));
    check(entry("link", PROGRAM, "content\n"), entry("link", LINK, b"\xff target"));
}

#[test]
fn odd_names() {
    let names: [&[u8]; 18] = [
        b"with space",
        b" leading",
        b"trailing ",
        b"-dash",
        b"--",
        b"new\nline",
        b"tab\t",
        b"quote\"s",
        b"back\\slash",
        b"caf\xc3\xa9",
        b"\xff\xfe",
        b"\x07\x08\x0b\x0c\r\x1b\x7f",
        b"a/b c/d",
        b"b/x b/x",
        b"x => y",
        b"'",
        b"dev/null",
        b"a b\nc",
    ];
    for name in names {
        check(None, entry(name, FILE, "one\n"));
        check(None, entry(name, FILE, ""));
        check(entry(name, FILE, ""), None);
        check(entry(name, FILE, "one\n"), entry(name, PROGRAM, "one\n"));
        check(entry(name, FILE, "one\n"), entry(name, FILE, "two"));
        check(entry(name, FILE, numbered(9)), entry("plain", FILE, numbered(9)));
        check(entry("plain", FILE, numbered(9)), entry(name, FILE, numbered(10)));
    }
}

#[test]
fn text_that_looks_like_a_patch_or_is_not_utf8() {
    let tricky =
        b"--- a/file\n+++ b/file\n@@ -1 +1 @@\n-x\n\\ No newline at end of file\n\xff\xfe\n";
    check(None, entry("file", FILE, tricky));
    check(entry("file", FILE, tricky), entry("file", FILE, b"-- a\n++ b\n"));
    let mut late_nul = numbered(2000).into_bytes();
    late_nul[9000] = 0;
    check(entry("file", FILE, numbered(2000)), entry("file", FILE, late_nul));
    check(
        entry("file", FILE, "x".repeat(300_000)),
        entry("file", FILE, "y".repeat(300_000) + "\n"),
    );
}

/// Our patch has git's headers and full names of both contents, and git applies it both ways, byte for byte.
fn check_whole(before: Option<Entry>, after: Option<Entry>) {
    let (before, after) = (before.as_ref(), after.as_ref());
    let repository = Repository::with(before);
    let expected = headers(&repository.binary_patch(before, after));
    let sides = (before.map(Entry::side), after.map(Entry::side));
    let ours = whole_patch(sides.0.as_ref(), sides.1.as_ref());
    assert_eq!(headers(&ours), expected);
    applies(before, after, &ours);
}

/// The lines before the bytes, without how alike git finds them.
fn headers(patch: &[u8]) -> Vec<String> {
    let lines = patch.split(|byte| *byte == b'\n').map(|line| line.escape_ascii().to_string());
    let lines = lines.take_while(|line| !line.starts_with("literal") && !line.starts_with("delta"));
    lines.filter(|line| !line.starts_with("similarity")).collect()
}

#[test]
fn binary_content_is_applied_byte_for_byte() {
    let every: Vec<u8> = (0..=255).cycle().take(70_000).collect();
    let zeros = vec![0; 300_000];
    let contents: [&[u8]; 6] = [b"\0", b"a\0b", b"\0no newline", b"\0newline\n", &every, &zeros];
    for content in contents {
        check_whole(None, entry("dir/new", FILE, content));
        check_whole(entry("old", FILE, content), None);
        check_whole(entry("old", PROGRAM, content), None);
        check_whole(entry("file", FILE, "text\n"), entry("file", FILE, content));
        check_whole(entry("file", FILE, content), entry("file", PROGRAM, ""));
        check_whole(entry("file", PROGRAM, content), entry("file", PROGRAM, b"x\0y"));
    }
    for length in 1..=110 {
        let (before, after) = (vec![0; length], opaque(7)[..length].to_vec());
        check_whole(entry("x", FILE, before), entry("x", FILE, [b"\0", &after[..]].concat()));
    }
}

#[test]
fn binary_content_has_odd_names_and_moves() {
    for name in [&b"with space"[..], b"quote\"s", b"\xff\xfe", b"new\nline", b"caf\xc3\xa9"] {
        check_whole(None, entry(name, FILE, b"\0one"));
        check_whole(entry(name, FILE, b"\0one"), entry(name, PROGRAM, b"\0two"));
        check_whole(entry(name, FILE, b"\0one"), None);
        let moved = [&opaque(1)[..], b"and more"].concat();
        check_whole(entry("from", FILE, opaque(1)), entry(name, FILE, &moved));
    }
}

#[test]
fn content_that_is_not_in_memory_is_read_as_it_is_written() {
    let (one, other) = (opaque(1), opaque(2));
    let side = |hash| PatchSide {
        path: b"large",
        mode: FILE,
        content: PatchContent::Opaque { size: 100_000, hash: [hash; 32] },
    };
    let patch = whole_patch(Some(&side(1)), Some(&side(2)));
    let (before, after) = (entry("large", FILE, one), entry("large", FILE, other));
    applies(before.as_ref(), after.as_ref(), &patch);
}

/// What is said in `docs/limits.md`: such a repository wants other names of contents.
#[test]
fn a_repository_with_sha256_takes_text_alone() {
    let repository = Repository::with_sha256();
    let new = entry("new", FILE, b"\0").unwrap();
    let patch = whole_patch(None, Some(&new.side()));
    let refused = repository.try_git(&["apply", "-"], &patch).unwrap_err();
    assert!(refused.contains("without full index line"), "{refused}");
    let text = entry("text", FILE, "one\n").unwrap();
    let both = [patch, whole_patch(None, Some(&text.side()))].concat();
    repository.git(&["apply", "--exclude=new", "-"], &both);
    assert_eq!(repository.tree()[&repository.path(b"text")].1, b"one\n");
}

/// git cannot apply these, since the content is not in the patch; what is printed must still be
/// git's.
#[test]
fn binary_content_is_only_named() {
    let cases = [
        (entry("a b", FILE, "text\n"), entry("a b", PROGRAM, b"\0")),
        (None, entry("new\n", FILE, b"a\0b")),
        (entry("old", FILE, b"a\0b"), None),
    ];
    for (before, after) in cases {
        let (before, after) = (before.as_ref(), after.as_ref());
        let expected = Repository::with(before).expected_patch(before, after);
        assert_eq!(
            patch(before, after, None).escape_ascii().to_string(),
            expected.escape_ascii().to_string()
        );
    }
}

#[test]
fn opaque_content_differs_by_its_hash() {
    let side = |path, mode, hash| PatchSide {
        path,
        mode,
        content: PatchContent::Opaque { size: 9, hash: [hash; 32] },
    };
    let differ = "diff --git a/x b/x\nBinary files a/x and b/x differ\n";
    assert_eq!(text_of((side(b"x", FILE, 1), side(b"x", FILE, 2)), None), differ);
    assert_eq!(text_of((side(b"x", FILE, 1), side(b"x", FILE, 1)), None), "");
    let bytes = PatchSide { content: PatchContent::Bytes(b"text"), ..side(b"x", FILE, 0) };
    assert_eq!(text_of((bytes, side(b"x", FILE, 1)), None), differ);
    let renamed = "diff --git a/x b/y\nold mode 100644\nnew mode 100755\n\
                   similarity index 100%\nrename from x\nrename to y\n";
    assert_eq!(text_of((side(b"x", FILE, 1), side(b"y", PROGRAM, 1)), Some(100)), renamed);
}

#[test]
fn equal_sides_write_nothing() {
    let same = entry("file", FILE, "a\n");
    assert!(patch(same.as_ref(), same.as_ref(), None).is_empty());
    assert!(patch(None, None, None).is_empty());
}
