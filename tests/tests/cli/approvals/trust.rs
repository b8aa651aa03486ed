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

/// What is said of what somebody wrote without the vault's key.
const NOT_WRITTEN: &str = "was not written by this vault";

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
        (&id, genuine.replace("\"command\":\"rm a\"", "\"command\":\"rm b\""), NOT_WRITTEN),
        (
            &waits,
            stored(&place, &waits).replace("\"state\":\"pending\"", "\"state\":\"granted\""),
            "is not pending: it is gone",
        ),
        (&waits, stored(&place, &waits).replace("127.0.0.1:9", "127.0.0.1:8"), NOT_WRITTEN),
    ];
    for (id, forged, why) in forged {
        let genuine = stored(&place, id);
        assert_ne!(genuine, forged);
        write(&place, id, &forged);
        let refused = place.json_error(&["approvals", "approve", id], 4);
        let told = refused["message"].as_str().unwrap();
        assert!(told.contains(why), "{refused}");
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
    // What stayed is not missed where the vault arrived, neither approvals nor folders.
    let verify = ["audit", "verify", "--vault", "project"];
    let verified = place.json(&[&verify[..], &home[..]].concat());
    assert_eq!(verified["differences"], Value::Null, "{verified}");
    let former = place.ok(["audit", "key"]);
    let by_former = [&verify[..], &["--key", former.trim(), "--json"], &home[..]].concat();
    let refused = document_of(&place.run(by_former));
    let problem = refused["result"]["problem"].as_str().unwrap();
    assert!(problem.contains("neither the key that is trusted"), "{refused}");
    // What was decided needs no variables any more.
    place.ok(["approvals", "deny", &id]);
    assert!(!stored(&place, &id).contains("kept-for-later"));
}

/// Reads and writes rows of any table: values in hexadecimal digits, with a letter for their kind.
const ROWS: &str = "import sqlite3, sys
catalog = sqlite3.connect(sys.argv[1], isolation_level=None)
def shown(value):
    if value is None: return 'n'
    if isinstance(value, int): return 'i%d' % value
    return ('b' + value.hex()) if isinstance(value, bytes) else ('t' + value.encode().hex())
def meant(word):
    if word[0] == 'n': return None
    if word[0] == 'i': return int(word[1:])
    value = bytes.fromhex(word[1:])
    return value if word[0] == 'b' else value.decode()
for row in catalog.execute(sys.argv[2], [meant(word) for word in sys.argv[3:]]):
    print(' '.join(map(shown, row)))
";

fn rows(place: &Place, sql: &str, values: &[String]) -> Vec<Vec<String>> {
    let mut vaults = fs::read_dir(place.home().join("vaults")).unwrap();
    let catalog = vaults.next().unwrap().unwrap().path().join("catalog.db");
    let mut python = Command::new("python3");
    let output = python.args(["-c", ROWS]).arg(catalog).arg(sql).args(values).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(|line| line.split(' ').map(str::to_owned).collect()).collect()
}

/// The hash that a row of a table carries over these values, as a value.
fn sum_of(table: &str, values: &[String]) -> String {
    let mut hasher = blake3::Hasher::new_derive_key("offshoot v1 row");
    let mut bytes = |tag: u8, bytes: &[u8]| {
        hasher.update(&[tag]).update(&(bytes.len() as u64).to_le_bytes()).update(bytes);
    };
    bytes(0, table.as_bytes());
    let unhex = |text: &str| -> Vec<u8> {
        let pairs = (0..text.len()).step_by(2);
        pairs.map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
    };
    for value in values {
        match value.split_at(1) {
            ("n", _) => bytes(1, &[]),
            ("i", number) => bytes(2, &number.parse::<i64>().unwrap().to_le_bytes()),
            ("t", text) => bytes(4, &unhex(text)),
            (_, blob) => bytes(5, &unhex(blob)),
        }
    }
    format!("b{}", hasher.finalize().to_hex())
}

const SNAPSHOT: &str = "id, root, content, parents, time_ms, actor, reason, message, operation";

/// Has one snapshot name the files of another, as somebody would who can write to the catalog.
fn swap(place: &Place, of: &str, by: &str) {
    let read = |which: &str| {
        let sql = format!("SELECT {SNAPSHOT} FROM snapshots WHERE {which} ORDER BY id DESC");
        rows(place, &sql, &[])[0].clone()
    };
    let (mut swapped, other) = (read(of), read(by));
    (swapped[1], swapped[2]) = (other[1].clone(), other[2].clone());
    let sum = sum_of("snapshots", &swapped);
    let sql = "UPDATE snapshots SET root = ?, content = ?, sum = ? WHERE id = ?";
    let values = [swapped[1].clone(), swapped[2].clone(), sum, swapped[0].clone()];
    rows(place, sql, &values);
}

/// What was signed are the files, not the name of a row.
#[needs("python3")]
#[test]
fn other_files_under_the_same_snapshot_are_refused() {
    let place = project();
    place.ok(["workspace", "create", "fix"]);
    let worse = asked(&place, &["-w", "fix"], &["rm", "-r", "a", "b", "c", "sub"]);
    place.ok(["approvals", "deny", &worse]);
    let id = asked(&place, &["-w", "fix"], &["rm", "a"]);
    assert_eq!(place.json(&["audit", "verify"])["differences"], Value::Null);
    let meant = "reason = 'trial' AND message = 'rm a'";
    swap(&place, meant, "reason = 'trial' AND message LIKE 'rm -r%'");
    let refused = place.json_error(&["approvals", "approve", &id], 5);
    assert!(refused["message"].as_str().unwrap().contains("other files"), "{refused}");
    // What the hint names finds it.
    assert!(refused["hint"].as_str().unwrap().contains("offshoot audit verify"), "{refused}");
    let found = answered(&place.run(["audit", "verify", "--json"]), 5)["result"].clone();
    let told = found["differences"].to_string();
    assert!(told.contains("has other files than the log says"), "{found}");
    assert!(cat(&place, "fix", "/a").is_some() && cat(&place, "fix", "/b").is_some());
}

/// A workspace that stands elsewhere than the log says, and a snapshot that has other files, are named by it.
#[needs("python3")]
#[test]
fn the_log_knows_where_workspaces_stand() {
    let place = project();
    place.ok(["workspace", "create", "fix"]);
    exec(&place, 0, &["-w", "fix"], &["sh", "-c", "echo x > x"]);
    exec(&place, 0, &["-w", "fix"], &["sh", "-c", "echo y > y"]);
    place.ok(["workspace", "create", "gone"]);
    place.ok(["workspace", "delete", "gone"]);
    place.ok(["undo", "-w", "fix"]);
    place.ok(["redo", "-w", "fix"]);
    assert_eq!(place.json(&["audit", "verify"])["differences"], Value::Null);
    // The files of the newest snapshot are those of the one before.
    swap(&place, "1 = 1", "root NOT IN (SELECT root FROM snapshots ORDER BY id DESC LIMIT 1)");
    let verified = |code| {
        let output = place.run(["audit", "verify", "--json"]);
        answered(&output, code)["result"].clone()
    };
    let found = verified(5);
    let told = found["differences"][0].as_str().unwrap();
    assert!(told.contains("workspace fix") && told.contains("other files"), "{found}");
    let text = place.run(["audit", "verify"]);
    let text = String::from_utf8_lossy(&text.stdout).into_owned();
    assert!(text.contains("the vault is not what its log says: workspace fix"), "{text}");
    // A workspace that was moved by hand.
    let columns = "kind, id, scope, name, value";
    let sql = format!("SELECT {columns} FROM refs WHERE kind = 'workspace'");
    let row = rows(&place, &sql, &[])[0].clone();
    let text = |value: &str| {
        let hex: Vec<char> = value[1..].chars().collect();
        let byte =
            |pair: &[char]| u8::from_str_radix(&pair.iter().collect::<String>(), 16).unwrap();
        String::from_utf8(hex.chunks(2).map(byte).collect()).unwrap()
    };
    let state: Value = serde_json::from_str(&text(&row[4])).unwrap();
    let moved =
        text(&row[4]).replace(state["head"].as_str().unwrap(), state["base"].as_str().unwrap());
    let moved: String = moved.bytes().map(|byte| format!("{byte:02x}")).collect();
    let moved = [&row[..4], &[format!("t{moved}")]].concat();
    let values = [moved[4].clone(), sum_of("refs", &moved), moved[1].clone()];
    rows(&place, "UPDATE refs SET value = ?, sum = ? WHERE kind = 'workspace' AND id = ?", &values);
    let found = verified(5);
    let told = found["differences"].to_string();
    assert!(
        told.contains("workspace fix is at snapshot") && told.contains("the log says"),
        "{told}"
    );
}

/// Nobody rewrites who made a state of files, when, why and from what.
#[needs("python3")]
#[test]
fn the_log_knows_what_snapshots_say() {
    let place = project();
    place.ok(["workspace", "create", "fix"]);
    exec(&place, 0, &["-w", "fix"], &["sh", "-c", "echo x > x"]);
    place.ok(["commit", "-w", "fix", "-m", "Work"]);
    let found = |code| {
        let output = place.run(["audit", "verify", "--json"]);
        answered(&output, code)["result"]["differences"].clone()
    };
    assert_eq!(found(0), Value::Null);
    let sql = format!("SELECT {SNAPSHOT} FROM snapshots ORDER BY id DESC LIMIT 1");
    let genuine = rows(&place, &sql, &[])[0].clone();
    let names: Vec<&str> = SNAPSHOT.split(", ").collect();
    let text = |text: &str| {
        format!("t{}", text.bytes().map(|byte| format!("{byte:02x}")).collect::<String>())
    };
    let actor = text("{\"user\":\"somebody\"}");
    for (name, value) in [
        ("actor", actor),
        ("message", text("Other work")),
        ("reason", text("merge")),
        ("time_ms", "i1".to_owned()),
        ("parents", "b".to_owned()),
        ("operation", format!("b{}", "7f".repeat(16))),
    ] {
        let at = names.iter().position(|column| *column == name).unwrap();
        let write = |row: &[String]| {
            let sum = sum_of("snapshots", row);
            let sql = format!("UPDATE snapshots SET {name} = ?, sum = ? WHERE id = ?");
            rows(&place, &sql, &[row[at].clone(), sum, row[0].clone()]);
        };
        let mut forged = genuine.clone();
        forged[at] = value;
        write(&forged);
        let told = found(5);
        assert_eq!(told.as_array().map(Vec::len), Some(1), "{name}: {told}");
        assert!(told.to_string().contains("is not what the log says"), "{name}: {told}");
        write(&genuine);
    }
    assert_eq!(found(0), Value::Null);
}

/// What refs name has to be there; what was collected is no difference.
#[needs("python3")]
#[test]
fn the_log_knows_that_snapshots_are_there() {
    let place = project();
    place.ok(["workspace", "create", "fix"]);
    exec(&place, 0, &["-w", "fix"], &["sh", "-c", "echo x > x"]);
    exec(&place, 0, &["-w", "fix"], &["sh", "-c", "echo y > y"]);
    place.ok(["gc", "--keep-operations", "0", "--keep-age", "0s"]);
    place.ok(["audit", "verify"]);
    rows(&place, "DELETE FROM snapshots WHERE id = (SELECT max(id) FROM snapshots)", &[]);
    let found = answered(&place.run(["audit", "verify", "--json"]), 5)["result"].clone();
    let told = found["differences"].to_string();
    assert!(told.contains("workspace fix: snapshot ") && told.contains("is gone"), "{found}");
}

/// Whoever writes to the catalog without the vault's key has undo do nothing else unseen, and commit write nowhere else.
#[needs("python3")]
#[test]
fn the_log_knows_operations_and_folders() {
    let place = project();
    place.ok(["workspace", "create", "fix"]);
    exec(&place, 0, &["-w", "fix"], &["sh", "-c", "echo x > x"]);
    place.ok(["checkpoint", "create", "half", "-w", "fix"]);
    exec(&place, 0, &["-w", "fix"], &["sh", "-c", "echo y > y"]);
    place.ok(["undo", "-w", "fix"]);
    place.ok(["redo", "-w", "fix"]);
    place.ok(["commit", "-w", "fix", "-m", "Work"]);
    let verified = |code| {
        let output = place.run(["audit", "verify", "--json"]);
        answered(&output, code)["result"]["differences"].to_string()
    };
    assert_eq!(verified(0), "null");
    // An operation like the newest one, under another id.
    let columns = "seq, id, time_ms, actor, kind, scope, summary, reverts, changes";
    let sql = format!("SELECT {columns} FROM operations ORDER BY seq DESC LIMIT 1");
    let mut forged = rows(&place, &sql, &[])[0].clone();
    forged[0] = format!("i{}", forged[0][1..].parse::<i64>().unwrap() + 1);
    forged[1] = format!("b{}", "7f".repeat(16));
    let sum = sum_of("operations", &forged);
    let insert = format!("INSERT INTO operations ({columns}, sum) VALUES (?,?,?,?,?,?,?,?,?,?)");
    rows(&place, &insert, &[&forged[..], &[sum]].concat());
    let told = verified(5);
    assert!(told.contains("operation 3") && told.contains("no event says so"), "{told}");
    rows(&place, "DELETE FROM operations WHERE id = ?", &[forged[1].clone()]);
    assert_eq!(verified(0), "null");
    for kind in ["checkpoint", "binding"] {
        rows(&place, &format!("DELETE FROM refs WHERE kind = '{kind}'"), &[]);
        let told = verified(5);
        let is_told = told.contains(kind) && told.contains("is gone, and no event says so");
        assert!(is_told, "{kind}: {told}");
    }
}

/// An approval that was decided, or waits, does not vanish from the vault unseen.
#[needs("python3")]
#[test]
fn the_log_knows_which_approvals_there_are() {
    let place = project();
    place.ok(["workspace", "create", "fix"]);
    let granted = asked(&place, &["-w", "fix"], &["rm", "a"]);
    place.ok(["approvals", "approve", &granted]);
    let waits = asked(&place, &["-w", "fix"], &["rm", "b"]);
    place.ok(["audit", "rotate"]);
    let verified = |code| {
        let output = place.run(["audit", "verify", "--json"]);
        answered(&output, code)["result"]["differences"].to_string()
    };
    assert_eq!(verified(0), "null");
    for id in [granted, waits] {
        rows(&place, &format!("DELETE FROM refs WHERE kind = 'approval' AND id = '{id}'"), &[]);
        let told = verified(5);
        assert!(told.contains(&format!("approval {id} is gone, and no event says so")), "{told}");
    }
}

/// A rule that is exact about a text for the shell says nothing about one with arguments, and none is proposed that names only a file.
#[test]
fn rules_without_walls_name_the_whole_command() {
    let place = project();
    let text = "id; echo x > walls.txt";
    let open = |command: &[&str]| {
        let all = [&["exec", "--json", "-w", "wall", "--sandbox", "none", "--"], command].concat();
        document_of(&place.run(all))["result"].clone()
    };
    let stopped = open(&["sh", "-c", text]);
    assert_eq!(stopped["state"], "pending_approval", "{stopped}");
    assert_eq!(stopped["decision"]["remedy"]["rule"], Value::Null, "{stopped}");
    let stopped = open(&["sh", "-c", "id"]);
    let rule = stopped["decision"]["remedy"]["rule"].as_str().unwrap();
    set_rules(&place, &format!("version = 1\n{rule}"));
    assert_eq!(open(&["sh", "-c", "id"])["state"], "completed", "{rule}");
    for other in [&["sh", "-c", "id", "x", "y"][..], &["sh", "-c", "id -u"], &["sh", "-c", text]] {
        assert_eq!(open(other)["state"], "pending_approval", "{other:?} {rule}");
    }
    let stopped = open(&["sh", "-c", "id", "x", "y"]);
    assert_eq!(stopped["decision"]["remedy"]["rule"], Value::Null, "{stopped}");
}
