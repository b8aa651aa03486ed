// Tries renames by the system calls of 32-bit programs: `compat OLD NEW` calls rename, renameat and renameat2 in turn.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

static long call(long number, long a, long b, long c, long d, long e) {
    long result;
    __asm__ volatile("int $0x80"
                     : "=a"(result)
                     : "a"(number), "b"(a), "c"(b), "d"(c), "S"(d), "D"(e)
                     : "memory", "r8", "r9", "r10", "r11");
    return (int)result;
}

int main(int count, char **words) {
    (void)count;
    // Such calls take addresses of 32 bits.
    char *old = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
    char *new = old + 4096;
    strcpy(old, words[1]);
    strcpy(new, words[2]);
    printf("%ld ", call(38, (long)old, (long)new, 0, 0, 0));
    printf("%ld ", call(302, AT_FDCWD, (long)new, AT_FDCWD, (long)old, 0));
    printf("%ld ", call(353, AT_FDCWD, (long)old, AT_FDCWD, (long)new, 1));
    printf("%ld\n", call(353, AT_FDCWD, (long)old, AT_FDCWD, (long)new, 1));
    return 0;
}
