// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Memory that one process asks of malloc and its kin: all of it counted, and a stack each time that a thread has asked for so many bytes more,
 * which stands for them all.
 *
 * Whoever looks sets how many, so that a second has not more stacks than are worth it.
 */
#include "registers.h"
#include "target.h"

/* Cookies of uprobes: which arguments say how many bytes, and whether the function may leave the work to malloc. */
#define BYTES_1ST 0
#define BYTES_2ND 1
#define BYTES_3RD 2
#define BYTES_PRODUCT 3
#define MAY_CALL_MALLOC 16
/* Functions of one allocator lie side by side. */
#define ALLOCATOR_BYTES (32 << 10)

struct asked {
	/* Since its last stack. */
	__u64 bytes;
	/* By a call that may leave the work to malloc; 0: by none. And where that returns to. */
	__u64 on_its_way;
	__u64 returns_to;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, THREADS_MAX);
	__type(key, __u32);
	__type(value, struct asked);
} asked_by_thread SEC(".maps");

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

/* A stack each time that a thread has asked for so many bytes. */
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

/* The allocator calls itself, or jumps there: what is asked for is counted already. */
static __always_inline bool is_within(struct pt_regs *regs, const struct asked *asked)
{
	__u64 returns_to = return_address(regs), distance = returns_to - INSTRUCTION(regs);

	return returns_to == asked->returns_to || distance + ALLOCATOR_BYTES < 2 * ALLOCATOR_BYTES;
}

SEC("uprobe")
int allocates(struct pt_regs *regs)
{
	struct allocation allocation = { .tid = (__u32)bpf_get_current_pid_tgid() };
	__u32 zero = 0, cookie = (__u32)bpf_get_attach_cookie(regs);
	struct totals *all = bpf_map_lookup_elem(&totals, &zero);
	struct asked *asked, none = {};
	__u64 bytes, *enough = bpf_map_lookup_elem(&interval, &zero);

	if (!all || !enough || !is_target())
		return 0;
	asked = bpf_map_lookup_elem(&asked_by_thread, &allocation.tid);
	if (!asked) {
		/* The first of a thread has a stack, however little it asks for. */
		none.bytes = *enough;
		bpf_map_update_elem(&asked_by_thread, &allocation.tid, &none, BPF_NOEXIST);
		asked = bpf_map_lookup_elem(&asked_by_thread, &allocation.tid);
		if (!asked) {
			count_lost();
			return 0;
		}
	}
	bytes = bytes_of(regs, cookie);
	if (!(cookie & MAY_CALL_MALLOC) && asked->on_its_way && asked->on_its_way == bytes && is_within(regs, asked)) {
		asked->on_its_way = 0;
		return 0;
	}
	asked->on_its_way = 0;
	if (cookie & MAY_CALL_MALLOC) {
		asked->on_its_way = bytes;
		asked->returns_to = return_address(regs);
	}
	__sync_fetch_and_add(&all->calls, 1);
	__sync_fetch_and_add(&all->bytes, bytes);
	asked->bytes += bytes;
	if (asked->bytes < *enough)
		return 0;
	allocation.bytes = none.bytes ? bytes : asked->bytes;
	asked->bytes = 0;
	allocation.stack = take_stack(regs);
	if (bpf_ringbuf_output(&allocations, &allocation, sizeof(allocation), 0))
		count_lost();
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
