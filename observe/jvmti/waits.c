/* The lock, the holder and the stacks of a wait: waits.h. */
#define _GNU_SOURCE
#include "waits.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "hotspot_monitors.h"
#include "hotspot_threads.h"
#include "virtual_threads.h"

#define STACKS_PER_SECOND 1000
/* Stacks of threads that wait for work. */
#define IDLE_STACKS_PER_SECOND 100
#define HOLDERS_PER_SECOND 100
/* A request for a monitor's owner stops all threads for a moment. */
#define OWNERS_PER_SECOND 20
/* Another thread takes its stack when it runs. */
#define ANSWERS_WITHIN_NS 50000000ull

struct budget {
	_Atomic uint64_t second;
	_Atomic uint64_t used;
};

static jvmtiEnv *jvmti;
static struct budget stacks, idle_stacks, holders, owners;
static jclass class_class, ownable_class, queued_class, queued_long_class, stamped_class, latch_class, carrier_class;
static jfieldID owner_field;

static int takes(struct budget *budget, uint64_t most)
{
	uint64_t second = now_ns() / 1000000000ull;

	if (atomic_exchange(&budget->second, second) != second)
		atomic_store(&budget->used, 0);
	return atomic_fetch_add(&budget->used, 1) < most;
}

void restore_budgets(void)
{
	atomic_store(&stacks.used, 0);
	atomic_store(&idle_stacks.used, 0);
	atomic_store(&holders.used, 0);
	atomic_store(&owners.used, 0);
}

/* ---- lock and holder ---- */

void describe(struct measurement *measurement, JNIEnv *jni, jobject lock, struct record *record)
{
	jint hash = 0;
	char *signature = NULL, of_class[512];
	jclass type = (*jni)->GetObjectClass(jni, lock);
	int is_class = class_class && (*jni)->IsSameObject(jni, type, class_class);

	(*jvmti)->GetObjectHashCode(jvmti, lock, &hash);
	record->identity = (uint32_t)hash;
	record->class_number = CLASSES_MAX;
	if (type && !(*jvmti)->GetClassSignature(jvmti, is_class ? lock : type, &signature, NULL) && signature) {
		/* For a class object, name the class. */
		snprintf(of_class, sizeof(of_class), "#%s", signature);
		record->class_number = number_of_class(measurement, is_class ? of_class : signature);
		(*jvmti)->Deallocate(jvmti, (unsigned char *)signature);
	}
	if (type)
		(*jni)->DeleteLocalRef(jni, type);
}

void note_name(struct measurement *measurement, JNIEnv *jni, jthread thread, uint32_t number)
{
	char name[301];

	if (!is_named(measurement, number) && name_of_virtual(jni, thread, name, sizeof(name)))
		name_thread(measurement, number, name);
}

static void note_holder(struct measurement *measurement, JNIEnv *jni, jthread holder, struct record *record)
{
	if (!is_virtual(jni, holder)) {
		record->holder = record->holder_tid = tid_of(jni, holder);
		return;
	}
	record->holder = number_of_virtual(jni, holder);
	record->holder_tid = carrier_of(jni, holder);
	note_name(measurement, jni, holder, record->holder);
}

void request_holder_stack(struct record *record)
{
	uint64_t after_ns = now_ns() - record->begin_ns;

	if (!record->holder_tid || record->holder_tid == own_tid() || !takes(&holders, HOLDERS_PER_SECOND) ||
			after_ns >= UINT32_MAX)
		return;
	if (!syscall(SYS_tgkill, getpid(), record->holder_tid, SIGPROF))
		record->holder_request_after_ns = (uint32_t)after_ns + 1;
}

void find_owner(struct measurement *measurement, JNIEnv *jni, jobject monitor, struct record *record)
{
	jvmtiMonitorUsage usage = {0};
	uint64_t before;
	int is_carrier;

	if (!takes(&owners, OWNERS_PER_SECOND))
		return;
	before = owner_id(monitor);
	if ((*jvmti)->GetObjectMonitorUsage(jvmti, monitor, &usage))
		return;
	/*
	 * JVMTI reports no owner for a virtual thread, or its carrier if that thread is about to unmount or has just
	 * mounted.
	 */
	is_carrier = usage.owner && carrier_class && (*jni)->IsInstanceOf(jni, usage.owner, carrier_class);
	if (usage.owner && !is_carrier)
		note_holder(measurement, jni, usage.owner, record);
	else if (before && owner_id(monitor) == before && !(is_carrier && id_of(jni, usage.owner) == before))
		record->holder = virtual_number(before);
	(*jvmti)->Deallocate(jvmti, (unsigned char *)usage.waiters);
	(*jvmti)->Deallocate(jvmti, (unsigned char *)usage.notify_waiters);
	if (usage.owner)
		(*jni)->DeleteLocalRef(jni, usage.owner);
	request_holder_stack(record);
}

enum kind kind_of(struct measurement *measurement, JNIEnv *jni, jobject blocker, struct record *record)
{
	jobject owner;

	if ((*jni)->IsInstanceOf(jni, blocker, stamped_class))
		return LOCK;
	if (!(*jni)->IsInstanceOf(jni, blocker, queued_class) && !(*jni)->IsInstanceOf(jni, blocker, queued_long_class))
		return WAIT;
	/* A latch has no holder. */
	if (latch_class && (*jni)->IsInstanceOf(jni, blocker, latch_class))
		return WAIT;
	if (!(*jni)->IsInstanceOf(jni, blocker, ownable_class))
		return SYNCHRONIZER;
	owner = (*jni)->GetObjectField(jni, blocker, owner_field);
	if (!owner)
		return SYNCHRONIZER;
	note_holder(measurement, jni, owner, record);
	(*jni)->DeleteLocalRef(jni, owner);
	return LOCK;
}

/* ---- a wait, from its begin to its end ---- */

/*
 * All slow work is done before the wait. After it the thread holds the lock, and others would wait for the agent.
 */

/* The name and noinline matter: stacks are cut at this frame. */
__attribute__((noinline)) void yunti_takes_stack(struct measurement *measurement, struct record *record, uint32_t tid,
		enum kind kind)
{
	uint64_t for_ns;

	if (!(kind == WAIT ? takes(&idle_stacks, IDLE_STACKS_PER_SECOND) : takes(&stacks, STACKS_PER_SECOND))) {
		if (kind != WAIT)
			atomic_fetch_add(&measurement->header->without_stack, 1);
		return;
	}
	record->sampled_from_ns = now_ns();
	if (syscall(SYS_tgkill, getpid(), tid, SIGPROF)) {
		record->sampled_from_ns = 0;
		return;
	}
	for_ns = now_ns() - record->sampled_from_ns + (tid == own_tid() ? 0 : ANSWERS_WITHIN_NS);
	record->sampled_for_ns = for_ns < UINT32_MAX ? (uint32_t)for_ns : UINT32_MAX;
	record->sampled_tid = tid;
}

/* The end of a wait is only missed if the wait began before the measurement. */
void forget(struct measurement *measurement, struct record *place)
{
	uint32_t kind = place ? atomic_exchange(&place->kind, 0) & KINDS : 0;

	if (kind && kind != WAIT)
		atomic_fetch_add(&measurement->header->unseen_ends, 1);
}

void put(struct record *place, const struct record *record, enum kind kind)
{
	memcpy(place, record, offsetof(struct record, kind));
	atomic_store_explicit(&place->kind, kind, memory_order_release);
}

void begin(struct measurement *measurement, JNIEnv *jni, jobject lock, uint32_t number, enum kind kind,
		struct record *record)
{
	struct record *place = number ? take_virtual_place(measurement, number, kind == WAIT) : own_place(measurement);

	if (!place) {
		if (!number)
			atomic_fetch_add(&measurement->header->lost, 1);
		return;
	}
	record->tid = number ? number : own_tid();
	describe(measurement, jni, lock, record);
	yunti_takes_stack(measurement, record, own_tid(), kind);
	put(place, record, kind);
}

void end_in(struct measurement *measurement, JNIEnv *jni, jobject monitor, struct record *place)
{
	uint32_t kind = atomic_load(&place->kind);

	if (!kind || ((kind & KINDS) == MONITOR) != (monitor != NULL))
		return;
	if (monitor && kind & BEFORE)
		describe(measurement, jni, monitor, place);
	place->duration_ns = now_ns() - place->begin_ns;
	write_record(measurement, place);
	if (place->tid & IS_VIRTUAL)
		free_virtual_place(measurement, place);
	else
		atomic_store(&place->kind, 0);
}

void end(JNIEnv *jni, jobject monitor, uint32_t number)
{
	struct measurement *measurement = enter();
	struct record *place;

	if (!measurement)
		return;
	place = number ? virtual_place(measurement, number) : own_place(measurement);
	if (place)
		end_in(measurement, jni, monitor, place);
	leave();
}

void forget_virtual(struct measurement *measurement, uint32_t number)
{
	struct record *place = virtual_place(measurement, number);

	if (!place)
		return;
	forget(measurement, place);
	free_virtual_place(measurement, place);
}

/* ---- classes ---- */

jclass class_of(JNIEnv *jni, const char *name)
{
	jclass found = (*jni)->FindClass(jni, name);

	if ((*jni)->ExceptionCheck(jni))
		(*jni)->ExceptionClear(jni);
	return found ? (*jni)->NewGlobalRef(jni, found) : NULL;
}

int find_lock_classes(jvmtiEnv *env, JNIEnv *jni)
{
	jvmti = env;
	ownable_class = class_of(jni, "java/util/concurrent/locks/AbstractOwnableSynchronizer");
	queued_class = class_of(jni, "java/util/concurrent/locks/AbstractQueuedSynchronizer");
	queued_long_class = class_of(jni, "java/util/concurrent/locks/AbstractQueuedLongSynchronizer");
	stamped_class = class_of(jni, "java/util/concurrent/locks/StampedLock");
	class_class = class_of(jni, "java/lang/Class");
	latch_class = class_of(jni, "java/util/concurrent/CountDownLatch$Sync");
	carrier_class = class_of(jni, "jdk/internal/misc/CarrierThread");
	if (!ownable_class || !queued_class || !queued_long_class || !stamped_class)
		return 0;
	owner_field = (*jni)->GetFieldID(jni, ownable_class, "exclusiveOwnerThread", "Ljava/lang/Thread;");
	if ((*jni)->ExceptionCheck(jni))
		(*jni)->ExceptionClear(jni);
	return owner_field != NULL;
}
