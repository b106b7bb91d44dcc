// An encoder with N processes that never rest: nightly_encode N
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int c, char** v) {
    alarm(125);
    int n = c > 1 ? atoi(v[1]) : 6;
    pid_t me = getpid();
    for (int i = 0; i < n; i++)
        if (fork() == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            if (getppid() != me) _exit(0);
            alarm(125);
            static float blk[64]; volatile float sink = 0;
            for (unsigned k = 0;; k++) { float s = 0; for (int j = 0; j < 64; j++) { blk[j] = cosf(k * 0.1f + j);
                s += blk[j] * j; } sink = s; (void)sink; }
        }
    puts("ready");
    fflush(stdout);
    while (wait(0) > 0) {}
}
