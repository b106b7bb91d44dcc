// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Errors of one file system and the device below it: faults that ext4 finds, and requests that fail.
 */
#include "kernel.h"

#define RECORD_EXT4 0
#define RECORD_REQUEST 1
#define NAME_BYTES 40

struct super_block {
	__u32 s_dev;
} CORE;

struct block_device {
	__u32 bd_dev;
} CORE;

struct bio {
	struct block_device *bi_bdev;
} CORE;

struct request {
	__u64 __sector;
	__u32 cmd_flags;
	struct block_device *part;
	struct bio *bio;
} CORE;

struct settings {
	/* Device number in the kernel's form: 12 and 20 bits. */
	__u32 device;
};
const volatile struct settings settings = {};

struct record {
	__u64 time_ns;
	/* Sector of a request. */
	__u64 sector;
	__u32 what;
	/* Line in the source of ext4, or the kernel's status of the request. */
	__u32 number;
	__u32 operation;
	__u32 unused;
	/* Function of ext4. */
	char name[NAME_BYTES];
};

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 20);
} errors SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} accounts SEC(".maps");

static __always_inline void report(struct record *record)
{
	__u32 zero = 0;
	__u64 *lost;

	record->time_ns = bpf_ktime_get_ns();
	if (bpf_ringbuf_output(&errors, record, sizeof(*record), 0)) {
		lost = bpf_map_lookup_elem(&accounts, &zero);
		if (lost)
			__sync_fetch_and_add(lost, 1);
	}
}

SEC("raw_tp/ext4_error")
int complains(struct bpf_raw_tracepoint_args *ctx)
{
	struct super_block *file_system = (struct super_block *)ctx->args[0];
	struct record record = { .what = RECORD_EXT4, .number = (__u32)ctx->args[2] };

	if (BPF_CORE_READ(file_system, s_dev) != settings.device)
		return 0;
	bpf_probe_read_kernel_str(record.name, sizeof(record.name), (void *)ctx->args[1]);
	report(&record);
	return 0;
}

SEC("raw_tp/block_rq_error")
int fails(struct bpf_raw_tracepoint_args *ctx)
{
	struct request *request = (struct request *)ctx->args[0];
	struct record record = { .what = RECORD_REQUEST, .number = (__u32)ctx->args[1] & 0xff };
	struct block_device *device = BPF_CORE_READ(request, part);
	struct bio *bio = BPF_CORE_READ(request, bio);

	/* The bio has the partition, if there is one. If the disk's times are not counted, the request has only the disk. */
	if (bio)
		device = BPF_CORE_READ(bio, bi_bdev);
	if (!device || BPF_CORE_READ(device, bd_dev) != settings.device)
		return 0;
	record.sector = BPF_CORE_READ(request, __sector);
	record.operation = BPF_CORE_READ(request, cmd_flags);
	report(&record);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
