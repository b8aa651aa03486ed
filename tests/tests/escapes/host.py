"""The host's side of the scene: a process with a secret, and servers that answer with it.

Prints where everything is, and ends with its standard input. Whoever talks to it is written down.
"""

import ctypes
import http.server
import json
import os
import socket
import sys
import threading

secret, neighbour, token = os.environ["SECRET"], sys.argv[1], sys.argv[2]
log = open(os.path.join(neighbour, "log"), "a", buffering=1)


def answering(listener, name):
    def serve():
        while True:
            peer, _ = listener.accept()
            log.write(name + "\n")
            peer.sendall(secret.encode())
            peer.close()

    listener.listen()
    threading.Thread(target=serve, daemon=True).start()
    return listener


def bound(family, address):
    it = socket.socket(family)
    it.bind(address)
    return it


def datagrams(it):
    while True:
        text, peer = it.recvfrom(4096)
        log.write("udp\n")
        it.sendto(secret.encode(), peer)


def lines(path):
    # Open for both, so that it never ends.
    with open(os.open(path, os.O_RDWR), "rb", buffering=0) as pipe:
        while pipe.read(4096):
            log.write("fifo\n")


class Web(http.server.BaseHTTPRequestHandler):
    """The host that is allowed: it believes what a request says about itself, as many servers do."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        text = "hello"
        if self.path == "/redirect":
            self.send_response(302)
            self.send_header("Location", "http://127.0.0.1:%d/" % other.server_port)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        if self.path == "/hidden" or self.headers.get("Host", "").startswith("internal.test"):
            log.write("hidden " + self.path + "\n")
            text = secret
        self.send_response(200)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())

    do_POST = do_GET

    def log_message(self, *words):
        pass


class Other(Web):
    """A host that nobody allowed."""

    def do_GET(self):
        log.write("other\n")
        self.send_response(200)
        self.send_header("Content-Length", str(len(secret)))
        self.end_headers()
        self.wfile.write(secret.encode())

    do_POST = do_GET


allowed = http.server.ThreadingHTTPServer(("127.0.0.2", 0), Web)
other = http.server.ThreadingHTTPServer(("0.0.0.0", 0), Other)
for server in (allowed, other):
    threading.Thread(target=server.serve_forever, daemon=True).start()

unix = answering(bound(socket.AF_UNIX, os.path.join(neighbour, "socket")), "unix")
os.chmod(os.path.join(neighbour, "socket"), 0o777)
abstract = answering(bound(socket.AF_UNIX, "\0" + token), "abstract")
udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
udp.bind(("127.0.0.1", 0))
threading.Thread(target=datagrams, args=(udp,), daemon=True).start()
os.mkfifo(os.path.join(neighbour, "fifo"))
os.chmod(os.path.join(neighbour, "fifo"), 0o666)
threading.Thread(target=lines, args=(os.path.join(neighbour, "fifo"),), daemon=True).start()

# Shared memory of both kinds, and queues of both.
libc = ctypes.CDLL(None, use_errno=True)
libc.mq_open(("/" + token).encode(), os.O_CREAT | os.O_RDWR, 0o600, None)
libc.shmat.restype = ctypes.c_void_p
segment = libc.shmget(0, 4096, 0o1666)
place = libc.shmat(segment, None, 0)
ctypes.memmove(place, secret.encode() + b"\0", len(secret) + 1)
shared = "/dev/shm/" + token
with open(shared, "w") as file:
    file.write(secret)
messages = libc.msgget(0, 0o1666)
text = ctypes.create_string_buffer((1).to_bytes(8, "little") + secret.encode())
libc.msgsnd(messages, text, len(secret), 0)
# The one name that every machine has and that leads to itself.
machine = socket.gethostname()
# Where only children can be traced, this process says that anybody may.
libc.prctl(0x59616D61, ctypes.c_ulong(-1), 0, 0, 0)
main, terminal = os.openpty()
# Kept open where others might look for it.
kept = os.open(os.path.join(neighbour, "secret"), os.O_RDONLY)
memory = ctypes.create_string_buffer(secret.encode())

print(
    json.dumps(
        {
            "VICTIM": str(os.getpid()),
            "ALLOWED": str(allowed.server_port),
            "OTHER": str(other.server_port),
            "UDP": str(udp.getsockname()[1]),
            "SEGMENT": str(segment),
            "QUEUE": str(messages),
            "SHARED": shared,
            "ABSTRACT": token,
            "TERMINAL": os.ttyname(terminal),
            "MACHINE": machine,
            "ADDRESS": socket.gethostbyname(machine),
            "KEPT": str(kept),
            "MEMORY": str(ctypes.addressof(memory)),
        }
    ),
    flush=True,
)
sys.stdin.read()
os.unlink(shared)
libc.mq_unlink(("/" + token).encode())
libc.shmctl(segment, 0, None)
libc.msgctl(messages, 0, None)
