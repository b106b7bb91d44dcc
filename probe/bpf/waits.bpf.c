// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Waits of one process's threads: the time off the processor, its reason, the wakeup, and the return to a processor.
 * Also spans, from a call of one function to its end or to the call of another; and locks, taken and given back.
 *
 *   running | off           woken        on | running
 *           |  waiting       | run queue    |
 *
 * In a JVM all waits are reported, because its requests are known only afterwards. Elsewhere waits within spans are
 * reported, each with its stack.
 */
#include "registers.h"
#include "target.h"

#define RECORD_WAIT 0
#define RECORD_SPAN 1
#define RECORD_LOCK 2
/* Cookies of uprobes. */
#define SPAN_OF_ONE_CALL 0
#define SPAN_TO_ANOTHER 1
#define NO_SYSTEM_CALL (~0U)
#define NO_FILE (~0U)
#if defined(__TARGET_ARCH_x86)
#define CALL_POLL 7
#define CALL_PPOLL 271
#else
/* arm64 has no poll. */
#define CALL_POLL (~1U)
#define CALL_PPOLL 73
#endif

struct record {
	/* Of a span: begin, end, 0. */
	__u64 off_ns;
	__u64 woken_ns;
	__u64 on_ns;
	__u32 what;
	__u32 tid;
	/* State as in the kernel: 0 runnable, 1 interruptible, 2 not. */
	__u32 state;
	__u32 system_call;
	__u32 stack;
	/* File of the system call, if it has one. */
	__u32 file;
};

struct span {
	__u64 begin_ns;
	__u64 stack_pointer;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, THREADS_MAX);
	__type(key, __u32);
	__type(value, struct record);
} away SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, THREADS_MAX);
	__type(key, __u32);
	__type(value, struct span);
} spans SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 32 << 20);
} waits SEC(".maps");

static __always_inline void report(struct record *record)
{
	if (bpf_ringbuf_output(&waits, record, sizeof(*record), 0))
		count_lost();
}

static __always_inline __u32 state_of(struct task_struct *task)
{
	struct task_struct___before_5_14 *old = (void *)task;

	if (bpf_core_field_exists(task->__state))
		return BPF_CORE_READ(task, __state);
	return (__u32)BPF_CORE_READ(old, state);
}

/* The registers with which the thread entered the kernel show if it is in a system call. */
static __always_inline __u32 system_call_of_current(void)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(bpf_get_current_task_btf());
	long call = SYSTEM_CALL(regs);

	return call < 0 ? NO_SYSTEM_CALL : (__u32)call;
}

/*
 * The file that a system call is about: its first argument. poll of one file has a pointer to it. The reader knows
 * which calls have a file.
 */
static __always_inline __u32 file_of_current(__u32 call)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(bpf_get_current_task_btf());
	__u64 arguments[ARGUMENTS] = {};
	__u32 file = 0;

	system_call_arguments(regs, arguments);
	if (call != CALL_POLL && call != CALL_PPOLL)
		return (__u32)arguments[0];
	if (arguments[1] != 1 || bpf_probe_read_user(&file, sizeof(file), (void *)arguments[0]))
		return NO_FILE;
	return file;
}

static __always_inline void leaves(void *ctx, struct task_struct *task, bool preempted)
{
	struct record record = { .what = RECORD_WAIT };

	record.tid = (__u32)BPF_CORE_READ(task, pid);
	if (!settings.stacks_by_signal) {
		if (!bpf_map_lookup_elem(&spans, &record.tid))
			return;
		record.stack = take_stack(ctx);
	}
	record.off_ns = bpf_ktime_get_ns();
	record.state = preempted ? 0 : state_of(task);
	record.woken_ns = record.state ? 0 : record.off_ns;
	record.system_call = system_call_of_current();
	record.file = record.system_call == NO_SYSTEM_CALL ? NO_FILE : file_of_current(record.system_call);
	if (bpf_map_update_elem(&away, &record.tid, &record, BPF_ANY))
		count_lost();
}

static __always_inline void comes(struct task_struct *task)
{
	__u32 tid = (__u32)BPF_CORE_READ(task, pid);
	struct record *record = bpf_map_lookup_elem(&away, &tid);

	if (!record)
		return;
	record->on_ns = bpf_ktime_get_ns();
	if (!record->woken_ns)
		record->woken_ns = record->on_ns;
	report(record);
	bpf_map_delete_elem(&away, &tid);
}

SEC("raw_tp/sched_switch")
int switches(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *before = (struct task_struct *)ctx->args[1], *next = (struct task_struct *)ctx->args[2];

	if ((__u32)BPF_CORE_READ(before, tgid) == settings.tgid)
		leaves(ctx, before, ctx->args[0]);
	if ((__u32)BPF_CORE_READ(next, tgid) == settings.tgid)
		comes(next);
	return 0;
}

SEC("raw_tp/sched_wakeup")
int wakes(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *task = (struct task_struct *)ctx->args[0];
	struct record *record;
	__u32 tid;

	if ((__u32)BPF_CORE_READ(task, tgid) != settings.tgid)
		return 0;
	tid = (__u32)BPF_CORE_READ(task, pid);
	record = bpf_map_lookup_elem(&away, &tid);
	if (record && !record->woken_ns)
		record->woken_ns = bpf_ktime_get_ns();
	return 0;
}

SEC("uprobe")
int span_begins(struct pt_regs *regs)
{
	__u32 tid = (__u32)bpf_get_current_pid_tgid();
	struct span span = { .begin_ns = bpf_ktime_get_ns(), .stack_pointer = STACK_POINTER(regs) }, *open;

	if (!is_target())
		return 0;
	open = bpf_map_lookup_elem(&spans, &tid);
	/* A call within a span begins no new one. A call that is not deeper follows one that was left by an exception. */
	if (open && (bpf_get_attach_cookie(regs) == SPAN_TO_ANOTHER || open->stack_pointer > span.stack_pointer))
		return 0;
	if (bpf_map_update_elem(&spans, &tid, &span, BPF_ANY))
		count_lost();
	return 0;
}

SEC("uprobe")
int span_ends(struct pt_regs *regs)
{
	struct record record = { .what = RECORD_SPAN, .tid = (__u32)bpf_get_current_pid_tgid() };
	struct span *open;

	if (!is_target())
		return 0;
	open = bpf_map_lookup_elem(&spans, &record.tid);
	if (!open || (bpf_get_attach_cookie(regs) == SPAN_OF_ONE_CALL && open->stack_pointer != STACK_POINTER(regs)))
		return 0;
	record.off_ns = open->begin_ns;
	record.woken_ns = bpf_ktime_get_ns();
	report(&record);
	bpf_map_delete_elem(&spans, &record.tid);
	return 0;
}

/*
 * Locks of native code. Cookies: the argument with the lock's address, and what it means.
 *
 *   lock(l)      wants at its call, has it at its return of 0
 *   wait(c, l)   gives it back at its call, has it at its return
 */
#define LOCK_ARGUMENT(cookie) ((cookie) & 0xf)
#define LOCK_ROLE(cookie) ((cookie) >> 4)
#define ROLE_WANTS 0
#define ROLE_HAS 1
#define ROLE_FAILED 2
#define ROLE_RELEASES 3

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, THREADS_MAX);
	__type(key, __u32);
	__type(value, __u64);
} wanted SEC(".maps");

static __always_inline void report_lock(__u32 tid, __u64 address, __u32 role)
{
	struct record record = { .what = RECORD_LOCK, .tid = tid, .state = role };

	record.off_ns = bpf_ktime_get_ns();
	record.woken_ns = address;
	report(&record);
}

SEC("uprobe")
int lock_begins(struct pt_regs *regs)
{
	__u32 tid = (__u32)bpf_get_current_pid_tgid();
	__u64 cookie = bpf_get_attach_cookie(regs), arguments[ARGUMENTS] = {}, address;

	if (!is_target())
		return 0;
	function_arguments(regs, arguments);
	address = LOCK_ARGUMENT(cookie) ? arguments[1] : arguments[0];
	report_lock(tid, address, (__u32)LOCK_ROLE(cookie));
	if (LOCK_ROLE(cookie) == ROLE_RELEASES && !LOCK_ARGUMENT(cookie))
		return 0;
	if (bpf_map_update_elem(&wanted, &tid, &address, BPF_ANY))
		count_lost();
	return 0;
}

SEC("uprobe")
int lock_ends(struct pt_regs *regs)
{
	__u32 tid = (__u32)bpf_get_current_pid_tgid();
	__u64 *address;

	if (!is_target())
		return 0;
	address = bpf_map_lookup_elem(&wanted, &tid);
	if (!address)
		return 0;
	report_lock(tid, *address, RESULT(regs) ? ROLE_FAILED : ROLE_HAS);
	bpf_map_delete_elem(&wanted, &tid);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
