// A library that its program loads during the measurement.
#include <sys/resource.h>

static volatile int sink;

__attribute__((noinline)) static int late_inner(long x) { return getpriority(PRIO_PROCESS, 0) + (int)x + sink; }

void late_call(long x) { sink += late_inner(x); }
