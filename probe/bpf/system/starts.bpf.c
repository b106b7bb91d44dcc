// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Programs that are started, as they are: one that crashes at once is gone before anybody looks for it.
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
	/* Where there is no room, it is found when all are looked at. */
	bpf_ringbuf_output(&started, &pid, sizeof(pid), 0);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
