/*
 * A look at the locks of this JVM: what is written down, and where.
 *
 * What is written down lies in memory without a file (memfd) that the observer maps too, all of it there from the beginning: a file in /tmp would
 * raise SIGBUS here when the disk is full, and hold up whoever writes into it while the system writes it back. Nothing blocks: what has no room is
 * counted.
 *
 *   0        header, a page
 *   4 KB     names of classes: "number name\n" each
 *   256 KB   a place for each thread: the wait that it is in
 *   768 KB   names of virtual threads: "number name\n" each
 *   1 MB     a ring of waits that are over, as many as there is memory for: `next` is ours, `read` the observer's
 *   behind   where there are virtual threads: a place for each of them that waits, half as many as the ring has
 */
#ifndef YUNTI_LOOK_H
#define YUNTI_LOOK_H

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define MAGIC 0x33736b636f6c7479ull /* "ytlocks3" */
#define NAMES_AT 4096
#define WAITING_AT (256 << 10)
#define WAITING_MAX 8192
#define THREAD_NAMES_AT (768 << 10)
#define RING_AT (1024 << 10)
#define RING_MAX (64 << 10)
#define RING_MIN 1024
#define CLASSES_MAX 4096
/* A table of virtual threads whose names are written down, more than there is room for. */
#define NAMED_MAX 65536

/* BEFORE: it had begun when the look began; STILL: and it was not over at its end. */
enum kind { MONITOR = 1, LOCK = 2, SYNCHRONIZER = 3, WAIT = 4, KINDS = 15, BEFORE = 16, STILL = 32 };

struct header {
	uint64_t magic;
	uint64_t capacity;
	_Atomic uint64_t next;
	_Atomic uint64_t read;
	_Atomic uint64_t names_bytes;
	_Atomic uint64_t lost;
	/* Waits for locks whose stack was not asked for. */
	_Atomic uint64_t without_stack;
	/* Waits that had begun before the look and ended in it, nobody knows when. */
	_Atomic uint64_t ends_unseen;
	_Atomic uint64_t sees_parks;
	/* There are threads that carry them. */
	_Atomic uint64_t has_virtual_threads;
	_Atomic uint64_t sees_virtual_threads;
	/* Behind the ring. */
	uint64_t virtual_places;
	_Atomic uint64_t thread_names_bytes;
	/* Waits of virtual threads for work, which get half of the places at most. */
	_Atomic uint64_t idle_lost;
	/* Which waited before the look, or all of it, was not to be learnt. */
	_Atomic uint64_t virtual_threads_missed;
};

struct record {
	uint64_t begin_ns;
	/* 0: it is not over. */
	uint64_t duration_ns;
	/* Around the signal to the thread of the system that it was on; 0: none was sent. */
	uint64_t sampled_from_ns;
	uint32_t sampled_for_ns;
	uint32_t sampled_tid;
	/* Behind the begin, and which thread of the system was sent one; 0: none was. */
	uint32_t holder_asked_after_ns;
	uint32_t holder_tid;
	/* The system's number, or a virtual thread's with IS_VIRTUAL. */
	uint32_t tid;
	/* As `tid`; 0: not known. */
	uint32_t holder;
	uint32_t identity;
	uint32_t class_number;
	/* Of a place; 0: its thread does not wait. */
	_Atomic uint32_t kind;
	/* Of the ring, written last: 1 + the number of this record. */
	_Atomic uint32_t turn;
};

_Static_assert(sizeof(struct record) == 64, "as observe/src/jvm/locks/agent.rs reads it");
_Static_assert(WAITING_AT + WAITING_MAX * sizeof(struct record) <= THREAD_NAMES_AT, "places end before the names");

/* From start to stop. */
struct look {
	uint64_t number;
	char name[128];
	uint64_t begin_ns;
	uint64_t deadline_ns;
	int fd;
	size_t bytes;
	struct header *header;
	struct record *waiting;
	struct record *ring;
	struct record *virtual_waiting;
	/* Whose place of those each is; 0: nobody's. */
	_Atomic uint32_t *virtual_at;
	_Atomic uint64_t virtual_open;
	_Atomic uint32_t named[NAMED_MAX];
	_Atomic int is_full_of_names;
	/* Whose place each is, by a hash table of their numbers. */
	_Atomic uint32_t thread_at[WAITING_MAX];
	pthread_mutex_t names_mutex;
	uint32_t class_count;
	/* A hash table: number and signature. */
	struct {
		uint32_t number;
		char *signature;
	} classes[2 * CLASSES_MAX];
};

uint64_t now_ns(void);
uint32_t own_tid(void);

/* NULL: there is no memory. */
struct look *make_look(const char *name, uint64_t seconds, int with_virtual_threads);
/* From now on all threads write into it; NULL: into none. */
void set_look(struct look *look);
/* Whether nobody has one in their hands any more, within some seconds. */
int all_have_left(void);
void release(struct look *look);

/* The look that is on, which stays until `leave`; NULL: none is. */
struct look *enter(void);
void leave(void);

/* The place of a thread; NULL: there are no more. */
struct record *place_of(struct look *look, uint32_t tid);
struct record *own_place(struct look *look);

/* The place of a virtual thread, which has one while it waits; NULL: it has none. */
struct record *virtual_place(struct look *look, uint32_t number);
/* A place for one that has none; NULL: there is no more room, which is counted. */
struct record *take_virtual_place(struct look *look, uint32_t number, int is_idle);
void free_virtual_place(struct look *look, struct record *place);
/* Whether the name of a virtual thread is written down, or need not be: there is no more room. */
int is_named(struct look *look, uint32_t number);
void name_thread(struct look *look, uint32_t number, const char *name);

uint32_t number_of_class(struct look *look, const char *signature);
/* Into the ring. */
void tell(struct look *look, const struct record *record);

#endif
