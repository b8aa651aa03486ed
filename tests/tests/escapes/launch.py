"""Starts a program as a careless caller does: with files open, a secret in a variable and a key in the session."""

import ctypes
import os
import sys

libc = ctypes.CDLL(None, use_errno=True)
calls = [int(number) for number in sys.argv[2].split(",")]
# A session of its own, so that the key is nobody else's.
if libc.syscall(ctypes.c_long(calls[0]), 1, None) > 0:
    text = os.environ["AWS_SECRET_ACCESS_KEY"].encode()
    libc.syscall(ctypes.c_long(calls[1]), b"user", b"offshoot-escapes", text, len(text), ctypes.c_int(-3))
for number, name in ((17, "secret"), (18, ".")):
    opened = os.open(os.path.join(sys.argv[1], name), os.O_RDONLY)
    os.dup2(opened, number, inheritable=True)
    os.close(opened)
os.execvp(sys.argv[3], sys.argv[3:])
