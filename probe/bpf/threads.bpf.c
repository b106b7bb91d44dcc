// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What the threads of one process are at, at this moment: those that do not run, with the registers that they came into the kernel with and
 * their stack in it. Nothing of theirs is stopped or asked for it. Read as a file (an iterator over tasks).
 *
 * A thread that has not run since it was told last is told without them: they are the same.
 */
#include "registers.h"

#define THREADS_MAX 32768
#define FRAMES_MAX 32

#define RUNS 1
#define SAME 2

/* Set before the program is loaded. */
struct settings {
	__u32 tgid;
	__u32 reserved[2];
};
const volatile struct settings settings = {};

struct thread {
	__u32 tid;
	__u32 flags;
	/* As the kernel has it: 0 it could run, 1 a signal wakes it, 2 not. */
	__u32 state;
	__u32 nothing;
	__u64 runs;
};

/* Behind a thread that neither runs nor is the same. */
struct place {
	__u64 registers[UNWINDING_REGISTERS];
	__u64 kernel[FRAMES_MAX];
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, THREADS_MAX);
	__type(key, __u32);
	__type(value, __u64);
} told SEC(".maps");

/* To look, we need a processor: the thread that had to leave it for us in this switch would run without us. */
static __always_inline bool made_room_for_us(struct task_struct *task)
{
	struct task_struct *us = bpf_get_current_task_btf();

	return task->sched_info.last_queued && task->sched_info.last_queued == us->sched_info.last_arrival;
}

SEC("iter/task")
int threads(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct seq_file *to = ctx->meta->seq;
	struct task_struct___before_5_14 *old = (void *)task;
	struct thread thread = {};
	struct place place = {};
	__u64 *last;

	if (!task || (__u32)task->tgid != settings.tgid)
		return 0;
	thread.tid = (__u32)task->pid;
	thread.runs = task->sched_info.pcount;
	if (bpf_core_field_exists(task->__state))
		thread.state = task->__state;
	else
		thread.state = (__u32)old->state;
	last = bpf_map_lookup_elem(&told, &thread.tid);
	if (task->on_cpu || made_room_for_us(task))
		thread.flags = RUNS;
	else if (last && *last == thread.runs)
		thread.flags = SAME;
	if (bpf_seq_write(to, &thread, sizeof(thread)) || thread.flags)
		return 0;
	unwinding_registers((struct pt_regs *)bpf_task_pt_regs(task), place.registers);
	bpf_get_task_stack(task, place.kernel, sizeof(place.kernel), 0);
	/* What there was no room for is told again, and as new. */
	if (!bpf_seq_write(to, &place, sizeof(place)))
		bpf_map_update_elem(&told, &thread.tid, &thread.runs, BPF_ANY);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
