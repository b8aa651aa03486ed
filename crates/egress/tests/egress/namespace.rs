//! A network namespace whose only way out is the proxy: its sockets are made inside and served from outside.

use std::io::{IoSliceMut, Write};
use std::mem::MaybeUninit;
use std::net::{TcpListener, UdpSocket};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixListener;
use std::process::{Child, Command, Stdio};

use offshoot_egress::Route;
use offshoot_needs::needs;
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};

use crate::support::{Proxy, Server, ok};

/// Makes the sockets inside, sends them out, waits for a line and then connects as programs do that know no proxy.
const INSIDE: &str = r#"
import os, socket, subprocess, sys
path, port = sys.argv[1], int(sys.argv[2])
for command in ["link set lo up", "route add local 0.0.0.0/0 dev lo", "-6 route add local ::/0 dev lo"]:
    subprocess.run(["ip"] + command.split(), check=command.startswith(("link", "route")))
proxy = socket.create_server(("127.0.0.1", 3128))
direct = socket.create_server(("0.0.0.0", port))
names = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
names.bind(("127.0.0.1", 53))
out = socket.socket(socket.AF_UNIX)
out.connect(path)
socket.send_fds(out, [b"x"], [s.fileno() for s in (proxy, direct, names)])
for s in (proxy, direct, names): s.close()
sys.stdin.readline()

def ask(name):
    question = bytes([1, 2, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0])
    question += b"".join(bytes([len(part)]) + part.encode() for part in name.split(".")) + bytes([0, 0, 1, 0, 1])
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.settimeout(20)
    s.sendto(question, ("127.0.0.1", 53))
    answer = s.recv(512)
    return socket.inet_ntoa(answer[-4:]) if answer[7] == 1 else "code %d" % (answer[3] & 15)

def get(address, host):
    s = socket.create_connection((address, port), timeout=20)
    s.sendall(("GET /inside HTTP/1.1\r\nHost: %s:%d\r\nConnection: close\r\n\r\n" % (host, port)).encode())
    text = b""
    while True:
        try: piece = s.recv(4096)
        except ConnectionResetError: break
        if not piece: break
        text += piece
    return text.decode().split("\r\n")[0] or "closed"

address = ask("a.test")
print(address, ask("evil.test"), get(address, "a.test"), get("93.184.216.34", "a.test"), sep="|")
s = socket.create_connection(("127.0.0.1", 3128), timeout=20)
s.sendall(("GET http://a.test:%d/ HTTP/1.0\r\n\r\n" % port).encode())
print(s.recv(4096).decode().split("\r\n")[0])
try: socket.create_connection(("93.184.216.34", port + 1), timeout=5); print("connected")
except OSError as error: print(type(error).__name__)
"#;

struct Inside {
    child: Child,
    sockets: Vec<OwnedFd>,
}

fn inside(port: u16) -> Inside {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("socket");
    let listener = UnixListener::bind(&path).unwrap();
    let child = Command::new("unshare")
        .args(["-Urn", "python3", "-c", INSIDE])
        .arg(&path)
        .arg(port.to_string())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let (stream, _) = listener.accept().unwrap();
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(8))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let mut byte = [0];
    let flags = RecvFlags::CMSG_CLOEXEC;
    recvmsg(&stream, &mut [IoSliceMut::new(&mut byte)], &mut control, flags).unwrap();
    let mut sockets = Vec::new();
    for message in control.drain() {
        if let RecvAncillaryMessage::ScmRights(descriptors) = message {
            sockets.extend(descriptors);
        }
    }
    assert_eq!(sockets.len(), 3);
    Inside { child, sockets }
}

#[needs(UserNamespace, "unshare", "python3", "ip")]
#[test]
fn programs_inside_reach_what_is_allowed_and_nothing_else() {
    let server = Server::answering(ok);
    let port = server.port;
    let Inside { mut child, sockets } = inside(port);
    let Ok([proxy, direct, names]) = <[OwnedFd; 3]>::try_from(sockets) else {
        panic!("three sockets")
    };
    let egress = Proxy::with(&format!("a.test:{port},{}", server.listed()), |_, sockets| {
        sockets.proxy = Some(TcpListener::from(proxy));
        sockets.direct = vec![TcpListener::from(direct)];
        sockets.names = Some(UdpSocket::from(names));
    });
    child.stdin.take().unwrap().write_all(b"go\n").unwrap();
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let expected =
        "198.18.0.1|code 3|HTTP/1.1 200 OK|closed\nHTTP/1.1 200 OK\nConnectionRefusedError\n";
    assert_eq!(text, expected);
    let told: Vec<_> = egress
        .ends()
        .into_iter()
        .map(|(route, host, refusal)| (route, host, refusal.is_some()))
        .collect();
    let expected = [
        (Route::Dns, "evil.test:0".to_owned(), true),
        (Route::Direct, format!("a.test:{port}"), false),
        (Route::Direct, format!("93.184.216.34:{port}"), true),
        (Route::Http, format!("a.test:{port}"), false),
    ];
    assert_eq!(told, expected);
}
