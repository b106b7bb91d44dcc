// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Keeps the samples of one process from a clock of the whole machine; the rest is not even copied. */
#include "settings.h"

SEC("perf_event")
int is_of_target(void *ctx)
{
	return bpf_get_current_pid_tgid() >> 32 == settings.tgid;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
