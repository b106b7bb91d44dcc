// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Positions of the threads of one process at this moment: for threads that do not run, the registers with which they
 * entered the kernel, and their kernel stack. No thread is stopped or woken. Read as a file (an iterator over tasks).
 *
 * A thread that has not run since the last reading is reported without them, because they are unchanged.
 */
#include "registers.h"
#include "settings.h"

#define THREADS_MAX 32768
#define FRAMES_MAX 32

#define RUNS 1
#define SAME 2

struct thread {
	__u32 tid;
	__u32 flags;
	/* State as in the kernel: 0 runnable, 1 interruptible, 2 not. */
	__u32 state;
	__u32 nothing;
	__u64 runs;
};

/* Follows a thread that neither runs nor is unchanged. */
struct place {
	__u64 registers[UNWINDING_REGISTERS];
	__u64 kernel[FRAMES_MAX];
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, THREADS_MAX);
	__type(key, __u32);
	__type(value, __u64);
} reported SEC(".maps");

/* Threads of the kernel may run between the switch and the reader: nanoseconds. */
#define BETWEEN 100000
/* Two clocks of the scheduler, read at one switch, differ by this much more at most: nanoseconds. */
#define AT_ONCE 50000

/*
 * Returns true for the thread that left the processor to this reader a moment ago; without the reader it would run.
 * A thread that was woken in this moment has not run: it left its processor when it fell asleep.
 */
static __always_inline bool made_room_for_us(struct task_struct *task)
{
	struct task_struct *us = bpf_get_current_task_btf();
	__u64 queued = task->sched_info.last_queued, arrival = us->sched_info.last_arrival;
	/* exec_start is the end of the last run, by a clock that leaves out interrupts and other virtual machines. */
	__s64 left_out = arrival - us->se.exec_start, since_run = queued - task->se.exec_start;

	if (!queued || task->wake_cpu != us->wake_cpu || queued > arrival || queued + BETWEEN < arrival)
		return false;
	return queued == arrival || since_run <= left_out + AT_ONCE;
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
	last = bpf_map_lookup_elem(&reported, &thread.tid);
	if (task->on_cpu || made_room_for_us(task))
		thread.flags = RUNS;
	else if (last && *last == thread.runs)
		thread.flags = SAME;
	if (bpf_seq_write(to, &thread, sizeof(thread)) || thread.flags)
		return 0;
	unwinding_registers((struct pt_regs *)bpf_task_pt_regs(task), place.registers);
	bpf_get_task_stack(task, place.kernel, sizeof(place.kernel), 0);
	/* A thread that did not fit is reported in full again. */
	if (!bpf_seq_write(to, &place, sizeof(place)))
		bpf_map_update_elem(&reported, &thread.tid, &thread.runs, BPF_ANY);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
