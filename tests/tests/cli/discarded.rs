//! What commands write outside the project is gone, and they are told so.

use offshoot_needs::needs;
use offshoot_tests::product::{Place, document_of};
use offshoot_tests::user::{User, give_away};

fn place() -> Place {
    let place = Place::new();
    place.write("a.txt", "one\n");
    std::fs::create_dir(place.path().join("side")).expect("a folder beside the project");
    std::fs::write(place.path().join("side/old"), "old\n").expect("a file beside the project");
    place.ok(["init"]);
    place
}

/// What is said at the end of a command.
fn told(place: &Place, script: &str) -> String {
    let output = place.run(["exec", "-w", "fix", "--", "sh", "-c", script]);
    String::from_utf8_lossy(&output.stderr).replace(NEW, "")
}

/// What is said about a workspace that was new.
const NEW: &str =
    "there is no workspace fix: this ran in a new fork, which was removed as nothing changed\n";

#[needs(UserNamespace)]
#[test]
fn files_beside_the_project_are_told_about() {
    let place = place();
    assert_eq!(
        told(&place, "echo x > ../note"),
        "1 change outside the project was not kept: ../note; only files in the project are kept\n"
    );
    assert_eq!(
        told(
            &place,
            "mkdir -p ../new/in; touch ../new/1 ../new/in/2; mkdir ../side; echo x > ../side/old"
        ),
        "3 changes outside the project were not kept: ../new, ../side/old; \
         to keep such files: mkdir ../new && offshoot binding add ../new\n"
    );
    assert_eq!(
        told(
            &place,
            "mkdir ../side; for n in 1 2 3 4; do echo x > ../side/$n; done; echo x > b.txt"
        ),
        "4 changes outside the project were not kept: ../side/1, ../side/2, ../side/3, ...; \
         to keep such files: offshoot binding add ../side\n\
         new workspace fix: 1 added\n\
         review: offshoot review   commit: offshoot commit   undo: offshoot undo\n"
    );
    assert_eq!(std::fs::read(place.path().join("side/old")).expect("it is there"), b"old\n");
    assert!(!place.path().join("note").exists());
}

/// The advice that is given is true.
#[needs(UserNamespace)]
#[test]
fn a_folder_that_is_bound_is_kept() {
    let place = place();
    place.ok(["binding", "add", "../side"]);
    let said = told(&place, "echo x > ../side/new");
    assert!(!said.contains("discarded") && said.contains("1 added"), "{said}");
}

/// What is written to something that is shown does not stay either.
#[needs(UserNamespace)]
#[test]
fn changes_of_what_is_shown_are() {
    let place = place();
    let data = place.path().join("data");
    std::fs::create_dir_all(&data).unwrap();
    std::fs::write(data.join("notes"), "one\n").unwrap();
    let show = ["exec", "-w", "fix", "--show", "../data", "--", "sh", "-c"];
    let said = |script| {
        let output = place.run([&show[..], &[script]].concat());
        String::from_utf8(output.stderr).unwrap()
    };
    let told = said("echo two >> ../data/notes");
    assert!(told.contains("data/notes"), "{told}");
    assert!(!said("cat ../data/notes").contains("data"), "only read");
}

/// What tools leave in a home is not worth a word.
#[needs(UserNamespace)]
#[test]
fn caches_and_state_of_tools_are_not() {
    let place = place();
    let noise = "mkdir -p ~/.cache/tool ~/go/pkg/mod/x ~/cargo/registry; echo x > ~/.history
                 touch ~/.cache/tool/1 ~/go/pkg/mod/x/2 ~/cargo/registry/3 ~/cargo/.package-cache /tmp/4";
    let cargo = format!("CARGO_HOME={}", place.path().join("cargo").display());
    let output = place.run(["exec", "-w", "fix", "-e", &cargo, "--", "sh", "-c", noise]);
    assert_eq!(String::from_utf8_lossy(&output.stderr), NEW);
}

/// Settings of the user are.
#[needs(UserNamespace)]
#[test]
fn settings_in_the_home_are() {
    let place = place();
    let home = place.path();
    for name in [".gitconfig", ".inputrc", ".profile", ".bash_history"] {
        std::fs::write(home.join(name), "before\n").expect("a file in the home");
    }
    let script = "rm ~/.gitconfig; echo x >> ~/.profile; echo x > ~/.toolrc; : >> ~/.inputrc
                  echo x > ~/.new; mkdir ~/.barc; touch ~/.barc/x
                  for name in bash_history lesshst; do echo x >> ~/.$name; done";
    assert_eq!(
        told(&place, script),
        "3 changes outside the project were not kept: ../.gitconfig, ../.profile, ../.toolrc; \
         only files in the project are kept\n"
    );
    assert_eq!(std::fs::read(home.join(".gitconfig")).expect("it is there"), b"before\n");
}

/// Whoever unpacked an archive there does not wait for a full count.
#[needs(UserNamespace)]
#[test]
fn not_all_of_very_many_are_counted() {
    let place = place();
    let script = "mkdir ../new; cd ../new; seq 100500 | xargs touch";
    let words = ["exec", "-w", "fix", "--json", "--", "sh", "-c", script];
    let result = document_of(&place.run(words))["result"].clone();
    let count = result["discarded"]["count"].as_u64().expect("a number");
    assert!((99_000..=100_000).contains(&count), "{count}");
}

#[needs(UserNamespace)]
#[test]
fn the_envelope_names_them() {
    let place = place();
    let script = "mkdir ../side; for n in $(seq 10 40); do echo x > ../side/$n; done";
    let words = ["exec", "-w", "fix", "--json", "--", "sh", "-c", script];
    let result = document_of(&place.run(words))["result"].clone();
    let discarded = &result["discarded"];
    assert_eq!(discarded["count"], 31);
    let paths = discarded["paths"].as_array().expect("paths");
    assert_eq!(paths.len(), 20);
    let side = place.path().canonicalize().expect("it is there").join("side/10");
    assert_eq!(paths[0], side.to_str().expect("UTF-8"));
    let nothing = document_of(&place.run(["exec", "-w", "fix", "--json", "--", "true"]));
    assert!(nothing["result"].get("discarded").is_none(), "{nothing}");
}

/// A project in `/tmp` has private neighbours too.
#[needs(UserNamespace)]
#[test]
fn a_project_outside_of_the_home_has_neighbours_too() {
    let place = place();
    let home = tempfile::tempdir().expect("a home elsewhere");
    let mut command =
        place.command(["exec", "-w", "fix", "--shell", "echo x > ../note; touch /tmp/x"]);
    let output = command.env("HOME", home.path()).output().expect("the binary runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.starts_with("1 change outside the project was not kept: ../note;"), "{said}");
}

#[needs(UserNamespace)]
#[test]
fn an_ordinary_user_is_told_too() {
    let (place, user) = (place(), User::new());
    give_away(place.path());
    let words = ["exec", "-w", "fix", "--shell", "mkdir ../new; echo x > ../new/1"];
    let output = user.command(&place, &words).output().expect("the binary runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("1 change outside the project was not kept: ../new;"), "{said}");
}
