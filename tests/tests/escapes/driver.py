"""Makes attempts to escape, one after the other, and says how each ended: by a line of JSON.

The list comes on standard input. The same program runs inside a workspace and, to show that an attempt is a real one, on the host.
An attempt that ends with 0 got through.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile

PRELUDE = """
import ctypes, errno, fcntl, glob, json, mmap, os, signal, socket, struct, subprocess, sys, time
libc = ctypes.CDLL(None, use_errno=True)
space = ctypes.create_string_buffer(65536)
address = ctypes.addressof(space)
env = os.environ
SYS = json.loads(env["CALLS"])
def call(name, *words):
    "A system call by its name; an error is an OSError."
    words = [ctypes.c_char_p(word) if isinstance(word, bytes) else ctypes.c_long(word) for word in words]
    ctypes.set_errno(0)
    got = libc.syscall(ctypes.c_long(SYS[name]), *words)
    if got == -1:
        raise OSError(ctypes.get_errno(), name)
    return got
def told(kind, error, trace):
    print(errno.errorcode.get(getattr(error, "errno", None), kind.__name__), error)
    sys.exit(1)
sys.excepthook = told
def refused(why):
    print(why)
    sys.exit(1)
def secret(text):
    "Ends the attempt: it got through if the text has the secret."
    text = text.decode(errors="replace") if isinstance(text, bytes) else text
    print(text)
    sys.exit("canary-" not in text)
def writable(path):
    "Opens a file to write to it, and writes nothing."
    os.close(os.open(path, os.O_WRONLY))
def victim():
    "What was done was done to the process of the host, and not to one that has the same number here."
    if b"host.py" not in open("/proc/%s/cmdline" % env["VICTIM"], "rb").read():
        raise ProcessLookupError(errno.ESRCH, "another process")
def peer(family, target, said=b""):
    "Talks to somebody who answers with the secret."
    with socket.socket(family) as it:
        it.settimeout(5)
        it.connect(target)
        if said: it.sendall(said)
        answer = b""
        while got := it.recv(4096): answer += got
        secret(answer)
def proxied(said, more=b""):
    "What the network proxy answers."
    with socket.create_connection(("127.0.0.1", 3128), 5) as it:
        it.sendall(said)
        answer = it.recv(65536)
        if more and b" 200 " in answer.split(b"\\r\\n")[0]:
            it.sendall(more)
            answer = b""
        while got := it.recv(65536):
            answer += got
    secret(answer)
"""


def words(attempt):
    if "sh" in attempt:
        return ["sh", "-c", attempt["sh"]]
    return [sys.executable, "-c", PRELUDE + attempt["python"]]


def made(attempt, environment):
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(
            words(attempt),
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=subprocess.STDOUT,
            close_fds=False,
            env=environment,
            start_new_session=True,
        )
        try:
            code = process.wait(attempt.get("seconds", 20))
        except subprocess.TimeoutExpired:
            code = "timeout"
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except OSError:
            pass
        process.wait()
        said.seek(0)
        return {"name": attempt["name"], "code": code, "output": said.read(65536).decode(errors="replace")}


def main():
    batch = json.load(sys.stdin)
    environment = dict(os.environ, **batch["environment"])
    for attempt in batch["attempts"]:
        print(json.dumps(made(attempt, environment)), flush=True)


main()
