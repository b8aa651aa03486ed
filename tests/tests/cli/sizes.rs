//! Memory does not go with the length of files and outputs, and little of it with the number of files.

use offshoot_needs::needs;
use offshoot_tests::memory::cost;
use offshoot_tests::product::Place;

const MIB: f64 = 1048576.0;
/// More than any command needs that holds nothing whole.
const LITTLE: f64 = 80.0 * MIB;
/// A file or an output that does not fit in that.
const LONG: usize = 96 << 20;

/// The most memory that a command had, which must succeed.
fn memory(place: &Place, arguments: &[&str]) -> f64 {
    cost(place.command(arguments)).expect("it can be measured").memory
}

fn assert_little(place: &Place, arguments: &[&str]) {
    let memory = memory(place, arguments);
    assert!(memory < LITTLE, "{arguments:?}: {:.1} MiB", memory / MIB);
}

#[test]
fn a_long_file_is_shown_without_being_held() {
    let place = Place::new();
    place.write("text", "many lines of text\n".repeat(LONG / 19));
    place.write("raw", b"\xff and what is no text\n".repeat(LONG / 23));
    place.ok(["init"]);
    for file in ["text", "raw"] {
        assert_little(&place, &["fs", "cat", file]);
        assert_little(&place, &["fs", "cat", "--json", file]);
    }
}

#[needs(UserNamespace)]
#[test]
fn a_long_output_is_passed_on_without_being_held() {
    let place = Place::new();
    place.ok(["init"]);
    let length = LONG.to_string();
    let command = ["--", "head", "-c", &length, "/dev/zero"];
    for json in [&[][..], &["--json"]] {
        assert_little(&place, &[&["exec", "-w", "w"], json, &command].concat());
    }
}

#[needs(UserNamespace)]
#[test]
fn each_file_of_a_moved_folder_takes_little_memory() {
    const FILES: usize = 4_000;
    // About 3,000 were found; holding every change several times took 7,500.
    const EACH: f64 = 5000.0;
    let commit = |files: usize| {
        let place = Place::new();
        for number in 0..files {
            place.write(format!("folder/file-{number}"), format!("{number}\n"));
        }
        place.ok(["init"]);
        place.ok(["exec", "-w", "w", "--", "mv", "folder", "other"]);
        let memory = memory(&place, &["commit", "-w", "w"]);
        assert!(place.project().join("other/file-0").is_file());
        memory
    };
    let each = (commit(FILES) - commit(1)) / FILES as f64;
    assert!(each < EACH, "{each:.0} bytes for each file");
}
