//! Vaults that come from elsewhere, and folders that are bound later: neither writes where nobody said it may.

use std::fs;

use offshoot_needs::needs;
use offshoot_tests::product::Place;

use crate::transcript::demo_vault;

/// A vault that was exported while it was bound to the project, and is not here any more.
fn sent() -> Place {
    let place = demo_vault();
    place.ok_with(["fs", "write", "/evil.sh", "-w", "fix"], b"evil\n");
    place.ok(["vault", "export", "../sent"]);
    place.ok(["vault", "delete", "project", "--yes"]);
    place
}

#[test]
fn an_imported_vault_writes_to_no_folder_until_it_is_bound() {
    let place = sent();
    let imported = place.json(&["vault", "import", "../sent"]);
    let project = fs::canonicalize(place.project()).unwrap();
    assert_eq!(imported["was_bound"][0], project.to_str().unwrap());
    assert_eq!(
        place.json(&["binding", "list", "--vault", "project"])["bindings"],
        serde_json::json!([])
    );
    let before = fs::read_dir(&project).unwrap().count();
    let commit = place.run(["commit", "-w", "fix", "--vault", "project"]);
    assert!(!commit.status.success(), "{commit:?}");
    assert!(!place.run(["commit", "-w", "fix"]).status.success(), "the folder belongs to no vault");
    // However far the log goes back.
    while place.run(["undo", "--vault-wide", "--vault", "project"]).status.success() {}
    assert_eq!(
        place.json(&["binding", "list", "--vault", "project"])["bindings"],
        serde_json::json!([])
    );
    assert_eq!(fs::read_dir(&project).unwrap().count(), before);
}

#[test]
fn an_imported_vault_is_bound_where_its_user_says() {
    let place = sent();
    let told = place.run(["vault", "import", "../sent"]);
    let told = String::from_utf8_lossy(&told.stdout).into_owned();
    assert!(told.contains("offshoot binding move / DIR --vault project"), "{told}");
    let other = place.path().join("other");
    fs::create_dir(&other).unwrap();
    fs::write(other.join("mine.txt"), "mine\n").unwrap();
    place.ok(["binding", "move", "/", "../other", "--vault", "project"]);
    place.ok(["commit", "-w", "fix", "--vault", "project"]);
    assert_eq!(fs::read_to_string(other.join("evil.sh")).unwrap(), "evil\n");
    assert_eq!(fs::read_to_string(other.join("mine.txt")).unwrap(), "mine\n");
    assert!(!place.project().join("evil.sh").exists());
}

#[test]
fn what_is_too_large_or_no_file_is_refused_with_its_code() {
    let place = sent();
    let error = place.json_error(&["vault", "import", "../sent", "--max-size", "1"], 4);
    assert!(error["message"].as_str().unwrap().contains("expands to"), "{error}");
    assert!(error["hint"].as_str().unwrap().contains("--max-size SIZE"), "{error}");
    assert_eq!(place.json(&["vault", "list"])["vaults"].as_array().map(Vec::len), Some(0));
    place.json_error(&["vault", "import", "../sent", "--max-size", "much"], 2);
    place.json_error(&["vault", "import", "/dev/zero"], 6);
    place.write("text", "no vault\n");
    place.json_error(&["vault", "import", "text"], 5);
}

/// What a command puts where a folder would be reaches no folder that is bound by that name later.
#[needs(Overlay, UserNamespace)]
#[test]
fn nothing_that_was_planted_reaches_a_folder_that_is_bound_later() {
    let place = demo_vault();
    let docs = place.path().join("docs");
    fs::create_dir(&docs).unwrap();
    fs::write(docs.join("page"), "page\n").unwrap();
    let plant = "mkdir -p .offshoot/bound/docs; echo evil > .offshoot/bound/docs/.envrc";
    place.ok(["exec", "-w", "fix", "--shell", plant]);
    let error = place.json_error(&["binding", "add", "../docs", "--name", "docs"], 4);
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("workspace fix has files in .offshoot/bound/docs"), "{error}");
    // A name that nobody chose is another one.
    let added = place.json(&["binding", "add", "../docs"]);
    assert_eq!(added["binding"]["name"], "docs-2", "{added}");
    drop(place.run(["commit", "-w", "fix"]));
    let names: Vec<_> =
        fs::read_dir(&docs).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["page"]);
    // A folder that was bound by its name before gets it again.
    place.ok(["binding", "remove", "docs-2"]);
    assert_eq!(place.json(&["binding", "add", "../docs"])["binding"]["name"], "docs-2");
}
