//! SQLite, which wants locks, shared memory and syncs that are what they say.

use offshoot_needs::needs;

use crate::scene::{Scene, Who, exactly};

/// Several processes write to one database in WAL mode, and one that is killed in the middle.
const WRITE: &str = r#"
import os, signal, sqlite3, subprocess, sys

def connect():
    database = sqlite3.connect("data.db", timeout=60, isolation_level=None)
    database.execute("pragma synchronous=normal")
    return database

def write(who, rows):
    database = connect()
    for row in range(rows):
        database.execute("begin immediate")
        database.execute("insert into t values (?, ?, ?)", (who, row, "x" * 500))
        database.execute("commit")
        if who == "doomed":
            print(row, flush=True)

if len(sys.argv) > 1:
    write(sys.argv[1], int(sys.argv[2]))
    sys.exit()
database = connect()
print(database.execute("pragma journal_mode=wal").fetchone())
database.execute("create table if not exists t (who text, row int, pad text)")
run = lambda who, rows, **more: subprocess.Popen([sys.executable, __file__, who, str(rows)], **more)
doomed = run("doomed", 1000000, stdout=subprocess.PIPE)
writers = [run(f"writer {number}", 50) for number in range(4)]
for _ in range(20):
    doomed.stdout.readline()
doomed.send_signal(signal.SIGKILL)
print([writer.wait() for writer in writers], doomed.wait())
print(database.execute("pragma integrity_check").fetchall())
print(database.execute("select who, count(*) from t where who != 'doomed' group by who").fetchall())
print(database.execute("select count(*) >= 20 from t where who = 'doomed'").fetchall())
# No orderly end: the log stays behind for the next who opens the database.
sys.stdout.flush()
os.kill(os.getpid(), signal.SIGKILL)
"#;

const READ: &str = r#"
import os, sqlite3
database = sqlite3.connect("data.db")
print(os.path.getsize("data.db-wal") > 0)
print(database.execute("pragma integrity_check").fetchall())
print(database.execute("select who, count(*) from t where who != 'doomed' group by who").fetchall())
print(database.execute("pragma wal_checkpoint(truncate)").fetchall()[0][0])
database.execute("delete from t where who = 'doomed'")
database.commit()
database.execute("vacuum")
print(database.execute("pragma integrity_check").fetchall())
"#;

#[needs(Overlay, UserNamespace, "python3")]
#[test]
fn writers_in_wal_mode() {
    let scene = Scene::new(Who::Me);
    scene.place.write("write.py", WRITE);
    scene.place.write("read.py", READ);
    scene.bind();
    let scripts = [
        "python3 write.py || test $? = 137",
        "python3 read.py",
        // On top of what an exec before has left, and thus on files of lower layers.
        "python3 write.py || test $? = 137",
        "python3 read.py; ls",
    ];
    let said = scene.both(&scripts, exactly);
    let rows = |count: usize| format!("('writer 3', {count})");
    assert!(said[0].out.contains(&rows(50)), "{:?}", said[0]);
    assert!(said[3].out.contains(&rows(100)), "{:?}", said[3]);
    // Which writer came first is in the pages.
    scene.same_tree(|path| path.starts_with("data.db"));
}
