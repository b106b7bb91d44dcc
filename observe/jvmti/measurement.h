/*
 * A measurement of this JVM's locks: its records and their memory.
 *
 * The records are in a memfd that the observer maps too. All its pages are allocated at the start. A file in /tmp would
 * raise SIGBUS on a full disk, and block writers during write-back. Nothing blocks here: records that do not fit are
 * counted as lost.
 *
 *   0        header, a page
 *   4 KB     names of classes: "number name\n" each
 *   256 KB   a place per thread, for its current wait
 *   768 KB   names of virtual threads: "number name\n" each
 *   1 MB     a ring of ended waits, up to the memory available; the agent writes `next`, the observer `read`
 *   after    with virtual threads: places for their current waits, half as many as the ring has records
 */
#ifndef YUNTI_MEASUREMENT_H
#define YUNTI_MEASUREMENT_H

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
/* Entries in the table of named virtual threads, more than names fit into the memory. */
#define NAMED_MAX 65536

/* BEFORE: the wait began before the measurement. STILL: it also had not ended at the end. */
enum kind { MONITOR = 1, LOCK = 2, SYNCHRONIZER = 3, WAIT = 4, KINDS = 15, BEFORE = 16, STILL = 32 };

struct header {
	uint64_t magic;
	uint64_t capacity;
	_Atomic uint64_t next;
	_Atomic uint64_t read;
	_Atomic uint64_t names_bytes;
	_Atomic uint64_t lost;
	/* Waits for locks without a request for the stack. */
	_Atomic uint64_t without_stack;
	/* Waits that began before the measurement and ended in it at an unknown time. */
	_Atomic uint64_t unseen_ends;
	_Atomic uint64_t sees_parks;
	/* Set if the JVM has carrier threads. */
	_Atomic uint64_t has_virtual_threads;
	_Atomic uint64_t sees_virtual_threads;
	/* Places after the ring. */
	uint64_t virtual_places;
	_Atomic uint64_t thread_names_bytes;
	/* Lost waits of virtual threads for work, which get at most half of the places. */
	_Atomic uint64_t idle_lost;
	/* Set if virtual threads that waited before the measurement could not be listed. */
	_Atomic uint64_t virtual_threads_missed;
};

struct record {
	uint64_t begin_ns;
	/* 0 if the wait has not ended. */
	uint64_t duration_ns;
	/* Time around the signal to the waiter's system thread; 0 if none was sent. */
	uint64_t sampled_from_ns;
	uint32_t sampled_for_ns;
	uint32_t sampled_tid;
	/* Time of the signal to the holder's system thread, after the begin; 0 if none was sent. */
	uint32_t holder_request_after_ns;
	uint32_t holder_tid;
	/* System thread ID, or a virtual thread's number with IS_VIRTUAL. */
	uint32_t tid;
	/* As `tid`; 0 if unknown. */
	uint32_t holder;
	uint32_t identity;
	uint32_t class_number;
	/* In a place: 0 if its thread does not wait. */
	_Atomic uint32_t kind;
	/* In the ring, written last: 1 + the number of this record. */
	_Atomic uint32_t turn;
};

_Static_assert(sizeof(struct record) == 64, "observe/src/jvm/locks/agent.rs reads this layout");
_Static_assert(WAITING_AT + WAITING_MAX * sizeof(struct record) <= THREAD_NAMES_AT, "places must end before the names");

/* A measurement, from start to stop. */
struct measurement {
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
	/* Owner of each virtual place; 0 if free. */
	_Atomic uint32_t *virtual_at;
	_Atomic uint64_t virtual_open;
	_Atomic uint32_t named[NAMED_MAX];
	_Atomic int is_full_of_names;
	/* Owner of each place: a hash table of thread IDs. */
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

/* Returns NULL without memory. */
struct measurement *make_measurement(const char *name, uint64_t seconds, int with_virtual_threads);
/* Makes all threads write into this measurement, or into none (NULL). */
void set_measurement(struct measurement *measurement);
/* Waits some seconds. Returns 1 if no thread uses a measurement any more. */
int all_have_left(void);
void release(struct measurement *measurement);

/* Returns the current measurement, which stays valid until `leave`; NULL if there is none. */
struct measurement *enter(void);
void leave(void);

/* Returns the place of a thread; NULL if all are taken. */
struct record *place_of(struct measurement *measurement, uint32_t tid);
struct record *own_place(struct measurement *measurement);

/* Returns the place of a virtual thread, which has one during a wait; NULL if it has none. */
struct record *virtual_place(struct measurement *measurement, uint32_t number);
/* Takes a place for a virtual thread without one. Returns NULL and counts a lost wait if all are taken. */
struct record *take_virtual_place(struct measurement *measurement, uint32_t number, int is_idle);
void free_virtual_place(struct measurement *measurement, struct record *place);
/* Returns 1 if the name of a virtual thread is written, or no more names fit. */
int is_named(struct measurement *measurement, uint32_t number);
void name_thread(struct measurement *measurement, uint32_t number, const char *name);

uint32_t number_of_class(struct measurement *measurement, const char *signature);
/* Writes a record into the ring. */
void write_record(struct measurement *measurement, const struct record *record);

#endif
