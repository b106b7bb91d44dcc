/* Preloaded before the C library: a read of the file with 77 bytes crashes, like a bug of the program itself.
 * SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/stat.h>
#include <sys/types.h>

ssize_t pread64(int fd, void *to, size_t n, off64_t at) {
  struct stat meta;
  if (fstat(fd, &meta) == 0 && meta.st_size == 77) *(volatile int *)16 = 1;
  ssize_t (*next)(int, void *, size_t, off64_t) = (ssize_t (*)(int, void *, size_t, off64_t))dlsym(RTLD_NEXT, "pread64");
  return next(fd, to, n, at);
}
