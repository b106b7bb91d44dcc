// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Page-cache requests by file and process, and the pages brought in for them.
 *
 * There are two kinds of programs. Those for misses are always attached: pages are added, dropped and read ahead at a
 * rate far below the cost of device I/O. Those for touches run at each read and write, up to millions a second. They
 * are attached for a share of the time only, and `sample` is set during it.
 *
 *   a thread requests                 what is reported                      result
 *   read(2), pages missing            sync_ra, async_ra: file, range        .. the pages that it requests now
 *   a mapped page, not mapped         fault: file, page                     .. that page
 *   the kernel starts a read          ra_unbounded, ra_order: file, range   .. the range that is read
 *   a page is added                   added: file, page, count              requested: missed by a read or a mapping;
 *                                                                           in the range: read ahead; else written
 */
#include "cache.h"

/* ---- Misses ---- */

static __always_inline int requested(struct inode *inode, __u64 index, __u64 count)
{
	struct thread *thread = this_thread();
	struct user_key key = {};
	__u64 end;

	if (!thread)
		return 0;
	key_of(inode, &key);
	name(inode, &key);
	thread->ahead_end = 0;
	/* A fault has reported its page already; this call gives only the length of the read. */
	if (thread->requested == REQUESTED_BY_FAULT && thread->requested_inode == key.inode
	    && thread->requested_device == key.device && thread->requested_first >= index
	    && thread->requested_first < index + count)
		return 0;
	end = pages_of(inode);
	thread->requested = REQUESTED_BY_READ;
	thread->requested_inode = key.inode;
	thread->requested_device = key.device;
	thread->requested_first = index;
	thread->requested_end = index + count < end ? index + count : end;
	return 0;
}

SEC("raw_tp/page_cache_sync_ra")
int sync_ra(struct bpf_raw_tracepoint_args *ctx)
{
	return requested((struct inode *)ctx->args[0], ctx->args[1], ctx->args[3]);
}

SEC("raw_tp/page_cache_async_ra")
int async_ra(struct bpf_raw_tracepoint_args *ctx)
{
	return requested((struct inode *)ctx->args[0], ctx->args[1], ctx->args[3]);
}

static __always_inline int is_ahead(struct inode *inode, __u64 first, __u64 count)
{
	struct thread *thread = this_thread();
	struct user_key key = {};
	__u64 end;

	if (!thread)
		return 0;
	key_of(inode, &key);
	name(inode, &key);
	/* Pages added behind the end are written. */
	end = pages_of(inode);
	thread->ahead_inode = key.inode;
	thread->ahead_device = key.device;
	thread->ahead_first = first;
	thread->ahead_end = first + count < end ? first + count : end;
	return 0;
}

SEC("raw_tp/page_cache_ra_unbounded")
int ra_unbounded(struct bpf_raw_tracepoint_args *ctx)
{
	return is_ahead((struct inode *)ctx->args[0], ctx->args[1], ctx->args[2]);
}

SEC("raw_tp/page_cache_ra_order")
int ra_order(struct bpf_raw_tracepoint_args *ctx)
{
	struct file_ra_state *state = (struct file_ra_state *)ctx->args[2];

	return is_ahead((struct inode *)ctx->args[0], ctx->args[1], BPF_CORE_READ(state, size));
}

static __always_inline struct touches *touches_of(struct user_key *key)
{
	struct touches nothing = {};
	struct touches *touches = bpf_map_lookup_elem(&touched, key);

	if (touches)
		return touches;
	keep_comm(key->tgid);
	bpf_map_update_elem(&touched, key, &nothing, BPF_NOEXIST);
	touches = bpf_map_lookup_elem(&touched, key);
	if (!touches)
		count_lost();
	return touches;
}

#define TOUCH(key, field, count)                                            \
	do {                                                                \
		struct touches *touches_ = touches_of(key);                 \
		struct sums *sums_ = bpf_map_lookup_elem(&sums, &zero);     \
		if (touches_)                                               \
			__sync_fetch_and_add(&touches_->field, count);      \
		if (sums_)                                                  \
			sums_->touches.field += count;                      \
	} while (0)

/*
 * A measured thread is delayed, and touches less than it would. The part of the time since its last event that a
 * program took is counted as if it had gone on at its rate. A thread that waits for something else has long times
 * between events, and no correction.
 */
static __always_inline __u64 held_up(struct thread *thread, struct control *control)
{
	__u64 now = bpf_ktime_get_ns(), since = now - thread->seen_ns, cost = control->event_ns;

	thread->seen_ns = now;
	if (since <= 2 * cost)
		return cost ? 1024 : 0;
	return cost * 1024 / (since - cost);
}

#define TOUCH_HELD_UP(key, field, count, part)                              \
	do {                                                                \
		struct touches *touches_ = touches_of(key);                 \
		struct sums *sums_ = bpf_map_lookup_elem(&sums, &zero);     \
		if (touches_) {                                             \
			__sync_fetch_and_add(&touches_->field, count);      \
			__sync_fetch_and_add(&touches_->field##_held_up, (count) * (part)); \
		}                                                           \
		if (sums_)                                                  \
			sums_->touches.field += count;                      \
	} while (0)

SEC("raw_tp/mm_filemap_fault")
int fault(struct bpf_raw_tracepoint_args *ctx)
{
	struct address_space *mapping = (struct address_space *)ctx->args[0];
	struct inode *inode = BPF_CORE_READ(mapping, host);
	struct thread *thread = this_thread();
	struct control *control = controls();
	struct user_key key = {};
	__u64 index = ctx->args[1];
	__u32 zero = 0;

	if (!thread || !control)
		return 0;
	key_of(inode, &key);
	name(inode, &key);
	/* The fault is repeated after the page has come. */
	if (thread->requested == REQUESTED_BY_FAULT && thread->requested_inode == key.inode
	    && thread->requested_device == key.device && thread->requested_first == index)
		return 0;
	thread->requested = REQUESTED_BY_FAULT;
	thread->requested_inode = key.inode;
	thread->requested_device = key.device;
	thread->requested_first = index;
	thread->requested_end = index + 1;
	thread->ahead_end = 0;
	if (control->sample)
		TOUCH(&key, mapped, 1);
	return 0;
}

static __always_inline void follow(struct trace_event_raw_mm_filemap_op_page_cache *added, struct user_key *user,
				   __u64 pages, __u32 one_of)
{
	struct event event = { .pfn = added->pfn, .pages = pages, .weight = one_of };
	__u32 nothing = 0;

	event.key.inode = user->inode;
	event.key.device = user->device;
	event.key.index = added->index;
	if (bpf_map_update_elem(&followed, &event.key, &nothing, BPF_ANY))
		count_lost();
	else if (bpf_ringbuf_output(&events, &event, sizeof(event), 0))
		count_lost();
}

SEC("tp/filemap/mm_filemap_add_to_page_cache")
int added(struct trace_event_raw_mm_filemap_op_page_cache *ctx)
{
	__u64 index = ctx->index, pages = 1ull << (ctx->order & 31), first, end, hit = 0;
	struct thread *thread = this_thread();
	struct control *control = controls();
	struct user_key key = {};
	struct misses *misses;
	bool is_ahead = false;
	__u32 zero = 0;

	if (!thread || !control)
		return 0;
	key.inode = ctx->i_ino;
	key.device = ctx->s_dev;
	key.tgid = bpf_get_current_pid_tgid() >> 32;
	misses = misses_of(&key);
	if (!misses)
		return 0;
	if (thread->requested && thread->requested_inode == key.inode && thread->requested_device == key.device) {
		first = index > thread->requested_first ? index : thread->requested_first;
		end = index + pages < thread->requested_end ? index + pages : thread->requested_end;
		hit = end > first ? end - first : 0;
	}
	if (thread->ahead_inode == key.inode && thread->ahead_device == key.device)
		is_ahead = index >= thread->ahead_first && index < thread->ahead_end;
	if (hit && thread->requested == REQUESTED_BY_READ) {
		__sync_fetch_and_add(&misses->read, hit);
		if (control->sample)
			TOUCH(&key, read_missed, hit);
	} else if (hit) {
		__sync_fetch_and_add(&misses->mapped, hit);
		if (control->sample)
			TOUCH(&key, mapped_missed, hit);
	} else if (!is_ahead) {
		__sync_fetch_and_add(&misses->written, pages);
		if (control->sample)
			TOUCH(&key, written_missed, pages);
		return 0;
	}
	if (hit < pages) {
		__sync_fetch_and_add(&misses->read_ahead, pages - hit);
		/* In a partly requested folio, the kernel does not know the used part. */
		if (!hit && control->followed_one_of && bpf_get_prandom_u32() % control->followed_one_of == 0)
			follow(ctx, &key, pages, control->followed_one_of);
	}
	return 0;
}

static __always_inline unsigned long flags_of(struct folio *folio)
{
	struct folio___v6_18 *new = (void *)folio;

	if (bpf_core_field_exists(new->flags.f))
		return BPF_CORE_READ(new, flags.f);
	return BPF_CORE_READ(folio, flags);
}

static __always_inline __u64 count_of(struct folio *folio, unsigned long flags)
{
	struct folio___v6_18 *new = (void *)folio;

	if (!(flags & 1ul << bpf_core_enum_value(enum pageflags, PG_head)))
		return 1;
	if (bpf_core_field_exists(new->_nr_pages))
		return BPF_CORE_READ(new, _nr_pages);
	if (bpf_core_field_exists(folio->_folio_nr_pages))
		return BPF_CORE_READ(folio, _folio_nr_pages);
	return 1;
}

SEC("raw_tp/mm_filemap_delete_from_page_cache")
int dropped(struct bpf_raw_tracepoint_args *ctx)
{
	struct folio *folio = (struct folio *)ctx->args[0];
	struct inode *inode = BPF_CORE_READ(folio, mapping, host);
	unsigned long flags = flags_of(folio), used;
	struct event event = { .is_gone = 1 };
	struct user_key key = {};
	struct misses *misses;

	key_of(inode, &key);
	misses = misses_of(&key);
	if (misses)
		__sync_fetch_and_add(&misses->dropped, count_of(folio, flags));
	event.key.inode = key.inode;
	event.key.device = key.device;
	event.key.index = BPF_CORE_READ(folio, index);
	if (bpf_map_delete_elem(&followed, &event.key))
		return 0;
	/* Reclaim may have cleared the flag shortly before; user space reads it several times a second. */
	used = 1ul << bpf_core_enum_value(enum pageflags, PG_referenced)
	     | 1ul << bpf_core_enum_value(enum pageflags, PG_active);
	event.was_used = (flags & used) != 0;
	if (bpf_ringbuf_output(&events, &event, sizeof(event), 0))
		count_lost();
	return 0;
}

/* ---- Touches ---- */

/*
 * Programs of samples read the kernel's structures by their types (BTF), which costs less than copying them. One that
 * runs rarely stays attached between samples, and returns at once.
 */

/* Counts the previous request, as far as it got. */
static __always_inline void close_request(struct thread *thread, __u64 end, __u64 part)
{
	struct user_key key = { .inode = thread->read_inode, .device = thread->read_device, .tgid = thread->tgid };
	__u32 zero = 0;

	if (end > thread->read_index)
		TOUCH_HELD_UP(&key, read, end - thread->read_index, part);
}

static __always_inline void key_by_type(struct inode *inode, struct user_key *key)
{
	key->inode = inode->i_ino;
	key->device = inode->i_sb->s_dev;
	key->tgid = bpf_get_current_pid_tgid() >> 32;
}

/* Last page of a request, which may reach behind the end of the file. */
static __always_inline __u64 last_page(struct inode *inode, __u64 last)
{
	long long size = inode->i_size;

	if (size > 0 && last > ((__u64)size - 1) >> settings.page_bits)
		return ((__u64)size - 1) >> settings.page_bits;
	return last;
}

SEC("tp_btf/mm_filemap_get_pages")
int read(__u64 *ctx)
{
	struct address_space *mapping = (void *)ctx[0];
	__u64 index = ctx[1], last = ctx[2], end, part;
	struct inode *inode = mapping->host;
	struct control *control = controls();
	struct thread *thread;
	struct user_key key = {};
	struct sums *all;
	__u32 zero = 0;

	if (!control || !control->sample)
		return 0;
	thread = this_thread();
	all = bpf_map_lookup_elem(&sums, &zero);
	if (!thread || !all)
		return 0;
	all->events[PROGRAM_READ]++;
	part = held_up(thread, control);
	key_by_type(inode, &key);
	last = last_page(inode, last);
	if (!thread->read_sample || thread->read_inode != key.inode || thread->read_device != key.device)
		name(inode, &key);
	if (thread->read_sample) {
		end = thread->read_last + 1;
		/* A request that gets only some of its pages comes again for the rest. */
		if (thread->read_inode == key.inode && thread->read_device == key.device && thread->read_last == last
		    && index > thread->read_index && index <= last)
			end = index;
		/* The progress of a request from the previous sample is unknown: at most one batch is counted. */
		else if (thread->read_sample != control->sample && end > thread->read_index + BATCH_PAGES)
			end = thread->read_index + BATCH_PAGES;
		close_request(thread, end, part);
	}
	thread->read_sample = control->sample;
	thread->tgid = key.tgid;
	thread->read_inode = key.inode;
	thread->read_device = key.device;
	thread->read_index = index;
	thread->read_last = last;
	return 0;
}

SEC("tp_btf/mm_filemap_map_pages")
int mapped(__u64 *ctx)
{
	struct address_space *mapping = (void *)ctx[0];
	__u64 first = ctx[1], last = ctx[2], count, part;
	struct inode *inode = mapping->host;
	struct control *control = controls();
	struct thread *thread;
	struct user_key key = {};
	struct sums *all;
	__u32 zero = 0;

	if (!control || !control->sample)
		return 0;
	thread = this_thread();
	all = bpf_map_lookup_elem(&sums, &zero);
	if (!thread || !all)
		return 0;
	all->events[PROGRAM_MAPPED]++;
	part = held_up(thread, control);
	key_by_type(inode, &key);
	name(inode, &key);
	last = last_page(inode, last);
	count = last >= first ? last - first + 1 : 0;
	/* The page that was just missed is mapped with the others. */
	if (count && thread->requested == REQUESTED_BY_FAULT && thread->requested_inode == key.inode
	    && thread->requested_device == key.device && thread->requested_first >= first && thread->requested_first <= last) {
		count--;
		thread->requested = REQUESTED_NOTHING;
	}
	/* The same place again: a page that could not be mapped with the others, which were all counted. */
	if (count && thread->mapped_inode == key.inode && thread->mapped_first == first)
		count = 1;
	thread->mapped_inode = key.inode;
	thread->mapped_first = first;
	if (count)
		TOUCH_HELD_UP(&key, mapped, count, part);
	return 0;
}

static __always_inline int wrote(__u64 *ctx, enum program program)
{
	__u64 position = ctx[1], bytes = (__u32)ctx[3], count, part;
	struct inode *inode = (void *)ctx[0];
	struct control *control = controls();
	struct thread *thread;
	struct user_key key = {};
	struct sums *all;
	__u32 zero = 0;

	if (!control || !control->sample || !bytes)
		return 0;
	thread = this_thread();
	all = bpf_map_lookup_elem(&sums, &zero);
	if (!thread || !all)
		return 0;
	all->events[program]++;
	part = held_up(thread, control);
	key_by_type(inode, &key);
	name(inode, &key);
	count = ((position + bytes - 1) >> settings.page_bits) - (position >> settings.page_bits) + 1;
	TOUCH_HELD_UP(&key, written, count, part);
	return 0;
}

SEC("tp_btf/ext4_da_write_end")
int wrote_delayed(__u64 *ctx)
{
	return wrote(ctx, PROGRAM_WROTE_DELAYED);
}

SEC("tp_btf/ext4_write_end")
int wrote_at_once(__u64 *ctx)
{
	return wrote(ctx, PROGRAM_WROTE_AT_ONCE);
}

SEC("tp_btf/ext4_journalled_write_end")
int wrote_journalled(__u64 *ctx)
{
	return wrote(ctx, PROGRAM_WROTE_JOURNALLED);
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
