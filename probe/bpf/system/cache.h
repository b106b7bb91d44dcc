/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Maps of cache.bpf.c: touches and misses by user of a file, present requests by thread, names of files, and folios
 * that are followed.
 */
#ifndef YUNTI_CACHE_H
#define YUNTI_CACHE_H

#include "kernel.h"

#define FILES_MAX 65536
/* Entries of a sample, which is emptied several times a second. */
#define TOUCHED_MAX 16384
#define THREADS_MAX 16384
#define FOLLOWED_MAX 8192
/* Size of struct folio_batch. */
#define BATCH_PAGES 31
#define PATH_BYTES 1024
#define COMPONENTS_MAX 20
#define COMPONENT_BYTES 256
#define COMM_BYTES 16

struct settings {
	/* Binary logarithm of the page size. */
	__u32 page_bits;
};
const volatile struct settings settings = {};

struct super_block {
	__u32 s_dev;
} CORE;

struct hlist_node;

struct hlist_head {
	struct hlist_node *first;
} CORE;

struct inode {
	struct super_block *i_sb;
	unsigned long i_ino;
	long long i_size;
	struct hlist_head i_dentry;
} CORE;

struct address_space {
	struct inode *host;
} CORE;

struct file_ra_state {
	unsigned long start;
	unsigned int size;
} CORE;

/* Aliases of an inode; kernel.h has the other fields. */
struct dentry___alias {
	struct dentry___alias *d_parent;
	struct qstr d_name;
	union {
		struct hlist_node *d_alias;
	} d_u;
} CORE;

enum pageflags {
	PG_referenced,
	PG_head,
	PG_active,
};

/* Linux 6.18. In earlier kernels the flags are a plain word, and the number of pages has another name. */
struct folio___v6_18 {
	struct {
		unsigned long f;
	} flags;
	unsigned int _nr_pages;
} CORE;

struct folio {
	unsigned long flags;
	struct address_space *mapping;
	unsigned long index;
	unsigned int _folio_nr_pages;
} CORE;

/* Record of include/trace/events/filemap.h, by the kernel's description. */
struct trace_event_raw_mm_filemap_op_page_cache {
	unsigned long pfn;
	unsigned long i_ino;
	unsigned long index;
	__u32 s_dev;
	unsigned char order;
} CORE;

struct file_key {
	__u64 inode;
	__u32 device;
	__u32 unused;
};

struct user_key {
	__u64 inode;
	__u32 device;
	__u32 tgid;
};

/* Pages. */
struct misses {
	__u64 read;
	__u64 mapped;
	__u64 written;
	__u64 read_ahead;
	__u64 dropped;
};

/* Pages touched by requests during samples, and the misses among them. */
struct touches {
	__u64 read;
	__u64 mapped;
	__u64 written;
	__u64 read_missed;
	__u64 mapped_missed;
	__u64 written_missed;
	/* Pages that would have been touched in the time that programs took, in units of 1/1024. */
	__u64 read_held_up;
	__u64 mapped_held_up;
	__u64 written_held_up;
};

enum requested {
	REQUESTED_NOTHING,
	REQUESTED_BY_READ,
	REQUESTED_BY_FAULT,
};

struct thread {
	/* Its last request: pages first to end of a file. */
	__u64 requested_inode;
	__u32 requested_device;
	__u32 requested;
	__u64 requested_first, requested_end;
	/* Range that the kernel reads for it. */
	__u64 ahead_inode;
	__u64 ahead_first, ahead_end;
	__u32 ahead_device;
	/* Request that may continue, from read_index to read_last; 0, or the number of the sample that recorded it. */
	__u32 read_sample;
	__u64 read_inode;
	__u32 read_device;
	__u32 tgid;
	__u64 read_index, read_last;
	/* Time of its last event in a program of samples. */
	__u64 seen_ns;
	/* Place of its last mapping of pages. */
	__u64 mapped_inode;
	__u64 mapped_first;
};

/* Folio that was read ahead and is followed. */
struct followed_key {
	__u64 inode;
	__u64 index;
	__u32 device;
	__u32 unused;
};

struct event {
	struct followed_key key;
	__u64 pfn;
	__u32 pages;
	/* Number of folios that it stands for. */
	__u32 weight;
	__u32 is_gone;
	/* Set for a dropped folio that was used. */
	__u32 was_used;
};

struct named {
	__u32 bytes;
	char path[PATH_BYTES + COMPONENT_BYTES];
};

struct control {
	/* Number of the present sample; 0 without one. */
	__u32 sample;
	/* One of this many folios that are read ahead is followed. */
	__u32 followed_one_of;
	/* Nanoseconds that a program of samples costs the measured thread. */
	__u32 event_ns;
	__u32 unused;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct control);
} control SEC(".maps");

/* Users and folios that did not fit into the maps. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} accounts SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, FILES_MAX);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct user_key);
	__type(value, struct misses);
} missed SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, TOUCHED_MAX);
	__type(key, struct user_key);
	__type(value, struct touches);
} touched SEC(".maps");

/* Programs of samples, in the order of the reader. */
enum program {
	PROGRAM_READ,
	PROGRAM_MAPPED,
	PROGRAM_WROTE_DELAYED,
	PROGRAM_WROTE_AT_ONCE,
	PROGRAM_WROTE_JOURNALLED,
	PROGRAMS,
};

/* Sums over all users, in the order of struct touches, for the error estimate; and the events of each program. */
struct sums {
	struct touches touches;
	__u64 events[PROGRAMS];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct sums);
} sums SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, THREADS_MAX);
	__type(key, __u32);
	__type(value, struct thread);
} threads SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, FILES_MAX);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct file_key);
	__type(value, struct named);
} names SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct named);
} drafts SEC(".maps");

struct comm {
	char text[COMM_BYTES];
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, THREADS_MAX);
	__type(key, __u32);
	__type(value, struct comm);
} comms SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, FOLLOWED_MAX);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct followed_key);
	__type(value, __u32);
} followed SEC(".maps");

/* Folios that are followed from now on, and dropped folios. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 20);
} events SEC(".maps");

static __always_inline void count_lost(void)
{
	__u32 zero = 0;
	__u64 *lost = bpf_map_lookup_elem(&accounts, &zero);

	if (lost)
		__sync_fetch_and_add(lost, 1);
}

static __always_inline struct control *controls(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&control, &zero);
}

static __always_inline struct thread *this_thread(void)
{
	struct thread nothing = {};
	__u32 tid = (__u32)bpf_get_current_pid_tgid();
	struct thread *thread = bpf_map_lookup_elem(&threads, &tid);

	if (thread)
		return thread;
	bpf_map_update_elem(&threads, &tid, &nothing, BPF_NOEXIST);
	return bpf_map_lookup_elem(&threads, &tid);
}

static __always_inline void keep_comm(__u32 tgid)
{
	struct comm comm = {};

	bpf_get_current_comm(comm.text, sizeof(comm.text));
	bpf_map_update_elem(&comms, &tgid, &comm, BPF_ANY);
}

static __always_inline struct misses *misses_of(struct user_key *key)
{
	struct misses nothing = {};
	struct misses *misses = bpf_map_lookup_elem(&missed, key);

	if (misses)
		return misses;
	keep_comm(key->tgid);
	bpf_map_update_elem(&missed, key, &nothing, BPF_NOEXIST);
	misses = bpf_map_lookup_elem(&missed, key);
	if (!misses)
		count_lost();
	return misses;
}

/* Stores the names from the file up to the root of its file system; user space reverses their order. */
static __always_inline void keep_name(struct inode *inode, struct file_key *key)
{
	struct dentry___alias *dentry, *parent;
	struct hlist_node *alias;
	struct named *draft;
	__u32 zero = 0, at = 0;
	long copied;
	int i;

	if (bpf_map_lookup_elem(&names, key))
		return;
	alias = BPF_CORE_READ(inode, i_dentry.first);
	draft = bpf_map_lookup_elem(&drafts, &zero);
	if (!alias || !draft)
		return;
	dentry = (void *)alias - bpf_core_field_offset(struct dentry___alias, d_u);
	for (i = 0; i < COMPONENTS_MAX; i++) {
		parent = BPF_CORE_READ(dentry, d_parent);
		if (!parent || parent == dentry || at >= PATH_BYTES - 1)
			break;
		copied = bpf_probe_read_kernel_str(&draft->path[at & (PATH_BYTES - 1)], COMPONENT_BYTES,
						   BPF_CORE_READ(dentry, d_name.name));
		if (copied <= 0)
			break;
		/* Includes the zero byte that separates the names. */
		at += copied;
		dentry = parent;
	}
	draft->bytes = at;
	bpf_map_update_elem(&names, key, draft, BPF_NOEXIST);
}

static __always_inline void key_of(struct inode *inode, struct user_key *key)
{
	key->inode = BPF_CORE_READ(inode, i_ino);
	key->device = BPF_CORE_READ(inode, i_sb, s_dev);
	key->tgid = bpf_get_current_pid_tgid() >> 32;
}

static __always_inline void name(struct inode *inode, struct user_key *user)
{
	struct file_key key = { .inode = user->inode, .device = user->device };

	keep_name(inode, &key);
}

/* Number of pages up to the end of the file. */
static __always_inline __u64 pages_of(struct inode *inode)
{
	long long size = BPF_CORE_READ(inode, i_size);

	return size > 0 ? ((__u64)size + (1ull << settings.page_bits) - 1) >> settings.page_bits : 0;
}

#endif
