//! Keys go in, decisions and screens come out.

use offshoot_engine::change::FoldedKind;
use offshoot_engine::diff::TextPick;
use offshoot_engine::file::{BlobId, Body, Entry, Meta, VaultPath};
use offshoot_engine::git::GitActivity;
use offshoot_engine::review::{PieceOutcome, Wanted};

use super::*;

const BEFORE: &str = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";

fn file(content: &str) -> Entry {
    let mut hash = [7; 32];
    hash[0] = content.len() as u8;
    hash[1] = content.as_bytes().first().copied().unwrap_or(0);
    let body = Body::File { size: content.len() as u64, blob: BlobId(hash) };
    Entry { name: Vec::new(), meta: Meta::of_new(0o644), group: None, conflict: None, body }
}

fn item(path: &str, before: Option<&str>, after: &str) -> Item {
    let change = Change {
        path: VaultPath::parse(path.as_bytes()).unwrap(),
        before: before.map(|before| file(before).into()),
        after: Some(file(after).into()),
        moved: None,
    };
    let text = TextPick::new(before.unwrap_or_default().as_bytes(), after.as_bytes());
    Item::of(change, Some(text), 1, None)
}

/// A file with two hunks, the first of two changes, and a new file.
fn walk() -> Walk {
    let after = "one\n2\nthree\n4\n5\n6\n7\n8\nnine\n";
    let items = vec![item("/a", Some(BEFORE), after), item("/b", None, "new\tfile\n")];
    Walk::new("review".to_owned(), unfolded(items), false)
}

fn unfolded(items: Vec<Item>) -> FoldedReview {
    FoldedReview { items, groups: Vec::new() }
}

/// A new file, three files of build output that are shown as one, and two of git.
fn folded() -> Walk {
    let output = ["/target/a", "/target/b", "/target/c"];
    let paths = [&["/b"][..], &output, &["/.git/x", "/.git/y"]].concat();
    let items = paths.iter().map(|path| item(path, None, "new\n")).collect();
    let group = |at: &str, kind, items| {
        let at = VaultPath::parse(at.as_bytes()).unwrap();
        Group { id: String::new(), at, kind, items }
    };
    let groups = vec![
        group("/target", FoldedKind::Output, 1..4),
        group("/.git", FoldedKind::Git(GitActivity::default()), 4..6),
    ];
    Walk::new("review".to_owned(), FoldedReview { items, groups }, false)
}

fn decisions(walk: &Walk) -> String {
    let pieces = walk.items.iter().flat_map(|item| &item.pieces);
    let letter = |decision: &Decision| match decision {
        Decision::Accepted => 'a',
        Decision::Dropped => 'd',
        Decision::Edited(_) => 'e',
        Decision::Undecided => '-',
    };
    pieces.map(|piece| letter(&piece.decision)).collect()
}

#[test]
fn what_is_folded_is_one_step() {
    let mut walk = folded();
    assert_eq!(walk.place(), (1, 3));
    press(&mut walk, "a");
    assert_eq!((place(&walk), walk.place()), ((1, 0), (2, 3)));
    assert!(screen(&walk).contains("/target/ 3 files"), "{}", screen(&walk));
    assert!(screen(&walk).contains("A /target/c"), "{}", screen(&walk));
    press(&mut walk, "d");
    assert_eq!(walk.place(), (3, 3));
    assert!(screen(&walk).contains("git: 2 files"), "{}", screen(&walk));
    press(&mut walk, "p");
    assert_eq!((place(&walk), decisions(&walk)), ((1, 0), "addd--".to_owned()));
    press(&mut walk, "uJf");
    assert_eq!((walk.mode.clone(), decisions(&walk)), (Mode::Leaving, "a---aa".to_owned()));
}

#[test]
fn what_is_folded_can_be_expanded() {
    let mut walk = folded();
    press(&mut walk, "nse");
    assert!(screen(&walk).contains("x expands"), "{}", screen(&walk));
    press(&mut walk, "x");
    assert_eq!((place(&walk), walk.place()), ((1, 0), (2, 5)));
    press(&mut walk, "ad");
    assert_eq!((place(&walk), decisions(&walk)), ((3, 0), "-ad---".to_owned()));
    press(&mut walk, "nK");
    assert_eq!(place(&walk), (3, 0));
    press(&mut walk, "/.git\n/\n");
    assert_eq!((place(&walk), walk.message.is_none()), ((4, 0), true));
    press(&mut walk, "x");
    assert_eq!(walk.place(), (5, 6));
    press(&mut walk, "x");
    assert!(walk.message.is_some(), "there is nothing left to expand");
}

fn press(walk: &mut Walk, keys: &str) -> Action {
    let mut action = Action::Show;
    for c in keys.chars() {
        action = walk.press(match c {
            '\n' => Key::Enter,
            '\x1b' => Key::Escape,
            c => Key::Char(c),
        });
    }
    action
}

fn screen(walk: &Walk) -> String {
    walk.screen().iter().map(|line| line.plain() + "\n").collect()
}

fn place(walk: &Walk) -> (usize, usize) {
    (walk.item, walk.piece)
}

#[test]
fn accepting_and_dropping_go_on_to_the_end() {
    let mut walk = walk();
    assert_eq!(walk.items[0].pieces.len(), 2);
    press(&mut walk, "ad");
    assert_eq!(place(&walk), (1, 0));
    press(&mut walk, "a");
    assert_eq!(walk.mode, Mode::Leaving);
    assert!(screen(&walk).contains("2 accepted, 1 dropped, 0 edited, 0 undecided"));
    assert_eq!(press(&mut walk, "y"), Action::End(Ending::Apply));
    let items = walk.into_review().items;
    let PieceOutcome::Mixed(mixed) = items[0].outcome(Wanted::NotDropped) else {
        panic!("{items:?}")
    };
    assert_eq!(mixed.content.unwrap(), b"one\n2\nthree\n4\n5\n6\n7\n8\n9\n");
}

#[test]
fn going_on_leaves_undecided_and_going_back_shows_what_was_decided() {
    let mut walk = walk();
    press(&mut walk, "an");
    assert_eq!(place(&walk), (1, 0));
    press(&mut walk, "pp");
    assert_eq!(place(&walk), (0, 0));
    assert!(screen(&walk).contains("\naccepted"), "{}", screen(&walk));
    press(&mut walk, "u");
    assert!(screen(&walk).contains("\nundecided"), "{}", screen(&walk));
    press(&mut walk, "p");
    assert!(screen(&walk).contains("this is the first one"));
}

#[test]
fn whole_files_are_decided_at_once() {
    let mut walk = walk();
    press(&mut walk, "fF");
    assert_eq!(walk.mode, Mode::Leaving);
    assert_eq!(walk.items[0].outcome(Wanted::Accepted), PieceOutcome::After);
    assert_eq!(walk.items[1].outcome(Wanted::NotDropped), PieceOutcome::Before);
}

#[test]
fn hunks_are_split_until_a_line_is_left() {
    let mut walk = walk();
    press(&mut walk, "s");
    assert_eq!(walk.items[0].pieces.len(), 3);
    assert!(screen(&walk).contains("+one\n"), "{}", screen(&walk));
    assert!(!screen(&walk).contains("+three\n"), "{}", screen(&walk));
    press(&mut walk, "s");
    assert!(screen(&walk).contains("cannot be split any further"));
}

#[test]
fn editing_is_left_to_others_and_its_result_taken() {
    let mut walk = walk();
    assert_eq!(press(&mut walk, "e"), Action::EditPiece);
    walk.edited_piece(b"uno\n2\ntres\n".to_vec());
    assert_eq!(place(&walk), (0, 1));
    press(&mut walk, "p");
    assert!(screen(&walk).contains("+uno"), "{}", screen(&walk));
    assert_eq!(press(&mut walk, "E"), Action::EditFile);
    let whole = walk.current().unwrap().whole_editable().unwrap();
    assert_eq!(whole, b"uno\n2\ntres\n4\n5\n6\n7\n8\nnine\n");
    walk.edited_file(b"all other\n".to_vec());
    assert_eq!(place(&walk), (1, 0));
    let PieceOutcome::Mixed(mixed) = walk.items[0].outcome(Wanted::NotDropped) else { panic!() };
    assert_eq!(mixed.content.unwrap(), b"all other\n");
}

#[test]
fn texts_are_found_in_lines_and_paths() {
    let mut walk = walk();
    press(&mut walk, "/nine\n");
    assert_eq!(place(&walk), (0, 1));
    press(&mut walk, "/file\n");
    assert_eq!(place(&walk), (1, 0));
    press(&mut walk, "/thr");
    assert!(screen(&walk).ends_with("/thr\n"), "{}", screen(&walk));
    press(&mut walk, "ee\n");
    assert_eq!(place(&walk), (0, 0), "it goes on from the beginning");
    press(&mut walk, "/nowhere\n");
    assert!(screen(&walk).contains("nowhere is nowhere"));
    press(&mut walk, "/x\x1b");
    assert_eq!((place(&walk), walk.mode.clone()), ((0, 0), Mode::Deciding));
}

#[test]
fn quitting_asks_what_becomes_of_the_decisions() {
    let mut walk = walk();
    press(&mut walk, "dq");
    assert!(screen(&walk).contains("take what was dropped out"), "{}", screen(&walk));
    press(&mut walk, "c");
    assert_eq!(walk.mode, Mode::Leaving, "nothing can be committed here");
    press(&mut walk, "\x1b");
    assert_eq!(walk.mode, Mode::Deciding);
    assert_eq!(press(&mut walk, "qx"), Action::End(Ending::Forget));
    walk.can_commit = true;
    assert_eq!(press(&mut walk, "qc"), Action::End(Ending::Commit));
}

#[test]
fn long_pieces_are_scrolled() {
    let after: String = (0..100).map(|n| format!("line {n}\n")).collect();
    let mut walk = Walk::new("review".to_owned(), unfolded(vec![item("/a", None, &after)]), false);
    walk.resize(15, 40);
    assert!(screen(&walk).contains("+line 0\n") && screen(&walk).contains("lines 1-10 of 102"));
    press(&mut walk, " ");
    assert!(screen(&walk).contains("lines 10-19 of 102"), "{}", screen(&walk));
    press(&mut walk, "G");
    assert!(screen(&walk).contains("+line 99\n"), "{}", screen(&walk));
    press(&mut walk, "j");
    assert!(screen(&walk).contains("lines 93-102 of 102"));
    walk.resize(200, 40);
    assert!(screen(&walk).contains("+line 0\n"));
    press(&mut walk, "gkb");
    assert_eq!(walk.scroll, 0);
}

/// Whatever the size, the screen is exactly that large.
#[test]
fn the_screen_has_the_size_of_the_terminal() {
    let mut walk = walk();
    for keys in ["", "?", "q"] {
        let mut walk_here = walk.items.clone();
        walk = Walk::new(
            "review of a name".to_owned(),
            unfolded(std::mem::take(&mut walk_here)),
            true,
        );
        press(&mut walk, keys);
        for (lines, columns) in [(24, 80), (1, 1), (3, 7), (50, 200), (6, 20)] {
            walk.resize(lines, columns);
            let screen = walk.screen();
            assert_eq!(screen.len(), lines, "{keys:?} {lines}x{columns}");
            assert!(screen.iter().all(|line| line.width() <= columns), "{lines}x{columns}");
        }
    }
}

#[test]
fn tabs_and_control_characters_are_shown_as_what_they_are() {
    let items = vec![item("/a", None, "a\tb\x1b[2J\n")];
    let walk = Walk::new("review".to_owned(), unfolded(items), false);
    assert!(screen(&walk).contains("+a       b^[[2J\n"), "{}", screen(&walk));
}
