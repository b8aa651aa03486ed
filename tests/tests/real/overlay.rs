//! Where an overlay may differ from a plain file system: each case is the same in both, or its
//! difference is pinned here and told in `docs/limits.md`.

use offshoot_needs::needs;

use crate::scene::{Scene, Who};

/// One thing that a program does to the files of [`scene`], and what it finds.
struct Case {
    name: &'static str,
    /// Python, with everything imported that the cases need. What it prints is compared.
    program: &'static str,
    /// What it prints on a plain file system; nothing where that depends on the file system.
    plain: Option<&'static str>,
    /// What it prints in a workspace.
    workspace: &'static str,
}

/// A case that is the same everywhere.
const fn same(name: &'static str, program: &'static str, prints: &'static str) -> Case {
    Case { name, program, plain: Some(prints), workspace: prints }
}

/// A case with a difference that is known and told.
const fn differs(
    name: &'static str,
    program: &'static str,
    plain: &'static str,
    workspace: &'static str,
) -> Case {
    Case { name, program, plain: Some(plain), workspace }
}

const PRELUDE: &str = r#"
import ctypes, errno, fcntl, mmap, os, select, socket, stat, struct, subprocess, sys, time
libc = ctypes.CDLL(None, use_errno=True)
def tried(action):
    try:
        action()
        return "ok"
    except OSError as error:
        return errno.errorcode[error.errno]
def put(path, text, how="w"):
    with open(path, how) as file:
        file.write(text)
def watch(path, mask):
    watcher = libc.inotify_init1(os.O_NONBLOCK)
    assert libc.inotify_add_watch(watcher, path.encode(), mask) >= 0, ctypes.get_errno()
    return watcher
def events(watcher):
    found, data = [], b""
    while select.select([watcher], [], [], 0)[0]:
        data += os.read(watcher, 65536)
    while data:
        _, mask, _, length = struct.unpack_from("iIII", data)
        found.append((mask & 0xfff, data[16:16 + length].rstrip(b"\0").decode()))
        data = data[16 + length:]
    return found
"#;

const CASES: &[Case] = &[
    same(
        "an inode keeps its number and device when it is first written",
        r#"
before = os.stat("file")
put("file", "more\n", "a")
after = os.stat("file")
print(before.st_ino == after.st_ino, before.st_dev == after.st_dev)
"#,
        "True True\n",
    ),
    same(
        "an inode keeps its number when its mode, time or attributes change",
        r#"
before = os.stat("file").st_ino
os.chmod("file", 0o600); os.utime("file", (1, 1)); os.setxattr("file", "user.a", b"b")
print(before == os.stat("file").st_ino)
"#,
        "True\n",
    ),
    same(
        "all files are on one device, and directories list the numbers that stat gives",
        r#"
put("new", "new\n"); put("file", "more\n", "a"); os.mkdir("dir/made"); os.symlink("a", "link")
for top, _, _ in os.walk("."):
    for entry in os.scandir(top):
        found = entry.stat(follow_symlinks=False)
        if entry.inode() != found.st_ino or found.st_dev != os.stat(".").st_dev:
            print(entry.path, entry.inode(), found)
print("done")
"#,
        "done\n",
    ),
    same(
        "a descriptor for reading that was opened before the first write reads what is written",
        r#"
old = os.open("file", os.O_RDONLY)
print(os.pread(old, 100, 0))
put("file", "appended\n", "a")
print(os.pread(old, 100, 0), os.fstat(old).st_size)
put("file", "short\n")
print(os.pread(old, 100, 0), os.fstat(old).st_size)
"#,
        "b'file\\n'\nb'file\\nappended\\n' 14\nb'short\\n' 6\n",
    ),
    same(
        "a reader that follows a file sees what is appended",
        r#"
tail = subprocess.Popen(["tail", "-n", "1", "-f", "file"], stdout=subprocess.PIPE)
print(tail.stdout.readline())
put("file", "appended\n", "a")
print(tail.stdout.readline())
tail.kill()
"#,
        "b'file\\n'\nb'appended\\n'\n",
    ),
    differs(
        "a shared mapping that was made before the first write keeps the old bytes",
        r#"
with open("file", "rb") as file:
    seen = mmap.mmap(file.fileno(), 0, mmap.MAP_SHARED, mmap.PROT_READ)
with open("file", "r+b") as file:
    file.write(b"FILE")
print(seen[:])
"#,
        "b'FILE\\n'\n",
        "b'file\\n'\n",
    ),
    same(
        "a shared mapping for writing and reads see each other",
        r#"
with open("file", "r+b") as file:
    seen = mmap.mmap(file.fileno(), 0)
    seen[:4] = b"FILE"
    print(open("file", "rb").read())
    os.pwrite(file.fileno(), b"four", 0)
    print(seen[:])
"#,
        "b'FILE\\n'\nb'four\\n'\n",
    ),
    same(
        "who watches a file hears of its first write, of its mode and of its end",
        r#"
watcher = watch("file", 0x2 | 0x4 | 0x8 | 0x400)
put("file", "more\n", "a"); os.chmod("file", 0o600); os.unlink("file")
print(events(watcher))
"#,
        "[(2, ''), (8, ''), (4, ''), (1024, ''), (0, '')]\n",
    ),
    same(
        "who watches a directory hears of everything in it",
        r#"
watcher = watch("dir", 0x2 | 0x40 | 0x80 | 0x100 | 0x200)
put("dir/inner", "more\n", "a"); put("dir/new", "n\n"); os.rename("dir/new", "dir/newer")
os.unlink("dir/inner"); os.rmdir("dir/empty")
print(events(watcher))
"#,
        "[(2, 'inner'), (256, 'new'), (2, 'new'), (64, 'new'), (128, 'newer'), (512, 'inner'), (512, 'empty')]\n",
    ),
    same(
        "locks hold over the first write",
        r#"
reader = os.open("file", os.O_RDONLY)
fcntl.flock(reader, fcntl.LOCK_EX)
put("file", "more\n", "a")
other = os.open("file", os.O_RDWR)
print(tried(lambda: fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)))
fcntl.flock(reader, fcntl.LOCK_UN)
fcntl.lockf(other, fcntl.LOCK_EX)
code = "import fcntl, sys\ntry: fcntl.lockf(open('file', 'r+'), fcntl.LOCK_EX | fcntl.LOCK_NB)\nexcept OSError: print('held')"
print(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout, end="")
"#,
        "EAGAIN\nheld\n",
    ),
    same(
        "hard links from before stay one file",
        r#"
first = [os.stat(name) for name in ("pair.a", "pair.b")]
put("pair.a", "more\n", "a"); os.chmod("pair.b", 0o600)
second = [os.stat(name) for name in ("pair.a", "pair.b")]
print([found.st_nlink for found in first + second], len({found.st_ino for found in second}))
print(open("pair.b").read(), oct(os.stat("pair.a").st_mode & 0o777))
os.unlink("pair.a")
print(os.stat("pair.b").st_nlink)
"#,
        "[2, 2, 2, 2] 1\npair\nmore\n 0o600\n1\n",
    ),
    differs(
        "the link count of a directory says nothing once something in it was changed",
        r#"
os.mkdir("fresh"); os.mkdir("fresh/sub")
print(os.stat("dir").st_nlink, os.stat("fresh").st_nlink)
put("dir/inner", "more\n", "a")
print(os.stat("dir").st_nlink, os.stat("fresh").st_nlink)
print(subprocess.run(["find", ".", "-type", "d"], capture_output=True, text=True).stdout.count("\n"))
"#,
        "3 3\n3 3\n5\n",
        "3 3\n1 3\n5\n",
    ),
    same(
        "a file without a name can be given one",
        r#"
unnamed = os.open(".", os.O_TMPFILE | os.O_RDWR, 0o644)
os.write(unnamed, b"unnamed\n")
assert libc.linkat(-100, f"/proc/self/fd/{unnamed}".encode(), -100, b"named", 0x400) == 0
print(open("named").read(), os.stat("named").st_nlink)
"#,
        "unnamed\n 1\n",
    ),
    same(
        "a program that runs cannot be written to",
        r#"
os.chmod("program", 0o755)
running = subprocess.Popen(["./program", "60"])
print(tried(lambda: os.open("program", os.O_WRONLY)))
running.kill(); running.wait()
print(tried(lambda: os.open("program", os.O_WRONLY)))
"#,
        "ETXTBSY\nok\n",
    ),
    same(
        "attributes that overlays use themselves are a program's own",
        r#"
for path in ("dir", "file"):
    for name in ("user.overlay.opaque", "user.overlay.metacopy", "user.overlay.redirect"):
        os.setxattr(path, name, b"y")
    print(sorted(os.listxattr(path)), os.getxattr(path, "user.overlay.opaque"))
print(sorted(os.listdir("dir")), open("file").read())
"#,
        "['user.overlay.metacopy', 'user.overlay.opaque', 'user.overlay.redirect'] b'y'\n\
         ['user.overlay.metacopy', 'user.overlay.opaque', 'user.overlay.redirect'] b'y'\n\
         ['empty', 'inner'] file\n\n",
    ),
    same(
        "holes, direct reads and copies in the kernel work",
        r#"
file = os.open("file", os.O_RDWR)
os.ftruncate(file, 1 << 20); os.pwrite(file, b"end", 1 << 20)
print(os.lseek(file, 8192, os.SEEK_DATA) > 8192, os.fstat(file).st_blocks * 512 < 1 << 19)
with open("copy", "wb") as copy:
    print(os.copy_file_range(file, copy.fileno(), 4, 0))
print(libc.fallocate(file, 3, ctypes.c_long(0), ctypes.c_long(4096)), os.pread(file, 4, 0))
direct = os.open("file", os.O_RDONLY | os.O_DIRECT)
room = mmap.mmap(-1, 4096)
print(os.preadv(direct, [room], 0))
"#,
        "True True\n4\n0 b'\\x00\\x00\\x00\\x00'\n4096\n",
    ),
    same(
        "sockets and pipes have names",
        r#"
server = socket.socket(socket.AF_UNIX); server.bind("socket"); server.listen()
client = socket.socket(socket.AF_UNIX); client.connect("socket")
os.rename("socket", "moved"); client = socket.socket(socket.AF_UNIX); client.connect("moved")
os.mkfifo("pipe"); both = os.open("pipe", os.O_RDWR); os.write(both, b"x"); print(os.read(both, 1))
print(stat.S_ISSOCK(os.stat("moved").st_mode)); os.unlink("moved"); os.unlink("pipe")
"#,
        "b'x'\nTrue\n",
    ),
    same(
        "files can be exchanged, and not replaced where that is asked for",
        r#"
def rename(old, new, flags):
    if libc.renameat2(-100, old.encode(), -100, new.encode(), flags):
        return errno.errorcode[ctypes.get_errno()]
    return "ok"
put("new", "new\n")
print(rename("file", "new", 1), rename("file", "new", 2), open("file").read(), open("new").read())
"#,
        "EEXIST ok new\n file\n\n",
    ),
    differs(
        "nobody can lay an overlay of his own over a workspace",
        r#"
for name in ("l", "u", "w", "m"): os.mkdir(name)
script = "mount -t overlay o -o userxattr,lowerdir=l,upperdir=u,workdir=w m && echo mounted"
print(subprocess.run(["unshare", "-Urm", "sh", "-c", script], capture_output=True, text=True).stdout)
"#,
        "mounted\n\n",
        "\n",
    ),
    Case {
        name: "a workspace is an overlay to those who ask",
        program: r#"print(subprocess.run(["stat", "-f", "-c", "%T", "."], capture_output=True, text=True).stdout)"#,
        plain: None,
        workspace: "overlayfs\n\n",
    },
];

fn scene(who: Who) -> Scene {
    let scene = Scene::new(who);
    scene.place.write("file", "file\n");
    scene.place.write("dir/inner", "inner\n");
    std::fs::create_dir(scene.path("dir/empty")).unwrap();
    scene.place.write("pair.a", "pair\n");
    std::fs::hard_link(scene.path("pair.a"), scene.path("pair.b")).unwrap();
    std::fs::copy("/bin/sleep", scene.path("program")).unwrap();
    scene.bind();
    scene
}

/// Every case starts from the same files, in a workspace and in a copy of the folder.
fn check(who: Who) {
    let scene = scene(who);
    let mut wrong = Vec::new();
    for (at, case) in CASES.iter().enumerate() {
        let program = format!("{PRELUDE}{}", case.program);
        let workspace = format!("case-{at}");
        scene.offshoot_ok(&["workspace", "create", &workspace]);
        let command = ["python3", "-c", &program];
        let output = scene.exec_command(&["-w", &workspace], &command).output().unwrap();
        let envelope = crate::scene::envelope_of(&output);
        let said = envelope["result"]["stdout"].as_str().unwrap_or_default();
        if said != case.workspace {
            let errors = &envelope["result"]["stderr"];
            wrong.push(format!("{}, in a workspace: {said:?} {errors}", case.name));
        }
        let Some(expected) = case.plain else { continue };
        let plain = scene.plainly_in_a_copy(&command);
        if plain.out != expected {
            wrong.push(format!("{}, plainly: {:?} {}", case.name, plain.out, plain.err));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    scene.offshoot_ok(&["vault", "check"]);
}

#[needs(Overlay, UserNamespace, "python3")]
#[test]
fn differences_are_known() {
    check(Who::Me);
}

#[needs(Overlay, UserNamespace, "python3")]
#[test]
fn differences_are_known_to_an_ordinary_user() {
    check(Who::Ordinary);
}
