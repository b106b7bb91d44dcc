// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Memory that one process requests from malloc and similar functions. All of it is counted. A stack is taken each time
 * that a thread has requested another interval of bytes, and stands for them.
 *
 * The user-space side sets the interval, to limit the stacks a second.
 */
#include "registers.h"
#include "target.h"

/* Cookies of uprobes: arguments that hold the number of bytes; set if the function may call malloc. */
#define BYTES_1ST 0
#define BYTES_2ND 1
#define BYTES_3RD 2
#define BYTES_PRODUCT 3
#define MAY_CALL_MALLOC 16
/* Distance of functions of one allocator, which are adjacent. */
#define ALLOCATOR_BYTES (32 << 10)

struct requested {
	/* Bytes since its last stack. */
	__u64 bytes;
	/* Bytes of a call that may call malloc, or 0; and its return address. */
	__u64 pending;
	__u64 returns_to;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, THREADS_MAX);
	__type(key, __u32);
	__type(value, struct requested);
} requested_by_thread SEC(".maps");

struct totals {
	__u64 calls;
	__u64 bytes;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct totals);
} totals SEC(".maps");

/* Bytes between two stacks of a thread. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} interval SEC(".maps");

struct allocation {
	__u64 bytes;
	__u32 tid;
	__u32 stack;
};

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4 << 20);
} allocations SEC(".maps");

static __always_inline __u64 bytes_of(struct pt_regs *regs, __u32 cookie)
{
	__u64 arguments[ARGUMENTS];

	function_arguments(regs, arguments);
	switch (cookie & ~MAY_CALL_MALLOC) {
	case BYTES_1ST:
		return arguments[0];
	case BYTES_2ND:
		return arguments[1];
	case BYTES_3RD:
		return arguments[2];
	default:
		return arguments[0] * arguments[1];
	}
}

/* Returns true if the allocator calls itself or jumps there: the request is counted already. */
static __always_inline bool is_within(struct pt_regs *regs, const struct requested *requested)
{
	__u64 returns_to = return_address(regs), distance = returns_to - INSTRUCTION(regs);

	return returns_to == requested->returns_to || distance + ALLOCATOR_BYTES < 2 * ALLOCATOR_BYTES;
}

SEC("uprobe")
int allocates(struct pt_regs *regs)
{
	struct allocation allocation = { .tid = (__u32)bpf_get_current_pid_tgid() };
	__u32 zero = 0, cookie = (__u32)bpf_get_attach_cookie(regs);
	struct totals *all = bpf_map_lookup_elem(&totals, &zero);
	struct requested *requested, none = {};
	__u64 bytes, *enough = bpf_map_lookup_elem(&interval, &zero);

	if (!all || !enough || !is_target())
		return 0;
	requested = bpf_map_lookup_elem(&requested_by_thread, &allocation.tid);
	if (!requested) {
		/* A thread's first request has a stack, whatever its size. */
		none.bytes = *enough;
		bpf_map_update_elem(&requested_by_thread, &allocation.tid, &none, BPF_NOEXIST);
		requested = bpf_map_lookup_elem(&requested_by_thread, &allocation.tid);
		if (!requested) {
			count_lost();
			return 0;
		}
	}
	bytes = bytes_of(regs, cookie);
	if (!(cookie & MAY_CALL_MALLOC) && requested->pending && requested->pending == bytes && is_within(regs, requested)) {
		requested->pending = 0;
		return 0;
	}
	requested->pending = 0;
	if (cookie & MAY_CALL_MALLOC) {
		requested->pending = bytes;
		requested->returns_to = return_address(regs);
	}
	__sync_fetch_and_add(&all->calls, 1);
	__sync_fetch_and_add(&all->bytes, bytes);
	requested->bytes += bytes;
	if (requested->bytes < *enough)
		return 0;
	allocation.stack = take_stack(regs);
	/* A later stack stands for these bytes too. */
	if (allocation.stack == NO_STACK)
		return 0;
	allocation.bytes = none.bytes ? bytes : requested->bytes;
	requested->bytes = 0;
	if (bpf_ringbuf_output(&allocations, &allocation, sizeof(allocation), 0))
		count_lost();
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
