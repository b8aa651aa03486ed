//! The rooms of the awkward tree, one function each.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::os::unix::net::UnixListener;

use rustix::fs::{self, Mode, OFlags};

use super::builder::{Builder, step_into};

/// Every mode bit alone, and the combinations that programs use.
pub(super) fn modes(builder: &mut Builder) -> io::Result<()> {
    const USUAL: [u32; 12] =
        [0o444, 0o600, 0o640, 0o644, 0o666, 0o700, 0o755, 0o1644, 0o2755, 0o4755, 0o6711, 0o7777];
    builder.directory("modes")?;
    for mode in USUAL {
        let mtime = builder.some_time();
        builder.file_as(format!("modes/{mode:04o}"), b"#!/bin/sh\n", mode, mtime)?;
    }
    for bit in 0..12 {
        // An ordinary user could not read back what it may not read.
        let mode = (1 << bit) | if builder.root_user() { 0 } else { 0o400 };
        let mtime = builder.some_time();
        builder.file_as(format!("modes/bit{bit}"), b"one bit", mode, mtime)?;
    }
    if builder.root_user() {
        let mtime = builder.some_time();
        builder.file_as("modes/none", b"nobody may read this", 0, mtime)?;
    }
    Ok(())
}

/// Symbolic links that lead nowhere, in circles and out, groups of hard links, and fifos.
pub(super) fn links(builder: &mut Builder) -> io::Result<()> {
    builder.directory("links")?;
    let long = [b"x".repeat(249), b"/".to_vec()].concat().repeat(16);
    assert_eq!(long.len(), 4000, "250 bytes repeated 16 times");
    let symlinks: [(&[u8], &str); 12] = [
        (b"plain", "to-file"),
        (b"../modes", "to-directory"),
        (b"no/such/thing", "dangling"),
        (b"self", "self"),
        (b"loop-b", "loop-a"),
        (b"loop-a", "loop-b"),
        (b"/etc/passwd", "absolute"),
        (b"/nonexistent/\xff\xfe", "absolute-dangling"),
        (b"../../../../../../../../..", "out"),
        (b"..", "parent"),
        (b"line\nbreak \xe2\x98\x83", "odd-target"),
        (&long, "long-target"),
    ];
    builder.file("links/plain", b"plain\n")?;
    for (target, name) in symlinks {
        builder.symlink(target, format!("links/{name}"))?;
    }

    builder.directory("links/near")?;
    builder.directory("links/far")?;
    builder.file("links/near/one", b"three names in one directory")?;
    builder.hard_link("links/near/one", "links/near/two")?;
    builder.hard_link("links/near/one", "links/near/three")?;
    builder.file("links/far/a", b"two names in two directories")?;
    builder.hard_link("links/far/a", "links/near/b")?;
    builder.file("links/near/empty", b"")?;
    builder.hard_link("links/near/empty", "links/far/empty")?;
    // The same bytes as a group, but not of it.
    builder.file("links/far/alike", b"two names in two directories")?;

    builder.fifo("links/fifo", 0o622)?;
    builder.fifo("links/fifo-private", 0o600)
}

/// Names that break programs which take them for text, options or lines.
pub(super) fn names(builder: &mut Builder) -> io::Result<()> {
    let long = b"n".repeat(255);
    let long_bytes = b"\xf0".repeat(255);
    let odd: [&[u8]; 32] = [
        &long,
        &long_bytes,
        b"line\nbreak",
        b"\n",
        b"-rf",
        b"--help",
        b"-",
        b" ",
        b" leading",
        b"trailing ",
        b"two  spaces",
        b"\"double\"",
        b"'single'",
        b"`backtick`",
        b"$HOME",
        b"$(x)",
        b"back\\slash",
        b"\\n",
        b"\xff\xfe not utf-8",
        b"\xc3",
        b"\x01\x02\x1b[31m",
        b"\x7f",
        b"tab\there",
        b"*",
        b"?",
        b"...",
        b"~",
        b".hidden",
        b".wh.whiteout",
        b".wh..wh..opq",
        "\u{1f980} \u{e9} e\u{301}".as_bytes(),
        b"CON.",
    ];
    builder.directory("names")?;
    for (index, name) in odd.iter().enumerate() {
        builder.file([b"names/", *name].concat(), format!("name {index}").as_bytes())?;
    }
    builder.directory([b"names/dir \n\xff", &b"d".repeat(249)[..]].concat())?;
    builder.directory("names/-directory\\")?;
    builder.file("names/-directory\\/case", b"lower")?;
    builder.file("names/-directory\\/CASE", b"upper")
}

/// Files that are empty, alike, of awkward sizes, and mostly holes.
pub(super) fn contents(builder: &mut Builder) -> io::Result<()> {
    builder.directory("contents")?;
    builder.file("contents/empty", b"")?;
    builder.file("contents/crlf.txt", b"first\r\nsecond\r\n\r\nno newline at the end")?;
    builder.file("contents/bom.txt", b"\xef\xbb\xbfwith a byte order mark\n")?;
    builder.file("contents/nul.txt", b"text and\0a zero\n")?;
    builder.file("contents/zeros", &[0; 10_000])?;
    let same = builder.rng.bytes(100_000);
    builder.file("contents/same-1", &same)?;
    builder.file("contents/same-2", &same)?;
    // Around the sizes where a store changes its mind: pages, hash chunks, inline objects.
    for size in [1, 1023, 1024, 1025, 4095, 4096, 4097, 65_535, 65_536, 65_537, 1 << 20] {
        let bytes = builder.rng.bytes(size);
        builder.file(format!("contents/size-{size}"), &bytes)?;
    }
    sparse(builder, "contents/holes", 64 << 20, &[8 << 20, 32 << 20])?;
    sparse(builder, "contents/hole-inside", 1 << 20, &[0, (1 << 20) - 4096])?;
    sparse(builder, "contents/only-hole", (64 << 20) + 1, &[])
}

fn sparse(builder: &mut Builder, path: &str, length: u64, data: &[u64]) -> io::Result<()> {
    let file = builder.create(path)?;
    fs::ftruncate(&file, length)?;
    for offset in data {
        file.write_all_at(&builder.rng.bytes(4096), *offset)?;
    }
    drop(file);
    builder.touch(path)
}

/// Times before 1970, far ahead, and at the ends of a second.
pub(super) fn times(builder: &mut Builder) -> io::Result<()> {
    const TIMES: [(&str, i64, u32); 8] = [
        ("epoch", 0, 0),
        ("first-nanosecond", 0, 1),
        ("before-epoch", -1, 999_999_999),
        ("year-1950", -631_152_000, 123_456_789),
        ("year-2100", 4_102_444_800, 1),
        ("after-2038", 2_147_483_648, 0),
        ("last-nanosecond", 1_700_000_000, 999_999_999),
        ("whole-second", 1_700_000_000, 0),
    ];
    builder.directory("times")?;
    for (name, seconds, nanoseconds) in TIMES {
        let mtime = (seconds, nanoseconds);
        builder.file_as(format!("times/{name}"), name.as_bytes(), 0o644, mtime)?;
        builder.directory_as(format!("times/{name}.d"), 0o755, mtime)?;
        builder.file(format!("times/{name}.d/inside"), b"")?;
    }
    Ok(())
}

/// Directories that are empty, private, or forbid to change what they hold.
pub(super) fn directories(builder: &mut Builder) -> io::Result<()> {
    builder.directory("directories")?;
    builder.directory("directories/empty")?;
    builder.directory("directories/empty/empty")?;
    for mode in [0o555, 0o700, 0o1777, 0o2775, 0o500] {
        let path = format!("directories/{mode:04o}");
        let mtime = builder.some_time();
        builder.directory_as(&path, mode, mtime)?;
        builder.file(format!("{path}/file"), format!("in {mode:o}").as_bytes())?;
        builder.directory_as(format!("{path}/inner"), 0o555, mtime)?;
        builder.file_as(format!("{path}/inner/file"), b"read-only", 0o444, mtime)?;
    }
    Ok(())
}

/// Extended attributes, among them those by which an overlay file system marks its own things.
pub(super) fn xattrs(builder: &mut Builder, large: bool) -> io::Result<()> {
    builder.directory("xattrs")?;
    builder.directory("xattrs/directory")?;
    builder.xattr("xattrs/directory", "user.on-directory", b"yes")?;
    builder.file("xattrs/file", b"with attributes")?;
    builder.xattr("xattrs/file", "user.plain", b"value")?;
    builder.xattr("xattrs/file", "user.empty", b"")?;
    builder.xattr("xattrs/file", "user.binary", b"\0\xff\n\0")?;
    builder.xattr("xattrs/file", "user.na\u{ef}ve \n", b"odd name")?;
    builder.file("xattrs/linked", b"attributes of a hard link")?;
    builder.xattr("xattrs/linked", "user.shared", b"by both")?;
    builder.hard_link("xattrs/linked", "xattrs/linked-too")?;
    if large {
        builder.file("xattrs/large", b"")?;
        let value = builder.rng.bytes(3000);
        builder.xattr("xattrs/large", "user.large", &value)?;
    }

    builder.directory("xattrs/opaque")?;
    builder.file("xattrs/opaque/inside", b"inside")?;
    builder.xattr("xattrs/opaque", "user.overlay.opaque", b"y")?;
    builder.directory("xattrs/opaque-x")?;
    builder.xattr("xattrs/opaque-x", "user.overlay.opaque", b"x")?;
    builder.file("xattrs/opaque-x/whiteout", b"")?;
    builder.xattr("xattrs/opaque-x/whiteout", "user.overlay.whiteout", b"y")?;
    builder.directory("xattrs/redirect")?;
    builder.xattr("xattrs/redirect", "user.overlay.redirect", b"/modes")?;
    builder.file("xattrs/metacopy", b"these bytes must not be taken from elsewhere")?;
    builder.xattr("xattrs/metacopy", "user.overlay.metacopy", b"")?;
    builder.file("xattrs/escaped", b"")?;
    builder.xattr("xattrs/escaped", "user.overlay.overlay.opaque", b"y")?;
    builder.xattr("xattrs/escaped", "user.overlay.origin", b"\0\xfb\x1d\0\x01")?;
    builder.xattr("xattrs/escaped", "user.overlay.", b"no name")
}

/// Paths longer than `PATH_MAX`, by few long names and by many short ones.
pub(super) fn deep(builder: &mut Builder) -> io::Result<()> {
    builder.directory("deep")?;
    let top = fs::openat(builder.top(), "deep", OFlags::DIRECTORY, Mode::empty())?;
    chain(builder, &top, &b"long".repeat(60), 18)?;
    chain(builder, &top, b"s", 300)?;
    chain(builder, &top, b"a name of middle length", 200)
}

fn chain(builder: &mut Builder, top: &OwnedFd, name: &[u8], depth: usize) -> io::Result<()> {
    let mut steps = vec![step_into(top.as_fd(), name)?];
    while steps.len() < depth {
        let next = step_into(steps[steps.len() - 1].as_fd(), name)?;
        steps.push(next);
    }
    let bottom = &steps[depth - 1];
    let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::CLOEXEC;
    let mut file = File::from(fs::openat(bottom, "bottom", flags, Mode::from_raw_mode(0o600))?);
    file.write_all(b"far down\n")?;
    steps.push(file.into());
    for step in steps.iter().rev() {
        builder.set_time(step)?;
    }
    Ok(())
}

/// Owners that have no name on this machine, also on links, which have owners of their own.
pub(super) fn owners(builder: &mut Builder) -> io::Result<()> {
    builder.directory("owners")?;
    for (name, uid, gid) in [
        ("user", 1000, 1000),
        ("group", 0, 54321),
        ("both", 65534, 65534),
        ("far", 4_000_000_000, 7),
    ] {
        let path = format!("owners/{name}");
        builder.file(&path, name.as_bytes())?;
        builder.owner(&path, uid, gid)?;
        builder.directory(format!("{path}.d"))?;
        builder.owner(&format!("{path}.d"), uid, gid)?;
        builder.symlink(name.as_bytes(), format!("{path}.link"))?;
        builder.owner(&format!("{path}.link"), uid, gid)?;
    }
    Ok(())
}

/// One directory with `count` entries.
pub(super) fn many(builder: &mut Builder, count: usize) -> io::Result<()> {
    builder.directory("many")?;
    for index in 0..count {
        builder.file(format!("many/entry {index}"), format!("{}", index % 97).as_bytes())?;
    }
    Ok(())
}

/// One file of `length` bytes that are there and do not repeat.
pub(super) fn big(builder: &mut Builder, length: u64) -> io::Result<()> {
    let mut file = builder.create("big")?;
    let mut block = builder.rng.bytes(1 << 20);
    let mut left = length;
    while left > 0 {
        // One new number in each page keeps all pages different at the price of a few.
        for page in block.chunks_mut(4096) {
            builder.rng.fill(&mut page[..8]);
        }
        let size = left.min(block.len() as u64);
        file.write_all(&block[..size as usize])?;
        left -= size;
    }
    drop(file);
    builder.touch("big")
}

/// A Unix socket that nobody listens on any more.
pub(super) fn socket(builder: &mut Builder) -> io::Result<()> {
    builder.directory("sockets")?;
    // The address of a socket has 108 bytes at most, so the way there is by descriptor.
    let top = fs::openat(builder.top(), "sockets", OFlags::DIRECTORY, Mode::empty())?;
    let number = std::os::fd::AsRawFd::as_raw_fd(&top);
    drop(UnixListener::bind(format!("/proc/self/fd/{number}/socket"))?);
    builder.touch("sockets/socket")
}
