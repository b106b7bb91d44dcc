// A library that is loaded while its program is looked at.
#include <sys/resource.h>

static volatile int sink;

__attribute__((noinline)) static int late_inner(long x) { return getpriority(PRIO_PROCESS, 0) + (int)x + sink; }

void late_call(long x) { sink += late_inner(x); }
