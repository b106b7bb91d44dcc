#define _GNU_SOURCE
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* Runs the filter on one file; its output is dropped. 0 if all went well. */
int run_filter(const char *program, const char *file, int ranged)
{
    pid_t child = fork();

    if (child == 0) {
        int in = open(file, O_RDONLY), out = open("/dev/null", O_WRONLY);
        dup2(in, 0);
        dup2(out, 1);
        if (ranged) {
            close_range(3, ~0u, 0);
        } else {
            long most = sysconf(_SC_OPEN_MAX);
            for (int fd = 3; fd < most; fd++)
                close(fd);
        }
        execl(program, "ps2tray", (char *)NULL);
        _exit(127);
    }
    if (child < 0)
        return -1;
    int status;
    if (waitpid(child, &status, 0) < 0)
        return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}
