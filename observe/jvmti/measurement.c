/* Places of threads, the ring, class names: measurement.h. */
#define _GNU_SOURCE
#include "measurement.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Values in `thread_at`. Both are free; the search continues after GONE. */
#define NOBODY 0
#define GONE UINT32_MAX
/* Milliseconds for threads to leave the agent's functions at the stop, unless they are suspended. */
#define LEAVES_WITHIN_MS 5000

static struct measurement *_Atomic current;
static _Atomic int users; /* threads that use it */
static uint64_t measurements;
/* Place of this thread, and the measurement it belongs to. */
static __thread struct {
	uint64_t measurement;
	uint32_t place;
} own;
static pthread_key_t at_end_of_thread;
static pthread_once_t key_is_made = PTHREAD_ONCE_INIT;

static uint64_t read_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec;
}

uint64_t now_ns(void)
{
	return read_ns(CLOCK_MONOTONIC);
}

uint32_t own_tid(void)
{
	static __thread uint32_t tid;

	if (!tid)
		tid = (uint32_t)syscall(SYS_gettid);
	return tid;
}

struct measurement *enter(void)
{
	struct measurement *measurement;

	atomic_fetch_add(&users, 1);
	measurement = atomic_load(&current);
	/* Each unmount of a virtual thread calls this, so it uses the cheaper coarse clock. */
	if (measurement && read_ns(CLOCK_MONOTONIC_COARSE) < measurement->deadline_ns)
		return measurement;
	atomic_fetch_sub(&users, 1);
	return NULL;
}

void leave(void)
{
	atomic_fetch_sub(&users, 1);
}

void set_measurement(struct measurement *measurement)
{
	atomic_store(&current, measurement);
}

int all_have_left(void)
{
	int i;

	for (i = 0; atomic_load(&users) && i < LEAVES_WITHIN_MS; i++)
		usleep(1000);
	return !atomic_load(&users);
}

/* ---- the place of a thread ---- */

static struct record *find_place(struct measurement *measurement, uint32_t tid, uint32_t *number)
{
	uint32_t i;

	for (i = 0; i < WAITING_MAX; i++) {
		uint32_t at = (tid + i) % WAITING_MAX, known = atomic_load(&measurement->thread_at[at]);

		if (known == NOBODY || known == GONE)
			atomic_compare_exchange_strong(&measurement->thread_at[at], &known, tid);
		if (atomic_load(&measurement->thread_at[at]) == tid) {
			*number = at;
			return &measurement->waiting[at];
		}
	}
	return NULL;
}

struct record *place_of(struct measurement *measurement, uint32_t tid)
{
	uint32_t number;

	return find_place(measurement, tid, &number);
}

struct record *own_place(struct measurement *measurement)
{
	struct record *place;

	if (own.measurement == measurement->number)
		return &measurement->waiting[own.place];
	place = find_place(measurement, own_tid(), &own.place);
	if (place) {
		own.measurement = measurement->number;
		pthread_setspecific(at_end_of_thread, &own);
	}
	return place;
}

static void thread_ends(void *unused)
{
	struct measurement *measurement = enter();

	(void)unused;
	if (!measurement)
		return;
	if (own.measurement == measurement->number) {
		atomic_store(&measurement->waiting[own.place].kind, 0);
		atomic_store(&measurement->thread_at[own.place], GONE);
	}
	leave();
}

_Static_assert((RING_AT - THREAD_NAMES_AT) / 13 < NAMED_MAX,
		"a name with its number takes at least 13 bytes, so the table never fills");

/* ---- places of virtual threads ---- */

/*
 * Candidate places of a virtual thread, in one or two cache lines. The search always covers all of them: millions of
 * threads come and go, and free places must not end or lengthen the search.
 */
#define WINDOW 16

struct record *virtual_place(struct measurement *measurement, uint32_t number)
{
	uint64_t i, count = measurement->header->virtual_places;

	for (i = 0; i < WINDOW && count; i++) {
		uint64_t at = (number + i) % count;

		if (atomic_load_explicit(&measurement->virtual_at[at], memory_order_acquire) == number)
			return &measurement->virtual_waiting[at];
	}
	return NULL;
}

struct record *take_virtual_place(struct measurement *measurement, uint32_t number, int is_idle)
{
	uint64_t i, count = measurement->header->virtual_places;

	for (i = 0; i < WINDOW && count && (!is_idle || atomic_load(&measurement->virtual_open) < count / 2); i++) {
		uint64_t at = (number + i) % count;
		uint32_t nobody = NOBODY;

		if (atomic_load(&measurement->virtual_at[at]) == NOBODY &&
				atomic_compare_exchange_strong(&measurement->virtual_at[at], &nobody, number)) {
			atomic_fetch_add(&measurement->virtual_open, 1);
			return &measurement->virtual_waiting[at];
		}
	}
	atomic_fetch_add(is_idle ? &measurement->header->idle_lost : &measurement->header->lost, 1);
	return NULL;
}

void free_virtual_place(struct measurement *measurement, struct record *place)
{
	atomic_store(&place->kind, 0);
	atomic_fetch_sub(&measurement->virtual_open, 1);
	atomic_store(&measurement->virtual_at[place - measurement->virtual_waiting], NOBODY);
}

/* Returns the table entry of a number, or the free one for it. */
static _Atomic uint32_t *named_at(struct measurement *measurement, uint32_t number)
{
	uint32_t at = number % NAMED_MAX, known;

	while ((known = atomic_load(&measurement->named[at])) != number && known != NOBODY)
		at = (at + 1) % NAMED_MAX;
	return &measurement->named[at];
}

int is_named(struct measurement *measurement, uint32_t number)
{
	return atomic_load(&measurement->is_full_of_names) || atomic_load(named_at(measurement, number)) == number;
}

void name_thread(struct measurement *measurement, uint32_t number, const char *name)
{
	pthread_mutex_lock(&measurement->names_mutex);
	if (!is_named(measurement, number)) {
		uint64_t bytes = atomic_load(&measurement->header->thread_names_bytes);
		size_t room = RING_AT - THREAD_NAMES_AT - bytes;
		char *to = (char *)measurement->header + THREAD_NAMES_AT + bytes, *c;
		int written = snprintf(to, room, "%u %s\n", number, name);

		if (written > 0 && (size_t)written < room) {
			/* One line per name. */
			for (c = to; c < to + written - 1; c++)
				if (*c == '\n' || *c == '\r')
					*c = ' ';
			atomic_store(named_at(measurement, number), number);
			atomic_store(&measurement->header->thread_names_bytes, bytes + (uint64_t)written);
		} else {
			atomic_store(&measurement->is_full_of_names, 1);
		}
	}
	pthread_mutex_unlock(&measurement->names_mutex);
}

/* ---- records ---- */

uint32_t number_of_class(struct measurement *measurement, const char *signature)
{
	uint32_t hash = 2166136261u, at, number = CLASSES_MAX;
	const char *c;

	for (c = signature; *c; c++)
		hash = (hash ^ (unsigned char)*c) * 16777619u;
	at = hash % (2 * CLASSES_MAX);
	pthread_mutex_lock(&measurement->names_mutex);
	while (measurement->classes[at].signature && strcmp(measurement->classes[at].signature, signature))
		at = (at + 1) % (2 * CLASSES_MAX);
	if (measurement->classes[at].signature) {
		number = measurement->classes[at].number;
	} else if (measurement->class_count < CLASSES_MAX) {
		uint64_t names_bytes = atomic_load(&measurement->header->names_bytes);
		size_t room = WAITING_AT - NAMES_AT - names_bytes;
		char *kept = strdup(signature);
		int written = kept ? snprintf((char *)measurement->header + NAMES_AT + names_bytes, room, "%u %s\n",
				measurement->class_count, signature) : 0;

		if (written > 0 && (size_t)written < room) {
			number = measurement->class_count++;
			measurement->classes[at].signature = kept;
			measurement->classes[at].number = number;
			atomic_store(&measurement->header->names_bytes, names_bytes + (uint64_t)written);
		} else {
			free(kept);
		}
	}
	pthread_mutex_unlock(&measurement->names_mutex);
	return number;
}

void write_record(struct measurement *measurement, const struct record *record)
{
	struct header *header = measurement->header;
	uint64_t number = atomic_load(&header->next);
	struct record *slot;

	do {
		if (number - atomic_load(&header->read) >= header->capacity) {
			atomic_fetch_add(&header->lost, 1);
			return;
		}
	} while (!atomic_compare_exchange_weak(&header->next, &number, number + 1));
	slot = &measurement->ring[number % header->capacity];
	memcpy(slot, record, offsetof(struct record, turn));
	atomic_store_explicit(&slot->turn, (uint32_t)number + 1, memory_order_release);
}

/* ---- memory ---- */

/* Allocates all pages, because a hole that cannot be filled would raise SIGBUS. */
static int make_memory(struct measurement *measurement, int with_virtual_threads)
{
	uint64_t capacity, virtual_places = 0;
	void *at;

	measurement->fd = (int)syscall(SYS_memfd_create, measurement->name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (measurement->fd < 0)
		return 0;
	for (capacity = RING_MAX; capacity >= RING_MIN; capacity /= 2) {
		virtual_places = with_virtual_threads ? capacity / 2 : 0;
		measurement->bytes = RING_AT + (capacity + virtual_places) * sizeof(struct record);
		if (!posix_fallocate(measurement->fd, 0, (off_t)measurement->bytes))
			break;
	}
	/* The observer may run as another user; the seals keep its mapping valid. */
	if (capacity < RING_MIN || ftruncate(measurement->fd, (off_t)measurement->bytes) ||
			fcntl(measurement->fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
		return 0;
	measurement->virtual_at = calloc(virtual_places + 1, sizeof(*measurement->virtual_at));
	if (!measurement->virtual_at)
		return 0;
	at = mmap(NULL, measurement->bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, measurement->fd, 0);
	if (at == MAP_FAILED)
		return 0;
	measurement->header = at;
	measurement->waiting = (struct record *)((char *)at + WAITING_AT);
	measurement->ring = (struct record *)((char *)at + RING_AT);
	measurement->virtual_waiting = measurement->ring + capacity;
	measurement->header->capacity = capacity;
	measurement->header->virtual_places = virtual_places;
	return 1;
}

void release(struct measurement *measurement)
{
	uint32_t i;

	if (measurement->header)
		munmap(measurement->header, measurement->bytes);
	if (measurement->fd >= 0)
		close(measurement->fd);
	free(measurement->virtual_at);
	for (i = 0; i < 2 * CLASSES_MAX; i++)
		free(measurement->classes[i].signature);
	free(measurement);
}

static void make_key(void)
{
	pthread_key_create(&at_end_of_thread, thread_ends);
}

struct measurement *make_measurement(const char *name, uint64_t seconds, int with_virtual_threads)
{
	struct measurement *measurement = calloc(1, sizeof(*measurement));

	if (!measurement)
		return NULL;
	pthread_once(&key_is_made, make_key);
	measurement->number = ++measurements;
	measurement->fd = -1;
	snprintf(measurement->name, sizeof(measurement->name), "%s", name);
	pthread_mutex_init(&measurement->names_mutex, NULL);
	measurement->begin_ns = now_ns();
	measurement->deadline_ns = measurement->begin_ns + seconds * 1000000000ull;
	if (make_memory(measurement, with_virtual_threads))
		return measurement;
	release(measurement);
	return NULL;
}
