//! Changes of owners, attributes and links alone: programs are told of each, and people where to look.

use std::fs::File;

use offshoot_needs::needs;
use offshoot_tests::product::Place;
use rustix::fs::{XattrFlags, fsetxattr, listxattr};
use serde_json::{Value, json};

/// Gives a file of the folder an attribute.
fn mark(place: &Place, name: &str) {
    let file = File::open(place.project().join(name)).unwrap();
    fsetxattr(&file, "user.mark", b"here", XattrFlags::CREATE).unwrap();
}

/// Paths of changes of metadata, with what changed.
fn told(document: &Value) -> Vec<(Value, Value)> {
    let changes = document["metadata_changes"].as_array().unwrap().iter();
    changes.map(|it| (it["path"].clone(), it["metadata"].clone())).collect()
}

#[needs(UserNamespace)]
#[test]
fn a_commit_of_attributes_alone_says_what_it_changes() {
    let place = Place::new();
    place.write("marked", "same\n");
    mark(&place, "marked");
    place.ok(["init"]);
    // A plain copy has neither the attribute nor the time.
    let script = "sleep 0.01; cp marked copy; mv copy marked";
    place.ok(["exec", "-w", "fix", "--", "sh", "-c", script]);
    let expected = [(json!("/marked"), json!(["time", "attributes"]))];
    let listed = place.json(&["review", "-w", "fix", "--list"]);
    assert_eq!((told(&listed), &listed["items"]), (expected.to_vec(), &json!([])), "{listed}");
    let dry = place.json(&["commit", "-w", "fix", "--dry-run"]);
    assert_eq!((told(&dry), &dry["changes"]), (expected.to_vec(), &json!([])), "{dry}");
    let status = place.ok(["status", "-w", "fix", "--metadata"]);
    assert!(status.contains("T /marked  (time, attributes)\n"), "{status}");
    let done = place.json(&["commit", "-w", "fix"]);
    assert_eq!(told(&done), expected, "{done}");
    assert_eq!(
        (&done["message"], &done["committed"]),
        (&json!("fix: metadata only"), &json!(true))
    );
    assert_eq!(
        place.json(&["op", "log"])["operations"][0]["summary"],
        "commit fix (metadata only)"
    );
}

#[test]
fn a_pull_of_attributes_alone_says_what_it_changes() {
    let place = Place::new();
    place.write("marked", "same\n");
    place.write("dir/file", "same\n");
    place.ok(["init"]);
    place.ok(["workspace", "create", "fix"]);
    mark(&place, "marked");
    mark(&place, "dir");
    let pulled = place.json(&["pull", "-w", "fix"]);
    let expected = [("/dir", "attributes"), ("/marked", "attributes")];
    let expected = expected.map(|(path, what)| (json!(path), json!([what])));
    assert_eq!((told(&pulled), &pulled["changes"]), (expected.to_vec(), &json!([])), "{pulled}");
}

/// Every change beside the content of a file is told with it.
#[needs(UserNamespace)]
#[test]
fn a_change_of_content_says_what_else_changed() {
    let place = Place::new();
    place.write("marked", "before\n");
    mark(&place, "marked");
    place.ok(["init"]);
    let script = "echo after > copy; mv copy marked; echo new > new";
    place.ok(["exec", "-w", "fix", "--", "sh", "-c", script]);
    let dry = place.json(&["commit", "-w", "fix", "--dry-run"]);
    let of = |path: &str| {
        let mut changes = dry["changes"].as_array().unwrap().iter();
        changes.find(|change| change["path"] == path).unwrap()["metadata"].clone()
    };
    assert_eq!((of("/marked"), of("/new")), (json!(["attributes"]), Value::Null), "{dry}");
    assert_eq!(dry["metadata_changes"], Value::Null, "the time of a directory is no news: {dry}");
}

/// What an overlay file system would obey, if the folder were a layer of one, never gets there; what the folder has of its own stays.
#[needs(UserNamespace, "python3")]
#[test]
fn attributes_that_overlays_obey_stay_in_the_workspace() {
    let place = Place::new();
    place.write("own", "1\n");
    place.write("plain", "1\n");
    let own = File::open(place.project().join("own")).unwrap();
    fsetxattr(&own, "user.overlay.origin", b"mine", XattrFlags::CREATE).unwrap();
    place.ok(["init"]);
    let script = "import os\n\
        os.makedirs('new/deep')\n\
        for path in ['own', 'plain', 'new', 'new/deep', 'new/deep/file']:\n\
        \x20   if path != 'new' and path != 'new/deep': open(path, 'a').write('2\\n')\n\
        \x20   os.setxattr(path, 'user.overlay.redirect', b'/elsewhere')\n\
        \x20   os.setxattr(path, 'user.fuseoverlayfs.opaque', b'y')\n\
        \x20   os.setxattr(path, 'user.mark', b'here')\n";
    place.ok(["exec", "-w", "fix", "--", "python3", "-c", script]);
    // A path that was asked for brings its directories, and `--take` takes no attributes.
    let said = place.ok(["commit", "-w", "fix", "--only", "new/deep/file", "--take", "new"]);
    assert!(said.contains("stays: 1 file (extended attributes that an overlay"), "{said}");
    let document = place.json(&["commit", "-w", "fix"]);
    let held = document["held"].as_array().unwrap().iter();
    let held: Vec<_> =
        held.filter(|it| it["reason"] == "attributes").map(|it| &it["path"]).collect();
    assert!(held.contains(&&json!("/own")) && held.contains(&&json!("/plain")), "{document}");
    let names = |path: &str| {
        let mut list = vec![0; 1024];
        let length = listxattr(place.project().join(path), list.as_mut_slice()).unwrap();
        let names =
            list[..length].split(|byte| *byte == 0).filter(|name| name.starts_with(b"user."));
        let mut names: Vec<_> =
            names.map(|name| String::from_utf8(name.to_vec()).unwrap()).collect();
        names.sort();
        names
    };
    assert_eq!(names("own"), ["user.mark", "user.overlay.origin"]);
    for path in ["plain", "new", "new/deep", "new/deep/file"] {
        assert_eq!(names(path), ["user.mark"], "{path}");
    }
    assert_eq!(std::fs::read_to_string(place.project().join("plain")).unwrap(), "1\n2\n");
    place.ok(["undo", "-w", "fix"]);
    assert_eq!(names("own"), ["user.overlay.origin"]);
}
