//! Access lists: they are not kept by the vault, and nobody gets more rights by that.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use offshoot_tests::product::Place;
use rustix::fs::{XattrFlags, getxattr, setxattr};
use serde_json::Value;

const ACL: &str = "system.posix_acl_access";

/// A file whose group may do nothing, and that somebody else may read and write: the mode shows `rw-` for the group then.
fn share(path: &Path, rights: u16) {
    let none = u32::MAX;
    let entries: [(u16, u16, u32); 5] =
        [(1, 6, none), (2, rights, 1234), (4, 0, none), (16, rights, none), (32, 0, none)];
    let entries = entries.iter().flat_map(|(kind, rights, id)| {
        [&kind.to_le_bytes()[..], &rights.to_le_bytes(), &id.to_le_bytes()].concat()
    });
    let list: Vec<u8> = 2u32.to_le_bytes().into_iter().chain(entries).collect();
    fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
    setxattr(path, ACL, &list, XattrFlags::empty()).unwrap();
    assert_eq!(mode(path), 0o600 | u32::from(rights) << 3);
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

/// The list of a file; none where it has none.
fn list(path: &Path) -> Option<Vec<u8>> {
    let mut list = [0; 256];
    getxattr(path, ACL, &mut list).ok().map(|length| list[..length].to_vec())
}

#[test]
fn the_group_of_a_file_gets_no_rights_that_it_did_not_have() {
    let place = Place::new();
    let at = |name: &str| place.project().join(name);
    for name in ["kept", "moved", "gone", "touched"] {
        place.write(name, "secret\n");
        share(&at(name), 6);
    }
    let before = list(&at("kept"));
    place.ok(["init"]);
    let change = "mv moved moved2; rm gone; echo more >> kept; chmod u+x touched";
    place.ok(["exec", "-w", "a", "--", "sh", "-c", change]);
    let status = place.json(&["status", "-w", "a"]);
    assert_eq!(status["outdated"], Value::Null, "{status}");
    place.ok(["commit", "-w", "a"]);
    // It is another file now, without the list.
    assert_eq!((mode(&at("moved2")), list(&at("moved2"))), (0o600, None));
    // Those that keep their list keep what it gives.
    assert_eq!((mode(&at("kept")), list(&at("kept"))), (0o660, before.clone()));
    assert_eq!(mode(&at("touched")), 0o760);

    // Nothing of that is a change: neither of the folder nor of the workspace.
    let pulled = place.json(&["pull", "-w", "a"]);
    assert_eq!(pulled["operation"], Value::Null, "{pulled}");
    let status = place.json(&["status", "-w", "a"]);
    assert_eq!(status["changes"], serde_json::json!([]), "{status}");

    place.ok(["undo", "-w", "a"]);
    for name in ["moved", "gone"] {
        assert_eq!((mode(&at(name)), list(&at(name))), (0o600, None), "{name}");
    }
    assert_eq!((mode(&at("kept")), list(&at("kept"))), (0o660, before.clone()));
    assert_eq!((mode(&at("touched")), list(&at("touched"))), (0o660, before));
}

/// The mode of a file that is not read again is recorded as it was.
#[test]
fn a_file_that_is_known_is_recorded_as_before() {
    let place = Place::new();
    for number in 0..50 {
        place.write(format!("{number}"), number.to_string());
        share(&place.project().join(number.to_string()), 6);
    }
    // Younger files are read again in any case.
    std::thread::sleep(std::time::Duration::from_millis(50));
    place.ok(["init"]);
    super::fork(&place, "a");
    place.ok(["exec", "-w", "a", "--", "sh", "-c", "test $(stat -c %a 7) = 600"]);
    place.write("new", "new\n");
    place.ok(["pull", "-w", "a"]);
    place.ok(["exec", "-w", "a", "--", "sh", "-c", "test -e new && test $(stat -c %a 7) = 600"]);
}
