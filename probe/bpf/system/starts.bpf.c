// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Started programs, reported at once: one that crashes immediately is gone before it could be found in /proc.
 */
#include "kernel.h"

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 16);
} started SEC(".maps");

SEC("raw_tp/sched_process_exec")
int starts(struct bpf_raw_tracepoint_args *ctx)
{
	__u32 pid = bpf_get_current_pid_tgid() >> 32;

	(void)ctx;
	/* A process that does not fit is found at the next check of all processes. */
	bpf_ringbuf_output(&started, &pid, sizeof(pid), 0);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
