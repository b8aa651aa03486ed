"""One rename by io_uring, which asks no seccomp filter."""

import mmap
import struct

SETUP, ENTER, OFF_SQ, OFF_SQES, OP_RENAMEAT, GETEVENTS = 425, 426, 0, 0x10000000, 35, 1


def ring_rename(old, new):
    parameters = ctypes.create_string_buffer(120)
    ring = libc.syscall(SETUP, 4, parameters)
    if ring < 0:
        return "no io_uring"
    (entries, completions) = struct.unpack_from("II", parameters, 0)
    # Offsets in the rings: head, tail, mask, entries, flags, dropped, array; and head, tail, mask, entries, overflow, cqes.
    submit = struct.unpack_from("7I", parameters, 40)
    complete = struct.unpack_from("6I", parameters, 80)
    size = max(submit[6] + entries * 4, complete[5] + completions * 16)
    rings = mmap.mmap(ring, size, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE, offset=OFF_SQ)
    calls = mmap.mmap(ring, entries * 64, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE, offset=OFF_SQES)
    names = [ctypes.create_string_buffer(text(name)) for name in (old, new)]
    addresses = [ctypes.addressof(name) for name in names]
    # Operation, flags, priority, descriptor, second address, first address, second descriptor, flags, data.
    struct.pack_into("BBHiQQIIQ", calls, 0, OP_RENAMEAT, 0, 0, HERE, addresses[1], addresses[0], HERE & 0xFFFFFFFF, 0, 7)
    struct.pack_into("I", rings, submit[6], 0)
    struct.pack_into("I", rings, submit[1], 1)
    if libc.syscall(ENTER, ring, 1, 1, GETEVENTS, None, 0) != 1:
        return "no io_uring"
    data, result, flags = struct.unpack_from("QiI", rings, complete[5])
    assert data == 7
    return "ok" if result == 0 else errno.errorcode[-result]
