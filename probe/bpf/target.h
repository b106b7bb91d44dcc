/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The target process, and the stacks of its threads.
 *
 * A stack is requested in one of two ways:
 *   in a JVM     by SIGPROF: async-profiler's handler walks Java, native and kernel frames
 *   elsewhere    by a perf event that copies the user stack, which user space unwinds by tables
 * Stacks of a thread are numbered from 1, in the order in which they are taken.
 */
#ifndef YUNTI_TARGET_H
#define YUNTI_TARGET_H

#include "settings.h"

#define SIGPROF 27
#define THREADS_MAX 32768
#define NO_STACK 0

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, THREADS_MAX);
	__type(key, __u32);
	__type(value, __u32);
} stacks_of_thread SEC(".maps");

/* A perf event for each processor; its word is {thread, number}. */
struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(__u32));
} stack_events SEC(".maps");

struct stack_name {
	__u32 tid;
	__u32 number;
};

struct account {
	/* Events that did not fit into the ring buffers. */
	__u64 lost;
	__u64 stacks_omitted;
	/* The present second, and its stacks. */
	__u64 second;
	__u64 stacks_in_second;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct account);
} accounts SEC(".maps");

static __always_inline bool is_target(void)
{
	__u32 tgid = bpf_get_current_pid_tgid() >> 32;

	return settings.tgid ? tgid == settings.tgid : tgid != settings.own;
}

static __always_inline struct account *account(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&accounts, &zero);
}

static __always_inline void count_lost(void)
{
	struct account *all = account();

	if (all)
		__sync_fetch_and_add(&all->lost, 1);
}

static __always_inline void count_omitted(void)
{
	struct account *all = account();

	if (all)
		__sync_fetch_and_add(&all->stacks_omitted, 1);
}

static __always_inline bool may_take_stack(void)
{
	struct account *all = account();
	__u64 now = bpf_ktime_get_ns() / 1000000000;

	if (!all)
		return false;
	if (all->second != now) {
		all->second = now;
		all->stacks_in_second = 0;
	}
	/* Two processors may count at once: the limit bounds the cost, and need not be exact. */
	return __sync_fetch_and_add(&all->stacks_in_second, 1) < settings.stacks_a_second_max;
}

/* Number of the current thread in its own PID namespace. */
static __always_inline __u32 tid_inside(void)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task();
	struct pid *pid = BPF_CORE_READ(task, thread_pid);
	unsigned int level = BPF_CORE_READ(pid, level);
	void *numbers = __builtin_preserve_access_index(&pid->numbers[0]);
	int number = 0;

	bpf_probe_read_kernel(&number, sizeof(number),
			      numbers + level * bpf_core_type_size(struct upid) + bpf_core_field_offset(struct upid, nr));
	return number;
}

/*
 * Takes the current thread's stack. Returns its number, or NO_STACK. The number is assigned first, so that a program
 * that interrupts this one in the same thread gets another.
 */
static __always_inline __u32 take_stack(void *ctx)
{
	struct stack_name name = { .tid = (__u32)bpf_get_current_pid_tgid() };
	__u32 *last, zero = 0;

	if (!may_take_stack())
		goto omitted;
	last = bpf_map_lookup_elem(&stacks_of_thread, &name.tid);
	if (!last) {
		bpf_map_update_elem(&stacks_of_thread, &name.tid, &zero, BPF_NOEXIST);
		last = bpf_map_lookup_elem(&stacks_of_thread, &name.tid);
		if (!last)
			goto omitted;
	}
	if (settings.stacks_by_signal) {
		struct task_struct *task = (struct task_struct *)bpf_get_current_task();
		unsigned long pending = BPF_CORE_READ(task, pending.signal.sig[0]);

		/* A pending signal belongs to the same moment: none of the program's own code ran since. */
		if (*last && (pending & (1UL << (SIGPROF - 1))))
			return *last;
	}
	name.number = __sync_fetch_and_add(last, 1) + 1;
	if (settings.stacks_by_signal ? bpf_send_signal_thread(SIGPROF) :
					bpf_perf_event_output(ctx, &stack_events, BPF_F_CURRENT_CPU, &name, sizeof(name)))
		goto omitted;
	return name.number;
omitted:
	count_omitted();
	return NO_STACK;
}

#endif
