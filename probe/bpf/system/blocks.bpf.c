// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Requests to a block device as they are queued, with the inode of their first page.
 *
 * Blocks of file systems are in the page cache under two inodes: data under the file's, metadata under the device's.
 * Direct I/O and copies made for writing (for a journal, or encrypted files) have no inode.
 */
#include "kernel.h"

#define OPERATION 0xff
#define READ 0
#define S_IFMT 0170000
#define S_IFBLK 0060000
/* Bits in a page's mapping pointer that mark it as something else than a file. */
#define MAPPING_FLAGS 3UL
#define TAIL_PAGE 1UL

struct block_device {
	__u32 bd_dev;
} CORE;

struct bvec_iter {
	__u64 bi_sector;
	unsigned int bi_size;
	unsigned int bi_idx;
} CORE;

struct super_block {
	__u32 s_dev;
} CORE;

struct inode {
	unsigned short i_mode;
	unsigned long i_ino;
	__u32 i_rdev;
	struct super_block *i_sb;
} CORE;

struct address_space {
	struct inode *host;
} CORE;

struct page {
	unsigned long compound_head;
	struct address_space *mapping;
} CORE;

struct bio_vec {
	struct page *bv_page;
} CORE;

struct bio {
	struct block_device *bi_bdev;
	__u32 bi_opf;
	struct bvec_iter bi_iter;
	struct bio_vec *bi_io_vec;
} CORE;

struct settings {
	/* Device number in the kernel's form: 12 and 20 bits. */
	__u32 device;
	/* This process in its PID namespace; its reads of metadata are not reported. */
	__u32 own_tgid;
	__u64 namespace_device;
	__u64 namespace_inode;
};
const volatile struct settings settings = {};

struct record {
	__u64 sector;
	__u64 inode;
	__u32 bytes;
	__u32 operation;
	/* Type of the inode by S_IFMT; 0 without an inode. */
	__u32 type;
	__u32 unused;
};

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 16 << 20);
} requests SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} accounts SEC(".maps");

static __always_inline struct inode *inode_of(struct bio *bio)
{
	__u32 index = BPF_CORE_READ(bio, bi_iter.bi_idx);
	struct bio_vec *vectors = BPF_CORE_READ(bio, bi_io_vec), *first;
	struct address_space *mapping;
	unsigned long head;
	struct page *page;

	first = (void *)vectors + index * bpf_core_type_size(struct bio_vec);
	page = BPF_CORE_READ(first, bv_page);
	if (!page)
		return NULL;
	/* In a large folio, only the first page holds the mapping. */
	head = BPF_CORE_READ(page, compound_head);
	if (head & TAIL_PAGE)
		page = (struct page *)(head & ~TAIL_PAGE);
	mapping = BPF_CORE_READ(page, mapping);
	if (!mapping || ((unsigned long)mapping & MAPPING_FLAGS))
		return NULL;
	return BPF_CORE_READ(mapping, host);
}

static __always_inline bool is_own(void)
{
	struct bpf_pidns_info current = {};

	if (bpf_get_ns_current_pid_tgid(settings.namespace_device, settings.namespace_inode, &current, sizeof(current)))
		return false;
	return current.tgid == settings.own_tgid;
}

SEC("raw_tp/block_bio_queue")
int queued(struct bpf_raw_tracepoint_args *ctx)
{
	struct record record = {};
	struct inode *inode;
	__u32 zero = 0, device;
	__u64 *lost;
	struct bio *bio;

	/* Linux 5.12 and later. Earlier kernels have no bi_bdev, and refuse this program. */
	bio = (struct bio *)ctx->args[0];
	if (BPF_CORE_READ(bio, bi_bdev, bd_dev) != settings.device)
		return 0;
	record.sector = BPF_CORE_READ(bio, bi_iter.bi_sector);
	record.bytes = BPF_CORE_READ(bio, bi_iter.bi_size);
	record.operation = BPF_CORE_READ(bio, bi_opf);
	if ((record.operation & OPERATION) == READ && is_own())
		return 0;
	inode = record.bytes ? inode_of(bio) : NULL;
	if (inode) {
		record.type = BPF_CORE_READ(inode, i_mode) & S_IFMT;
		record.inode = BPF_CORE_READ(inode, i_ino);
		/* Direct I/O may use pages of any file, which do not identify the blocks. */
		device = record.type == S_IFBLK ? BPF_CORE_READ(inode, i_rdev) : BPF_CORE_READ(inode, i_sb, s_dev);
		if (device != settings.device)
			record.type = 0;
	}
	if (bpf_ringbuf_output(&requests, &record, sizeof(record), 0)) {
		lost = bpf_map_lookup_elem(&accounts, &zero);
		if (lost)
			__sync_fetch_and_add(lost, 1);
	}
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
