// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Processes that act on another process: signals that stop and continue it, and system calls that read, write, trace
 * or reclaim its memory. Each act is reported with its process, which may be gone a moment later.
 */
#include "registers.h"

#define ACT_SIGNAL 0
#define ACT_SYSTEM_CALL 1
#define NAME_BYTES 16
#define SIGCONT_NUMBER 18
#define SIGTTOU_NUMBER 22

#if defined(__TARGET_ARCH_x86)
#define CALL_PTRACE 101
#define CALL_READ 310
#define CALL_WRITE 311
#else
#define CALL_PTRACE 117
#define CALL_READ 270
#define CALL_WRITE 271
#endif
#define CALL_MADVISE 440

struct settings {
	__u32 tgid;
};
const volatile struct settings settings = {};

struct act {
	/* First two arguments of the system call. */
	__u64 arguments[2];
	__u32 tgid;
	__u32 what;
	/* Number of the signal, or of the system call. */
	__u32 number;
	__u32 unused;
	char name[NAME_BYTES];
};

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 20);
} acts SEC(".maps");

static __always_inline void report(struct act *act)
{
	act->tgid = bpf_get_current_pid_tgid() >> 32;
	bpf_get_current_comm(act->name, sizeof(act->name));
	/* Acts beyond the size of the ring are like those in it. */
	bpf_ringbuf_output(&acts, act, sizeof(*act), 0);
}

SEC("raw_tp/signal_generate")
int signals(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *task = (struct task_struct *)ctx->args[2];
	struct act act = { .what = ACT_SIGNAL, .number = ctx->args[0] };

	if (BPF_CORE_READ(task, tgid) == (int)settings.tgid && act.number >= SIGCONT_NUMBER &&
	    act.number <= SIGTTOU_NUMBER)
		report(&act);
	return 0;
}

SEC("raw_tp/sys_enter")
int calls(struct bpf_raw_tracepoint_args *ctx)
{
	struct pt_regs *regs = (struct pt_regs *)ctx->args[0];
	struct act act = { .what = ACT_SYSTEM_CALL, .number = ctx->args[1] };
	__u64 arguments[ARGUMENTS] = {};

	if (act.number != CALL_MADVISE && act.number != CALL_READ && act.number != CALL_WRITE && act.number != CALL_PTRACE)
		return 0;
	system_call_arguments(regs, arguments);
	act.arguments[0] = arguments[0];
	act.arguments[1] = arguments[1];
	report(&act);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
