/* Writes text into a file through a shared mapping: mapper FILE OFFSET TEXT. The exit code is the error number. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int main(int count, char **words)
{
    struct stat found;
    if (count != 4)
        return 255;
    size_t length = strlen(words[3]);
    off_t offset = atol(words[2]);
    int file = open(words[1], O_RDWR | O_NONBLOCK);
    if (file < 0 || fstat(file, &found) < 0)
        return errno;
    if (!S_ISREG(found.st_mode) || found.st_size < offset + (off_t)length)
        return 254;
    char *bytes = mmap(NULL, found.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (bytes == MAP_FAILED)
        return errno;
    /* The mapping outlives the descriptor. */
    close(file);
    memcpy(bytes + offset, words[3], length);
    if (msync(bytes, found.st_size, MS_SYNC) < 0)
        return errno;
    return munmap(bytes, found.st_size) < 0 ? errno : 0;
}
