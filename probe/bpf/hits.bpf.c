// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Each call of a function or a system call, and each pass of a tracepoint, in one process: arguments, duration and
 * stack.
 *
 *   function      a uprobe at its first instruction, one at each `ret` of it. No uretprobe: it puts an address of its
 *                 own on the user stack, and a C++ exception that passes it ends the program.
 *   system call   raw tracepoints sys_enter and sys_exit
 *   tracepoint    a raw tracepoint of its name
 *   kernel        a kprobe and a kretprobe
 *
 * Conditions and counts by expressions are programs of their own, which are written when the measurement starts: gates
 * (src/kernel/gates.rs). The program of a place goes to its gate by a tail call, and a gate that lets a call pass goes
 * on to the program whose name ends with `_passed`.
 *
 * An open call is in `open_calls`, by thread and stack pointer. Both are the same at a function's first instruction
 * and at its `ret`, even with recursion. A call that was left by longjmp or an exception is reported when the next
 * call takes its place.
 *
 * A hit is written directly to `open_calls` or to the ring buffer, and not to per-processor memory, because other
 * programs of this measurement may interrupt this one.
 */
#include "registers.h"
#include "target.h"

#define PROBES_MAX 512
#define SYSTEM_CALLS_MAX 1024
#define OPEN_CALLS_MAX 65536
#define TEXTS 3
#define TEXT_BYTES 64
#define NO_DURATION (~0ULL)
#define THREAD_BYTES 16
/* Flags of a hit: 1 << n if its text n was not readable; left by a jump to another function, which returns in its
 * place. */
#define UNREADABLE ((1 << TEXTS) - 1)
#define LEFT_BY_JUMP 256
/* Flag in the cookie of an end, beside the probe's number. */
#define END_IS_JUMP (1U << 31)

/* Values by which calls are grouped, and the one that is summed up. */
#define KEYS 5
#define KEYED_CALLS_MAX 16384
#define GROUPS_MAX 65536
#define NAMES_MAX 16384
/* Indices of programs behind gates. */
#define PASSED_BEGIN 0
#define PASSED_END 1
#define PASSED_TRACEPOINT 2
#define PASSED_MAX 16

/* Forms of arguments, two bits each in `probe.forms`. */
#define FORM_NUMBER 0
#define FORM_TEXT 1
#define FORM_BYTES 2

struct probe {
	__u32 forms;
	/* False if its returns are unknown; the call is then reported at its begin. */
	__u32 has_end;
	/* True if its gate decides by the result, which is unknown where it jumps to another function. */
	__u32 needs_result;
	/* True if its gate decides when a call ends: stacks are taken then, of calls that pass. */
	__u32 decided_at_end;
};

struct hit {
	__u64 time_ns;
	__u64 duration_ns;
	__u64 arguments[ARGUMENTS];
	__u64 result;
	/* Of a gate. */
	__u64 keys[KEYS];
	__u32 probe;
	__u32 tid;
	__u32 tid_inside;
	/* Number of its stack among the thread's. */
	__u32 stack;
	__u32 texts;
	__u32 flags;
	char thread[THREAD_BYTES];
	/* Memory of arguments with such a form, in their order. */
	char text[TEXTS][TEXT_BYTES];
};

struct call_key {
	__u32 tid;
	__u32 probe;
	__u64 stack_pointer;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, PROBES_MAX);
	__type(key, __u32);
	__type(value, struct probe);
} probes SEC(".maps");

/* System call -> 1 + its probe; 0 if it is not probed. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, SYSTEM_CALLS_MAX);
	__type(key, __u32);
	__type(value, __u32);
} probe_of_system_call SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, OPEN_CALLS_MAX);
	__type(key, struct call_key);
	__type(value, struct hit);
} open_calls SEC(".maps");

/* Initial value of an entry of `open_calls`; a hit is too large for a program's stack. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct hit);
} blank SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 16 << 20);
} hits SEC(".maps");

/* Exact number of hits by probe, including lost ones. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, PROBES_MAX);
	__type(key, __u32);
	__type(value, __u64);
} counts SEC(".maps");

/* Gates by probe, and programs behind them. All programs of such a map have one type. */
struct gates {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, PROBES_MAX);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(__u32));
};
struct gates begin_gates SEC(".maps");
struct gates end_gates SEC(".maps");
struct gates raw_begin_gates SEC(".maps");
struct gates raw_end_gates SEC(".maps");

struct passed {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, PASSED_MAX);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(__u32));
};
struct passed passed SEC(".maps");
struct passed raw_passed SEC(".maps");

struct keys {
	__u64 key[KEYS];
};

/* Values of a call that passes its gate, for the program behind it. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, KEYED_CALLS_MAX);
	__type(key, struct call_key);
	__type(value, struct keys);
} keys_of_call SEC(".maps");

struct group_key {
	__u64 probe;
	__u64 key[KEYS - 1];
};

struct group {
	__u64 hits;
	__u64 sum;
};

/* Written by gates: groups; hits without a place among them; hits that met the conditions, by probe; names of threads
 * and processes by their numbers. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, GROUPS_MAX);
	__type(key, struct group_key);
	__type(value, struct group);
} groups SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} groups_lost SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, PROBES_MAX);
	__type(key, __u32);
	__type(value, __u64);
} met SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, NAMES_MAX);
	__type(key, __u32);
	__type(value, char[THREAD_BYTES]);
} names SEC(".maps");

static __always_inline void count(__u32 probe)
{
	__u64 *count = bpf_map_lookup_elem(&counts, &probe);

	if (count)
		__sync_fetch_and_add(count, 1);
}

static __always_inline void begin(struct hit *hit, __u32 probe)
{
	hit->time_ns = bpf_ktime_get_ns();
	hit->duration_ns = NO_DURATION;
	hit->result = 0;
	hit->probe = probe;
	hit->tid = (__u32)bpf_get_current_pid_tgid();
	hit->tid_inside = tid_inside();
	hit->stack = NO_STACK;
	hit->texts = 0;
	hit->flags = 0;
	bpf_get_current_comm(hit->thread, THREAD_BYTES);
}

static __always_inline void take_keys(struct hit *hit, struct call_key *key)
{
	struct keys *keys;

	if (!settings.has_gates)
		return;
	keys = bpf_map_lookup_elem(&keys_of_call, key);
	if (!keys)
		return;
	for (int i = 0; i < KEYS; i++)
		hit->keys[i] = keys->key[i];
	bpf_map_delete_elem(&keys_of_call, key);
}

/* Reads the texts whose bits are set. */
static __always_inline void read_texts(struct hit *hit, __u32 forms, __u32 wanted)
{
	__u32 texts = 0;

	for (int i = 0; i < ARGUMENTS; i++) {
		__u32 form = forms >> (2 * i) & 3;
		long error;
		char *to;

		if (form == FORM_NUMBER || texts >= TEXTS)
			continue;
		/* Constant offsets, which the verifier can follow. */
		to = texts == 0 ? hit->text[0] : texts == 1 ? hit->text[1] : hit->text[2];
		if (wanted >> texts & 1) {
			to[0] = 0;
			if (form == FORM_TEXT) {
				error = bpf_probe_read_user_str(to, TEXT_BYTES, (void *)hit->arguments[i]);
			} else {
				error = bpf_probe_read_user(to, TEXT_BYTES, (void *)hit->arguments[i]);
				/* Near the end of a mapping: at least the size of a socket address. */
				if (error)
					error = bpf_probe_read_user(to, 16, (void *)hit->arguments[i]);
			}
			if (error < 0)
				hit->flags |= 1 << texts;
			else
				hit->flags &= ~(1 << texts);
		}
		texts++;
	}
	hit->texts = texts;
}

static __always_inline void report(struct hit *hit)
{
	/* A record without texts ends before them. */
	__u64 bytes = hit->texts ? sizeof(*hit) : __builtin_offsetof(struct hit, text);

	if (bpf_ringbuf_output(&hits, hit, bytes, 0))
		count_lost();
}

/* Returns the entry of a call that begins. An entry that exists belongs to a call that never returned. */
static __always_inline struct hit *open_call(struct call_key *key)
{
	struct hit *hit = bpf_map_lookup_elem(&open_calls, key), *empty;
	__u32 zero = 0;

	count(key->probe);
	if (hit) {
		report(hit);
	} else {
		empty = bpf_map_lookup_elem(&blank, &zero);
		if (empty)
			bpf_map_update_elem(&open_calls, key, empty, BPF_ANY);
		hit = bpf_map_lookup_elem(&open_calls, key);
		if (!hit) {
			count_lost();
			return 0;
		}
	}
	begin(hit, key->probe);
	take_keys(hit, key);
	return hit;
}

static __always_inline void ended(struct call_key *key, struct hit *hit, __u64 result)
{
	struct probe *probe = bpf_map_lookup_elem(&probes, &key->probe);

	hit->duration_ns = bpf_ktime_get_ns() - hit->time_ns;
	hit->result = result;
	/* Pages that were first touched during the call. */
	if (probe && (hit->flags & UNREADABLE))
		read_texts(hit, probe->forms, hit->flags & UNREADABLE);
	report(hit);
	bpf_map_delete_elem(&open_calls, key);
}

/* A kernel function returns with another stack pointer, so only their threads distinguish its calls. */
static __always_inline __u64 stack_pointer(struct pt_regs *regs, bool is_kernel)
{
	return is_kernel ? 0 : STACK_POINTER(regs);
}

static __always_inline int call_begins(struct pt_regs *regs, bool is_kernel)
{
	struct call_key key = {
		.tid = (__u32)bpf_get_current_pid_tgid(),
		.probe = (__u32)bpf_get_attach_cookie(regs),
		.stack_pointer = stack_pointer(regs, is_kernel),
	};
	struct probe *probe = bpf_map_lookup_elem(&probes, &key.probe);
	struct hit *hit;

	if (!probe || !is_target())
		return 0;
	if (probe->has_end) {
		hit = open_call(&key);
		if (!hit)
			return 0;
		function_arguments(regs, hit->arguments);
		if (probe->forms)
			read_texts(hit, probe->forms, ~0);
		if (!probe->decided_at_end)
			hit->stack = take_stack(regs);
		return 0;
	}
	count(key.probe);
	hit = bpf_ringbuf_reserve(&hits, sizeof(*hit), 0);
	if (!hit) {
		count_lost();
		return 0;
	}
	begin(hit, key.probe);
	take_keys(hit, &key);
	function_arguments(regs, hit->arguments);
	if (probe->forms)
		read_texts(hit, probe->forms, ~0);
	hit->stack = take_stack(regs);
	bpf_ringbuf_submit(hit, 0);
	return 0;
}

static __always_inline bool is_decided_at_end(struct call_key *key)
{
	struct probe *probe;

	if (!settings.has_gates)
		return false;
	probe = bpf_map_lookup_elem(&probes, &key->probe);
	return probe && probe->decided_at_end;
}

static __always_inline int call_ends(struct pt_regs *regs, bool is_kernel)
{
	__u32 cookie = (__u32)bpf_get_attach_cookie(regs);
	struct call_key key = {
		.tid = (__u32)bpf_get_current_pid_tgid(),
		.probe = cookie & ~END_IS_JUMP,
		.stack_pointer = stack_pointer(regs, is_kernel),
	};
	struct hit *hit;

	if (!is_target())
		return 0;
	hit = bpf_map_lookup_elem(&open_calls, &key);
	if (!hit)
		return 0;
	if (cookie & END_IS_JUMP)
		hit->flags |= LEFT_BY_JUMP;
	if (is_decided_at_end(&key))
		hit->stack = take_stack(regs);
	ended(&key, hit, RESULT(regs));
	return 0;
}

static __always_inline bool needs_result(__u32 number)
{
	struct probe *probe = bpf_map_lookup_elem(&probes, &number);

	return probe && probe->needs_result;
}

static __always_inline int call_begins_at_gate(struct pt_regs *regs, bool is_kernel)
{
	if (!settings.has_gates)
		return call_begins(regs, is_kernel);
	if (is_target())
		bpf_tail_call(regs, &begin_gates, (__u32)bpf_get_attach_cookie(regs));
	return 0;
}

static __always_inline int call_ends_at_gate(struct pt_regs *regs, bool is_kernel)
{
	__u32 cookie = (__u32)bpf_get_attach_cookie(regs);
	__u32 number = cookie & ~END_IS_JUMP;

	if (!settings.has_gates || ((cookie & END_IS_JUMP) && needs_result(number)))
		return call_ends(regs, is_kernel);
	if (is_target())
		bpf_tail_call(regs, &end_gates, number);
	return 0;
}

#define FUNCTION(name, section, work, is_kernel)    \
	SEC(section)                                \
	int name(struct pt_regs *regs)              \
	{                                           \
		return work##_at_gate(regs, is_kernel); \
	}                                           \
	SEC(section)                                \
	int name##_passed(struct pt_regs *regs)     \
	{                                           \
		return work(regs, is_kernel);       \
	}

FUNCTION(function_begins, "uprobe", call_begins, false)
FUNCTION(function_ends, "uprobe", call_ends, false)
FUNCTION(kernel_begins, "kprobe", call_begins, true)
FUNCTION(kernel_ends, "kretprobe", call_ends, true)

static __always_inline __u32 *probe_of(long system_call)
{
	__u32 number = (__u32)system_call;
	__u32 *probe = bpf_map_lookup_elem(&probe_of_system_call, &number);

	return probe && *probe ? probe : 0;
}

static __always_inline int system_call_begins_now(struct bpf_raw_tracepoint_args *ctx)
{
	struct call_key key = { .tid = (__u32)bpf_get_current_pid_tgid() };
	struct probe *probe;
	struct hit *hit;
	__u32 *number;

	number = probe_of((long)ctx->args[1]);
	if (!number)
		return 0;
	key.probe = *number - 1;
	probe = bpf_map_lookup_elem(&probes, &key.probe);
	if (!probe)
		return 0;
	hit = open_call(&key);
	if (!hit)
		return 0;
	system_call_arguments((struct pt_regs *)ctx->args[0], hit->arguments);
	if (probe->forms)
		read_texts(hit, probe->forms, ~0);
	/* A signal now would interrupt the call, so it is sent at the end, at the same position of the program. */
	if (!settings.stacks_by_signal && !probe->decided_at_end)
		hit->stack = take_stack(ctx);
	return 0;
}

static __always_inline int system_call_ends_now(struct bpf_raw_tracepoint_args *ctx)
{
	struct pt_regs *regs = (struct pt_regs *)ctx->args[0];
	struct call_key key = { .tid = (__u32)bpf_get_current_pid_tgid() };
	struct hit *hit;
	__u32 *number;

	number = probe_of(SYSTEM_CALL(regs));
	if (!number)
		return 0;
	key.probe = *number - 1;
	hit = bpf_map_lookup_elem(&open_calls, &key);
	if (!hit)
		return 0;
	if (settings.stacks_by_signal || is_decided_at_end(&key))
		hit->stack = take_stack(ctx);
	ended(&key, hit, ctx->args[1]);
	return 0;
}

SEC("raw_tp/sys_enter")
int system_call_begins(struct bpf_raw_tracepoint_args *ctx)
{
	__u32 *number;

	if (!is_target())
		return 0;
	if (settings.has_gates) {
		number = probe_of((long)ctx->args[1]);
		if (number)
			bpf_tail_call(ctx, &raw_begin_gates, *number - 1);
		return 0;
	}
	return system_call_begins_now(ctx);
}

SEC("raw_tp/sys_enter")
int system_call_begins_passed(struct bpf_raw_tracepoint_args *ctx)
{
	return system_call_begins_now(ctx);
}

SEC("raw_tp/sys_exit")
int system_call_ends(struct bpf_raw_tracepoint_args *ctx)
{
	struct pt_regs *regs = (struct pt_regs *)ctx->args[0];
	__u32 *number;

	if (!is_target())
		return 0;
	if (settings.has_gates) {
		number = probe_of(SYSTEM_CALL(regs));
		if (number)
			bpf_tail_call(ctx, &raw_end_gates, *number - 1);
		return 0;
	}
	return system_call_ends_now(ctx);
}

SEC("raw_tp/sys_exit")
int system_call_ends_passed(struct bpf_raw_tracepoint_args *ctx)
{
	return system_call_ends_now(ctx);
}

static __always_inline int passes(struct bpf_raw_tracepoint_args *ctx, int arguments)
{
	struct call_key key = {
		.tid = (__u32)bpf_get_current_pid_tgid(),
		.probe = (__u32)bpf_get_attach_cookie(ctx),
	};
	struct hit *hit;

	if (!is_target())
		return 0;
	count(key.probe);
	hit = bpf_ringbuf_reserve(&hits, __builtin_offsetof(struct hit, text), 0);
	if (!hit) {
		count_lost();
		return 0;
	}
	begin(hit, key.probe);
	take_keys(hit, &key);
	for (int i = 0; i < ARGUMENTS; i++)
		hit->arguments[i] = i < arguments ? ctx->args[i] : 0;
	hit->stack = take_stack(ctx);
	bpf_ringbuf_submit(hit, 0);
	return 0;
}

/* Reads as much as the gate may: the kernel checks only the attached program. */
static __always_inline void read_last(struct bpf_raw_tracepoint_args *ctx, int arguments)
{
	if (arguments) {
		volatile __u64 last = ctx->args[arguments - 1];

		(void)last;
	}
}

/* The kernel refuses a program that reads more arguments than a tracepoint has. */
#define TRACEPOINT(arguments)                                                                  \
	SEC("raw_tp")                                                                          \
	int tracepoint##arguments(struct bpf_raw_tracepoint_args *ctx)                          \
	{                                                                                      \
		if (settings.has_gates) {                                                      \
			read_last(ctx, arguments);                                             \
			if (is_target())                                                       \
				bpf_tail_call(ctx, &raw_begin_gates,                           \
					      (__u32)bpf_get_attach_cookie(ctx));              \
			return 0;                                                              \
		}                                                                              \
		return passes(ctx, arguments);                                                 \
	}                                                                                      \
	SEC("raw_tp")                                                                          \
	int tracepoint##arguments##_passed(struct bpf_raw_tracepoint_args *ctx)                 \
	{                                                                                      \
		return passes(ctx, arguments);                                                 \
	}

TRACEPOINT(0)
TRACEPOINT(1)
TRACEPOINT(2)
TRACEPOINT(3)
TRACEPOINT(4)
TRACEPOINT(5)
TRACEPOINT(6)

char LICENSE[] SEC("license") = "Dual BSD/GPL";
