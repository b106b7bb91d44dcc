// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Wakeups of one process's threads, counted by who woke whom: a thread of the same process by a system call, or
 * something else: an interrupt, a timer, another process.
 */
#include "registers.h"
#include "target.h"

#define OUTSIDE 0

struct edge {
	/* OUTSIDE, or a thread of the process. */
	__u32 by;
	__u32 woken;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, THREADS_MAX * 2);
	__type(key, struct edge);
	__type(value, __u64);
} edges SEC(".maps");

/*
 * The tracepoint is passed in the waker's context. An interrupt may have hit a thread of the process; one that was in
 * its own code then is no waker.
 */
SEC("raw_tp/sched_waking")
int wakes(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *task = (struct task_struct *)ctx->args[0];
	struct edge edge = { .by = OUTSIDE };
	__u64 *count, one = 1;

	if ((__u32)BPF_CORE_READ(task, tgid) != settings.tgid)
		return 0;
	edge.woken = (__u32)BPF_CORE_READ(task, pid);
	if (is_target()) {
		struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(bpf_get_current_task_btf());

		if ((long)SYSTEM_CALL(regs) >= 0)
			edge.by = (__u32)bpf_get_current_pid_tgid();
	}
	count = bpf_map_lookup_elem(&edges, &edge);
	if (count)
		__sync_fetch_and_add(count, 1);
	else if (bpf_map_update_elem(&edges, &edge, &one, BPF_NOEXIST))
		count_lost();
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
