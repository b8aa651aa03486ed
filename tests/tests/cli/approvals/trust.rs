//! A grant is one that this vault wrote, for one request, once.

use offshoot_needs::needs;

use super::*;

/// Does something to the catalog that no program of the product would.
const MEDDLER: &str = "import sqlite3, sys
catalog = sqlite3.connect(sys.argv[1], isolation_level=None)
which = \"kind = 'approval' AND id = ?\"
if len(sys.argv) == 3:
    print('\\n'.join(catalog.execute('SELECT scope, value FROM refs WHERE ' + which, [sys.argv[2]]).fetchone()))
else:
    row = [sys.argv[3], bytes.fromhex(sys.argv[4]), sys.argv[2]]
    catalog.execute('UPDATE refs SET value = ?, sum = ? WHERE ' + which, row)
";

fn meddle(place: &Place, arguments: &[&str]) -> String {
    let mut vaults = fs::read_dir(place.home().join("vaults")).unwrap();
    let catalog = vaults.next().unwrap().unwrap().path().join("catalog.db");
    let mut python = Command::new("python3");
    let output = python.args(["-c", MEDDLER]).arg(catalog).args(arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The hash that a row of refs carries over itself.
fn sum(values: &[Option<&str>]) -> Vec<u8> {
    let mut hasher = blake3::Hasher::new_derive_key("offshoot v1 row");
    let mut bytes = |tag: u8, bytes: &[u8]| {
        hasher.update(&[tag]).update(&(bytes.len() as u64).to_le_bytes()).update(bytes);
    };
    bytes(0, b"refs");
    for value in values {
        match value {
            Some(text) => bytes(4, text.as_bytes()),
            None => bytes(1, &[]),
        }
    }
    hasher.finalize().as_bytes().to_vec()
}

/// The workspace of a stored approval, and its text.
fn row(place: &Place, id: &str) -> (String, String) {
    let found = meddle(place, &[id]);
    let (scope, value) = found.trim_end().split_once('\n').unwrap();
    (scope.to_owned(), value.to_owned())
}

fn stored(place: &Place, id: &str) -> String {
    row(place, id).1
}

/// Writes a row as somebody would who can write to the catalog, hashes and all.
fn write(place: &Place, id: &str, value: &str) {
    let scope = row(place, id).0;
    let hash = sum(&[Some("approval"), Some(id), Some(&scope), None, Some(value)]);
    let hash: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
    meddle(place, &[id, value, &hash]);
}

/// Whoever writes to the catalog without the vault's key can approve of nothing, and alter nothing that waits.
#[needs("python3")]
#[test]
fn what_somebody_forged_is_refused() {
    let place = project();
    place.ok(["workspace", "create", "fix"]);
    let id = asked(&place, &["-w", "fix"], &["rm", "a"]);
    let genuine = stored(&place, &id);
    let remote = ["curl", "-X", "DELETE", "http://127.0.0.1:9/"];
    let waits = asked(&place, &["--net", "host", "-w", "fix"], &remote);
    let forged = [
        // Another effect under the same name.
        (&id, genuine.replace("\"command\":\"rm a\"", "\"command\":\"rm b\"")),
        (&waits, stored(&place, &waits).replace("\"state\":\"pending\"", "\"state\":\"granted\"")),
        (&waits, stored(&place, &waits).replace("127.0.0.1:9", "127.0.0.1:8")),
    ];
    for (id, forged) in forged {
        let genuine = stored(&place, id);
        assert_ne!(genuine, forged);
        write(&place, id, &forged);
        let refused = place.run(["approvals", "approve", "--json", id]);
        assert_eq!(refused.status.code(), Some(4), "{}", String::from_utf8_lossy(&refused.stdout));
        assert!(cat(&place, "fix", "/a").is_some());
        write(&place, id, &genuine);
    }
    place.ok(["approvals", "approve", &id]);
    assert_eq!(cat(&place, "fix", "/a"), None);
}

/// A grant that was used is not given again by putting its record back.
#[needs("curl", "python3")]
#[test]
fn a_used_grant_cannot_be_replayed() {
    let place = project();
    place.ok(["workspace", "create", "fix"]);
    let remote = ["curl", "-s", "-X", "DELETE", "http://127.0.0.1:9/"];
    let id = asked(&place, &["--net", "host", "-w", "fix"], &remote);
    let before = stored(&place, &id);
    let ran = place.run(["approvals", "approve", "--json", &id]);
    assert_eq!(document_of(&ran)["result"]["decided"][0]["exec"]["result"]["state"], "completed");
    write(&place, &id, &before);
    let again = place.run(["approvals", "approve", "--json", &id]);
    let said = String::from_utf8_lossy(&again.stdout).into_owned();
    assert!(!said.contains("\"state\":\"completed\""), "{said}");
    // The same for what was tried.
    let id = asked(&place, &["-w", "fix"], &["rm", "a"]);
    let before = stored(&place, &id);
    place.ok(["approvals", "deny", &id]);
    write(&place, &id, &before);
    place.json_error(&["approvals", "approve", &id], 4);
    assert!(cat(&place, "fix", "/a").is_some());
}

/// No approval leaves with a vault, nor a byte of it.
#[needs("python3")]
#[test]
fn approvals_stay_on_their_machine() {
    let place = project();
    let remote = ["curl", "-X", "DELETE", "http://127.0.0.1:9/"];
    let id = asked(&place, &["--net", "host", "-e", "TOKEN=kept-for-later"], &remote);
    assert!(stored(&place, &id).contains("kept-for-later"));
    let file = place.path().join("vault.offshoot");
    place.ok(["vault", "export", file.to_str().unwrap()]);
    let bytes = fs::read(&file).unwrap();
    let secret = b"kept-for-later";
    assert!(!bytes.windows(secret.len()).any(|part| part == secret), "a variable left");
    let home = place.path().join("other");
    let home = ["--home", home.to_str().unwrap()];
    place.ok([&["vault", "import", file.to_str().unwrap()], &home[..]].concat());
    let listed =
        place.json(&[&["approvals", "list", "--all", "--vault", "project"], &home[..]].concat());
    assert_eq!(listed["approvals"].as_array().unwrap().len(), 0, "{listed}");
    assert_eq!(approval(&place, &id)["state"], "pending");
    // What was decided needs no variables any more.
    place.ok(["approvals", "deny", &id]);
    assert!(!stored(&place, &id).contains("kept-for-later"));
}
