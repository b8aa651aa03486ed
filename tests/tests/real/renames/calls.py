"""Calls that Python lacks, each giving the name of its error or `ok`."""

import ctypes
import errno
import os

libc = ctypes.CDLL(None, use_errno=True)
HERE, NOREPLACE, EXCHANGE = -100, 1, 2


def outcome(result):
    return "ok" if result == 0 else errno.errorcode[ctypes.get_errno()]


def text(path):
    return path.encode() if isinstance(path, str) else path


def rename(old, new, flags=0, old_directory=HERE, new_directory=HERE):
    return outcome(libc.renameat2(old_directory, text(old), new_directory, text(new), flags))


def tree(top="."):
    """Everything below, with what a rename must keep: times only where they were set long ago."""
    lines = []
    for path, directories, files in os.walk(top):
        for name in directories + files:
            whole = os.path.join(path, name)
            found = os.lstat(whole)
            time = found.st_mtime_ns if found.st_mtime_ns < 10**18 else "now"
            lines.append(f"{whole} {found.st_mode:o} {time}")
            # The host's root could look further.
            if name in directories and found.st_mode & 0o500 != 0o500:
                directories.remove(name)
    return "\n".join(sorted(lines))
