//! System calls that programs count on, one by one.

use offshoot_needs::needs;

use crate::scene::{Scene, Who, exactly};

/// Each function is a case; what it returns, or the name of its error, is printed.
const CASES: &str = r#"
import ctypes, errno, fcntl, mmap, multiprocessing, os, pty, select, shutil, socket, stat, sys, tempfile, time

libc = ctypes.CDLL(None, use_errno=True)

def data(path):
    with open(path, "rb") as file:
        return file.read()

def call(name, *arguments):
    if getattr(libc, name)(*arguments) < 0:
        raise OSError(ctypes.get_errno(), name)

AT = -100

def case_append_to_base():
    with open("base/one", "a") as file:
        file.write("more\n")
    return data("base/one")

def case_read_while_written():
    reader = open("base/two")
    with open("base/two", "r+") as writer:
        writer.write("TWO")
        writer.flush()
        return open("base/two").read(), os.fstat(writer.fileno()).st_size

def case_exchange():
    call("renameat2", AT, b"base/one", AT, b"base/two", 2)
    return data("base/one"), data("base/two")

def case_rename_no_replace():
    call("renameat2", AT, b"base/one", AT, b"base/two", 1)

def case_rename_over():
    open("new", "w").write("new")
    os.rename("new", "base/three")
    return data("base/three"), os.path.exists("new")

def case_unnamed_file():
    descriptor = os.open(".", os.O_TMPFILE | os.O_RDWR, 0o640)
    os.write(descriptor, b"unnamed")
    call("linkat", AT, f"/proc/self/fd/{descriptor}".encode(), AT, b"named", 0x400)
    return data("named"), oct(os.stat("named").st_mode)

def case_open_and_removed():
    file = open("base/four", "r+")
    os.unlink("base/four")
    file.write("gone")
    file.seek(0)
    return file.read(), os.path.exists("base/four"), os.fstat(file.fileno()).st_nlink

def case_shared_memory_of_a_file():
    with open("base/five", "r+b") as file:
        memory = mmap.mmap(file.fileno(), 0)
        memory[0:4] = b"FIVE"
        memory.flush()
    return data("base/five")

def hold(kind, path, ready, go):
    file = open(path, "r+")
    (fcntl.flock if kind == "flock" else fcntl.lockf)(file, fcntl.LOCK_EX)
    ready.set()
    go.wait()

def locked(kind):
    ready, go = multiprocessing.Event(), multiprocessing.Event()
    child = multiprocessing.Process(target=hold, args=(kind, "locked", ready, go))
    open("locked", "w").close()
    child.start()
    ready.wait()
    file = open("locked", "r+")
    lock = fcntl.flock if kind == "flock" else fcntl.lockf
    try:
        lock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        said = "free"
    except OSError as error:
        said = errno.errorcode[error.errno]
    go.set()
    child.join()
    lock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return said

def case_flock():
    return locked("flock")

def case_record_lock():
    return locked("lockf")

def case_attributes():
    os.setxattr("base/six", "user.note", b"value")
    os.setxattr("base", "user.folder", b"")
    return os.getxattr("base/six", "user.note"), sorted(os.listxattr("base/six")), os.listxattr("base")

def case_times():
    os.utime("base/six", ns=(1, 1_234_567_890_123_456_789))
    os.utime("base", ns=(1, 987_654_321_000_000_001))
    return os.stat("base/six").st_mtime_ns, os.stat("base").st_mtime_ns

def case_file_becomes_folder():
    os.unlink("base/seven")
    os.makedirs("base/seven/below")
    return os.listdir("base/seven")

def case_folder_becomes_file():
    shutil.rmtree("base/folder")
    open("base/folder", "w").write("file now")
    return data("base/folder")

def case_folder_is_made_anew():
    shutil.rmtree("base/again")
    os.mkdir("base/again")
    return os.listdir("base/again")

def case_new_folder_is_moved():
    os.makedirs("made/a/b")
    os.rename("made/a", "made/c")
    return os.listdir("made/c")

def case_not_empty():
    os.rmdir("base")

def case_copy_range_and_sendfile():
    with open("base/large", "rb") as source, open("copied", "wb") as target:
        first = os.copy_file_range(source.fileno(), target.fileno(), 5000)
        source.seek(5000)
        second = os.sendfile(target.fileno(), source.fileno(), 5000, 5000)
    return first, second, data("copied") == data("base/large")[:10000]

def case_allocate_and_punch():
    descriptor = os.open("punched", os.O_RDWR | os.O_CREAT)
    os.posix_fallocate(descriptor, 0, 1 << 20)
    call("fallocate", descriptor, 3, ctypes.c_long(4096), ctypes.c_long(65536))
    os.fsync(descriptor)
    return os.fstat(descriptor).st_size, os.lseek(descriptor, 0, os.SEEK_HOLE) <= 4096

def case_fifo():
    os.mkfifo("pipe")
    if os.fork() == 0:
        open("pipe", "w").write("through a pipe")
        os._exit(0)
    said = open("pipe").read()
    os.wait()
    return said

def case_socket_in_private_folder():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "socket")
        with socket.socket(socket.AF_UNIX) as server, socket.socket(socket.AF_UNIX) as client:
            server.bind(path)
            server.listen()
            client.connect(path)
            client.sendall(b"hello")
            return server.accept()[0].recv(5)

def case_loopback():
    with socket.create_server(("127.0.0.1", 0)) as server:
        with socket.create_connection(server.getsockname()) as client:
            client.sendall(b"hello")
            return server.accept()[0].recv(5)

def case_terminal():
    reading, writing = pty.openpty()
    return os.ttyname(writing).startswith("/dev/pts/"), os.isatty(writing)

def case_devices():
    open("/dev/null", "w").write("x")
    return len(open("/dev/zero", "rb").read(4)), len(open("/dev/urandom", "rb").read(4)), os.path.exists("/dev/shm")

def case_processes():
    return str(os.getpid()) in os.listdir("/proc"), os.readlink("/proc/self/cwd") == os.getcwd()

def case_pool():
    with multiprocessing.Pool(4) as pool:
        return sum(pool.map(abs, range(-100, 0)))

def case_inode_is_kept_by_reading():
    before = os.stat("base/eight").st_ino
    data("base/eight")
    return os.stat("base/eight").st_ino == before

def case_names():
    long = "n" * 255
    open(long, "w").close()
    odd = b"odd \xff\n\t*?[name"
    open(odd, "w").close()
    try:
        open("n" * 256, "w")
    except OSError as error:
        return errno.errorcode[error.errno], os.path.exists(long), odd in os.listdir(b".")

for name, case in sorted(globals().copy().items()):
    if name.startswith("case_"):
        try:
            said = case()
        except OSError as error:
            said = errno.errorcode[error.errno]
        print(name[5:], said, flush=True)
"#;

#[needs(Overlay, UserNamespace, "python3")]
#[test]
fn calls_answer_as_on_plain_files() {
    calls(Who::Me);
}

#[needs(Overlay, UserNamespace, "python3")]
#[test]
fn calls_answer_as_on_plain_files_for_an_ordinary_user() {
    calls(Who::Ordinary);
}

fn calls(who: Who) {
    let scene = Scene::new(who);
    for name in ["one", "two", "three", "four", "five", "six", "seven", "eight"] {
        scene.place.write(format!("base/{name}"), format!("{name}\n"));
    }
    scene.place.write("base/folder/below/file", "below\n");
    scene.place.write("base/again/file", "again\n");
    scene.place.write("base/large", "0123456789".repeat(2000));
    scene.place.write("cases.py", CASES);
    scene.bind();
    scene.both(&["python3 cases.py", "find . | sort; cat base/one base/two base/three"], exactly);
    scene.same_tree(|_| false);
    let kept = scene.exported();
    let time = |path: &str| kept.0[path.as_bytes()].mtime;
    assert_eq!(time("base/six"), (1_234_567_890, 123_456_789));
}
