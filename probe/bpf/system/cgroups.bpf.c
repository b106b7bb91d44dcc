// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Costs of threads and requests to devices by control group, for which groups have no counters: context switches, time
 * in the run queue, and the time of requests in the queue and in the device.
 *
 * The kernel itself counts the times of threads. They are read on request (an iterator over tasks), and once more when
 * a thread ends.
 */
#include "kernel.h"

#define GROUPS_MAX 16384
#define OPERATION 0xff
#define READ 0
#define WRITE 1

enum cgroup_subsys_id {
	cpu_cgrp_id,
	io_cgrp_id,
};

struct kernfs_node {
	__u64 id;
} CORE;

struct cgroup {
	struct kernfs_node *kn;
} CORE;

struct cgroup_subsys_state {
	struct cgroup *cgroup;
} CORE;

struct css_set {
	struct cgroup_subsys_state *subsys[2];
	struct cgroup *dfl_cgrp;
} CORE;

struct sched_info___delays {
	unsigned long pcount;
	unsigned long long run_delay;
} CORE;

struct sched_entity___counted {
	unsigned long long sum_exec_runtime;
} CORE;

struct task_struct___counted {
	int pid;
	int tgid;
	unsigned long long start_time;
	unsigned long nvcsw;
	unsigned long nivcsw;
	struct sched_info___delays sched_info;
	struct sched_entity___counted se;
	struct css_set *cgroups;
} CORE;

struct blkcg {
	struct cgroup_subsys_state css;
} CORE;

struct blkcg_gq {
	struct blkcg *blkcg;
} CORE;

struct bio {
	struct blkcg_gq *bi_blkg;
} CORE;

struct request {
	unsigned int cmd_flags;
	__u64 start_time_ns;
	__u64 io_start_time_ns;
	struct bio *bio;
} CORE;

struct settings {
	/* Set if the CPU controller has a hierarchy of version 1, which then gives a thread's group; else version 2 does. */
	__u32 is_version_1;
};
const volatile struct settings settings = {};

/* Counters of a thread since its start. */
struct thread {
	__u32 tid;
	__u32 tgid;
	__u64 started;
	__u64 group;
	__u64 ran_ns;
	__u64 waited_ns;
	__u64 voluntary;
	__u64 involuntary;
};

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 8 << 20);
} ended SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} accounts SEC(".maps");

struct requests {
	__u64 read_bytes;
	__u64 written_bytes;
	__u64 reads;
	__u64 writes;
	__u64 queued_ns;
	__u64 device_ns;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_HASH);
	__uint(max_entries, GROUPS_MAX);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u64);
	__type(value, struct requests);
} requested SEC(".maps");

static __always_inline __u64 group_of(struct task_struct___counted *task)
{
	struct css_set *set = BPF_CORE_READ(task, cgroups);
	struct cgroup_subsys_state *state = NULL;
	void *place;

	if (!settings.is_version_1)
		return BPF_CORE_READ(set, dfl_cgrp, kn, id);
	place = (void *)set + bpf_core_field_offset(struct css_set, subsys)
	      + bpf_core_enum_value(enum cgroup_subsys_id, cpu_cgrp_id) * sizeof(state);
	bpf_probe_read_kernel(&state, sizeof(state), place);
	return BPF_CORE_READ(state, cgroup, kn, id);
}

static __always_inline void count(struct task_struct___counted *task, struct thread *thread)
{
	thread->tid = BPF_CORE_READ(task, pid);
	thread->tgid = BPF_CORE_READ(task, tgid);
	thread->started = BPF_CORE_READ(task, start_time);
	thread->group = group_of(task);
	thread->ran_ns = BPF_CORE_READ(task, se.sum_exec_runtime);
	thread->waited_ns = BPF_CORE_READ(task, sched_info.run_delay);
	thread->voluntary = BPF_CORE_READ(task, nvcsw);
	thread->involuntary = BPF_CORE_READ(task, nivcsw);
}

SEC("iter/task")
int threads(struct bpf_iter__task *ctx)
{
	struct task_struct___counted *task = (void *)ctx->task;
	struct thread thread = {};

	if (!task)
		return 0;
	count(task, &thread);
	bpf_seq_write(ctx->meta->seq, &thread, sizeof(thread));
	return 0;
}

SEC("raw_tp/sched_process_exit")
int ends(struct bpf_raw_tracepoint_args *ctx)
{
	struct thread thread = {};
	__u32 zero = 0;
	__u64 *lost;

	count((struct task_struct___counted *)ctx->args[0], &thread);
	if (bpf_ringbuf_output(&ended, &thread, sizeof(thread), 0)) {
		lost = bpf_map_lookup_elem(&accounts, &zero);
		if (lost)
			__sync_fetch_and_add(lost, 1);
	}
	return 0;
}

SEC("raw_tp/block_rq_complete")
int completed(struct bpf_raw_tracepoint_args *ctx)
{
	struct request *request = (struct request *)ctx->args[0];
	__u32 bytes = ctx->args[2], operation = BPF_CORE_READ(request, cmd_flags) & OPERATION;
	__u64 group, began = BPF_CORE_READ(request, start_time_ns), issued = BPF_CORE_READ(request, io_start_time_ns);
	struct requests nothing = {}, *requests;
	__u64 now = bpf_ktime_get_ns();
	struct bio *bio = BPF_CORE_READ(request, bio);

	/* Flushes have no bytes, and no owner. */
	if (!bio || !bytes || operation > WRITE)
		return 0;
	group = BPF_CORE_READ(bio, bi_blkg, blkcg, css.cgroup, kn, id);
	requests = bpf_map_lookup_elem(&requested, &group);
	if (!requests) {
		bpf_map_update_elem(&requested, &group, &nothing, BPF_NOEXIST);
		requests = bpf_map_lookup_elem(&requested, &group);
		if (!requests)
			return 0;
	}
	if (operation == READ) {
		requests->read_bytes += bytes;
		requests->reads++;
	} else {
		requests->written_bytes += bytes;
		requests->writes++;
	}
	/* Some kernels record no times. */
	if (began && issued > began && now > issued) {
		requests->queued_ns += issued - began;
		requests->device_ns += now - issued;
	}
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
