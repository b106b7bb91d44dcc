/* Places of threads, the ring, classes: look.h. */
#define _GNU_SOURCE
#include "look.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* In `thread_at`: free for others, and behind it the search goes on. */
#define NOBODY 0
#define GONE UINT32_MAX
/* Whoever is in our functions when we stop is out by then, if nobody has suspended it. */
#define LEAVES_WITHIN_MS 5000

static struct look *_Atomic current;
static _Atomic int users; /* threads that have it in their hands */
static uint64_t looks;
/* Which place this thread has, in which look. */
static __thread struct {
	uint64_t look;
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

struct look *enter(void)
{
	struct look *look;

	atomic_fetch_add(&users, 1);
	look = atomic_load(&current);
	/* Each leaving of a carrier comes by here: the coarse clock is the cheaper one. */
	if (look && read_ns(CLOCK_MONOTONIC_COARSE) < look->deadline_ns)
		return look;
	atomic_fetch_sub(&users, 1);
	return NULL;
}

void leave(void)
{
	atomic_fetch_sub(&users, 1);
}

void set_look(struct look *look)
{
	atomic_store(&current, look);
}

int all_have_left(void)
{
	int i;

	for (i = 0; atomic_load(&users) && i < LEAVES_WITHIN_MS; i++)
		usleep(1000);
	return !atomic_load(&users);
}

/* ---- the place of a thread ---- */

static struct record *find_place(struct look *look, uint32_t tid, uint32_t *number)
{
	uint32_t i;

	for (i = 0; i < WAITING_MAX; i++) {
		uint32_t at = (tid + i) % WAITING_MAX, known = atomic_load(&look->thread_at[at]);

		if (known == NOBODY || known == GONE)
			atomic_compare_exchange_strong(&look->thread_at[at], &known, tid);
		if (atomic_load(&look->thread_at[at]) == tid) {
			*number = at;
			return &look->waiting[at];
		}
	}
	return NULL;
}

struct record *place_of(struct look *look, uint32_t tid)
{
	uint32_t number;

	return find_place(look, tid, &number);
}

struct record *own_place(struct look *look)
{
	struct record *place;

	if (own.look == look->number)
		return &look->waiting[own.place];
	place = find_place(look, own_tid(), &own.place);
	if (place) {
		own.look = look->number;
		pthread_setspecific(at_end_of_thread, &own);
	}
	return place;
}

static void thread_ends(void *unused)
{
	struct look *look = enter();

	(void)unused;
	if (!look)
		return;
	if (own.look == look->number) {
		atomic_store(&look->waiting[own.place].kind, 0);
		atomic_store(&look->thread_at[own.place], GONE);
	}
	leave();
}

_Static_assert((RING_AT - THREAD_NAMES_AT) / 13 < NAMED_MAX, "a name with its number takes 13 bytes at least: the table never fills");

/* ---- places of virtual threads ---- */

/*
 * The places that may be one's, a line of the cache or two. All of them are gone through: others come and go by the million, and what they leave
 * behind must not make the way longer.
 */
#define WINDOW 16

struct record *virtual_place(struct look *look, uint32_t number)
{
	uint64_t i, count = look->header->virtual_places;

	for (i = 0; i < WINDOW && count; i++) {
		uint64_t at = (number + i) % count;

		if (atomic_load_explicit(&look->virtual_at[at], memory_order_acquire) == number)
			return &look->virtual_waiting[at];
	}
	return NULL;
}

struct record *take_virtual_place(struct look *look, uint32_t number, int is_idle)
{
	uint64_t i, count = look->header->virtual_places;

	for (i = 0; i < WINDOW && count && (!is_idle || atomic_load(&look->virtual_open) < count / 2); i++) {
		uint64_t at = (number + i) % count;
		uint32_t nobody = NOBODY;

		if (atomic_load(&look->virtual_at[at]) == NOBODY && atomic_compare_exchange_strong(&look->virtual_at[at], &nobody, number)) {
			atomic_fetch_add(&look->virtual_open, 1);
			return &look->virtual_waiting[at];
		}
	}
	atomic_fetch_add(is_idle ? &look->header->idle_lost : &look->header->lost, 1);
	return NULL;
}

void free_virtual_place(struct look *look, struct record *place)
{
	atomic_store(&place->kind, 0);
	atomic_fetch_sub(&look->virtual_open, 1);
	atomic_store(&look->virtual_at[place - look->virtual_waiting], NOBODY);
}

/* Where its number is in the table, or belongs. */
static _Atomic uint32_t *named_at(struct look *look, uint32_t number)
{
	uint32_t at = number % NAMED_MAX, known;

	while ((known = atomic_load(&look->named[at])) != number && known != NOBODY)
		at = (at + 1) % NAMED_MAX;
	return &look->named[at];
}

int is_named(struct look *look, uint32_t number)
{
	return atomic_load(&look->is_full_of_names) || atomic_load(named_at(look, number)) == number;
}

void name_thread(struct look *look, uint32_t number, const char *name)
{
	pthread_mutex_lock(&look->names_mutex);
	if (!is_named(look, number)) {
		uint64_t bytes = atomic_load(&look->header->thread_names_bytes);
		size_t room = RING_AT - THREAD_NAMES_AT - bytes;
		char *to = (char *)look->header + THREAD_NAMES_AT + bytes, *c;
		int written = snprintf(to, room, "%u %s\n", number, name);

		if (written > 0 && (size_t)written < room) {
			/* Each is one line. */
			for (c = to; c < to + written - 1; c++)
				if (*c == '\n' || *c == '\r')
					*c = ' ';
			atomic_store(named_at(look, number), number);
			atomic_store(&look->header->thread_names_bytes, bytes + (uint64_t)written);
		} else {
			atomic_store(&look->is_full_of_names, 1);
		}
	}
	pthread_mutex_unlock(&look->names_mutex);
}

/* ---- what is written down ---- */

uint32_t number_of_class(struct look *look, const char *signature)
{
	uint32_t hash = 2166136261u, at, number = CLASSES_MAX;
	const char *c;

	for (c = signature; *c; c++)
		hash = (hash ^ (unsigned char)*c) * 16777619u;
	at = hash % (2 * CLASSES_MAX);
	pthread_mutex_lock(&look->names_mutex);
	while (look->classes[at].signature && strcmp(look->classes[at].signature, signature))
		at = (at + 1) % (2 * CLASSES_MAX);
	if (look->classes[at].signature) {
		number = look->classes[at].number;
	} else if (look->class_count < CLASSES_MAX) {
		uint64_t names_bytes = atomic_load(&look->header->names_bytes);
		size_t room = WAITING_AT - NAMES_AT - names_bytes;
		char *kept = strdup(signature);
		int written = kept ? snprintf((char *)look->header + NAMES_AT + names_bytes, room, "%u %s\n", look->class_count, signature) : 0;

		if (written > 0 && (size_t)written < room) {
			number = look->class_count++;
			look->classes[at].signature = kept;
			look->classes[at].number = number;
			atomic_store(&look->header->names_bytes, names_bytes + (uint64_t)written);
		} else {
			free(kept);
		}
	}
	pthread_mutex_unlock(&look->names_mutex);
	return number;
}

void tell(struct look *look, const struct record *record)
{
	struct header *header = look->header;
	uint64_t number = atomic_load(&header->next);
	struct record *told;

	do {
		if (number - atomic_load(&header->read) >= header->capacity) {
			atomic_fetch_add(&header->lost, 1);
			return;
		}
	} while (!atomic_compare_exchange_weak(&header->next, &number, number + 1));
	told = &look->ring[number % header->capacity];
	memcpy(told, record, offsetof(struct record, turn));
	atomic_store_explicit(&told->turn, (uint32_t)number + 1, memory_order_release);
}

/* ---- memory ---- */

/* Memory that is all there: a hole that cannot be filled would be a SIGBUS. */
static int make_memory(struct look *look, int with_virtual_threads)
{
	uint64_t capacity, virtual_places = 0;
	void *at;

	look->fd = (int)syscall(SYS_memfd_create, look->name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (look->fd < 0)
		return 0;
	for (capacity = RING_MAX; capacity >= RING_MIN; capacity /= 2) {
		virtual_places = with_virtual_threads ? capacity / 2 : 0;
		look->bytes = RING_AT + (capacity + virtual_places) * sizeof(struct record);
		if (!posix_fallocate(look->fd, 0, (off_t)look->bytes))
			break;
	}
	/* The observer may be somebody else: what it has mapped stays. */
	if (capacity < RING_MIN || ftruncate(look->fd, (off_t)look->bytes) || fcntl(look->fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
		return 0;
	look->virtual_at = calloc(virtual_places + 1, sizeof(*look->virtual_at));
	if (!look->virtual_at)
		return 0;
	at = mmap(NULL, look->bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, look->fd, 0);
	if (at == MAP_FAILED)
		return 0;
	look->header = at;
	look->waiting = (struct record *)((char *)at + WAITING_AT);
	look->ring = (struct record *)((char *)at + RING_AT);
	look->virtual_waiting = look->ring + capacity;
	look->header->capacity = capacity;
	look->header->virtual_places = virtual_places;
	return 1;
}

void release(struct look *look)
{
	uint32_t i;

	if (look->header)
		munmap(look->header, look->bytes);
	if (look->fd >= 0)
		close(look->fd);
	free(look->virtual_at);
	for (i = 0; i < 2 * CLASSES_MAX; i++)
		free(look->classes[i].signature);
	free(look);
}

static void make_key(void)
{
	pthread_key_create(&at_end_of_thread, thread_ends);
}

struct look *make_look(const char *name, uint64_t seconds, int with_virtual_threads)
{
	struct look *look = calloc(1, sizeof(*look));

	if (!look)
		return NULL;
	pthread_once(&key_is_made, make_key);
	look->number = ++looks;
	look->fd = -1;
	snprintf(look->name, sizeof(look->name), "%s", name);
	pthread_mutex_init(&look->names_mutex, NULL);
	look->begin_ns = now_ns();
	look->deadline_ns = look->begin_ns + seconds * 1000000000ull;
	if (make_memory(look, with_virtual_threads))
		return look;
	release(look);
	return NULL;
}
