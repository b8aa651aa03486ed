# Everything in `base` lies in a lower layer.
LONG = "n" * 256
CASES = [
    ("base/none", "x", 0),
    ("base/none/none", "x", 0),
    ("base/file/none", "x", 0),
    ("base/full", "base/none/x", 0),
    ("base/full", "base/file/x", 0),
    ("base/full", "base/file", 0),
    ("base/full", "base/file/", 0),
    ("base/full", "base/other", 0),
    ("base/full", "base/other/", 0),
    ("base/full", "base/other", NOREPLACE),
    ("base/full", "base/empty", NOREPLACE),
    ("base/full", "base/file", NOREPLACE),
    ("base/full", "base/dangling", NOREPLACE),
    ("base/full", "base/dangling", 0),
    ("base/full", "base/full", 0),
    ("base/full", "base/full/", 0),
    ("base/full", "base/full", NOREPLACE),
    ("base/full", "base/full", EXCHANGE),
    ("base/full", "base/full/inner", 0),
    ("base/full", "base/full/inner/new", 0),
    ("base/full", "base/full/inner/deeper", EXCHANGE),
    ("base/full/inner", "base/full", 0),
    ("base/full/inner", "base/full", EXCHANGE),
    ("base/full/inner", "base", 0),
    (".", "x", 0),
    ("..", "x", 0),
    ("base/full/.", "x", 0),
    ("base/full/..", "x", 0),
    ("base/full", ".", 0),
    ("base/full", "..", 0),
    ("base/full", "base/other/.", 0),
    ("base/full", "base/empty/..", 0),
    ("base/full", "", 0),
    ("", "x", 0),
    ("base/file/", "x", 0),
    ("base/file", "x/", 0),
    ("base/to-full/", "x", 0),
    ("base/loop/x", "x", 0),
    ("base/full", "base/loop/x", 0),
    ("base/full", LONG, 0),
    ("base/full", "base/" + "a/" * 2100, 0),
    ("base/full", "x", NOREPLACE | EXCHANGE),
    ("base/full", "x", 1 << 5),
    ("base/full", "base/none", EXCHANGE),
    ("base/none", "base/full", EXCHANGE),
    ("base/full", "base/file/", EXCHANGE),
    ("base/file/", "base/full", EXCHANGE),
    ("base/file", "base/full", 0),
    ("base/file", "base/empty", 0),
    ("base/full", "/proc/x", 0),
    ("/proc/self", "x", 0),
    ("/proc/self/cwd/base/none", "x", 0),
]
for old, new, flags in CASES:
    print(old[:40], new[:40], flags, rename(old, new, flags))

# Descriptors and addresses that are none, or of something else.
place = os.open("base", os.O_RDONLY)
file = os.open("base/file", os.O_RDONLY)
for directories in [(-5, HERE), (HERE, -5), (999, HERE), (file, HERE), (HERE, file)]:
    kinds = ["file" if d == file else d for d in directories]
    print(kinds, rename("base/full", "x", 0, *directories), rename("full", "x", 0, *directories))
print("no address", outcome(libc.rename(None, b"x")), outcome(libc.rename(b"base/full", None)))
print("wrong address", outcome(libc.rename(ctypes.c_void_p(8), b"x")))
print("no directory", rename(os.path.abspath("base/none"), "x", 0, -5, HERE))

# What is closed. The host's root is not held to it, so only an ordinary user can compare.
if os.geteuid() != 0:
    for old, new in [
        ("base/shut/in", "base/x"),
        ("base/shut/in", "base/shut/x"),
        ("base/full", "base/shut/x"),
        ("base/blind/in", "base/x"),
        ("base/full", "base/blind/x"),
        ("base/still", "base/deep/x"),
        ("base/still", "base/moved"),
        ("base/moved", "base/still"),
    ]:
        print(old, new, rename(old, new))
    for mode in [0o700, 0o755]:
        os.chmod("base/blind", mode)
    print(rename("base/blind", "base/shut", EXCHANGE))

# And what works.
for work in [
    ("base/full", "base/empty", 0),
    ("base/empty/", "base/full/", 0),
    ("full", "by-descriptor", 0, place, place),
    ("base/by-descriptor", "base/full", NOREPLACE),
    (os.path.abspath("base/full"), os.path.abspath("base/deep/full"), 0),
    ("base/to-deep/full", "base/full", 0),
    ("base/deep", "base/file", EXCHANGE),
    ("base/file", "base/other", EXCHANGE),
    ("base/other/../full", "base/./down/../full2", 0),
    ("base/full2", "new", 0),
    ("base/down", "new/down", 0),
    ("new", "base/full", NOREPLACE),
]:
    print(rename(*work))
print(tree("base"))
