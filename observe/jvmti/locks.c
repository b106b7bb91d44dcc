/*
 * An agent in a JVM that writes down each wait for a lock: which lock, how long, who waited, who held it.
 *
 *   monitors               JVMTI's MonitorContendedEnter and MonitorContendedEntered
 *   java.util.concurrent   a function of ours in the place of Unsafe.park, which calls the JVM's own; the lock is what
 *                          LockSupport calls the blocker
 *
 * A lock is named by its class and its identity hash code, which stay when the collector moves it.
 *
 * A virtual thread does not sleep in Unsafe.park, it leaves its carrier: what it waits for is asked when it does (virtual_threads.h), and it has
 * waited when it has come to one again. Its place is by its own number. Of monitors JVMTI's events are in the virtual thread too.
 *
 * Stacks are async-profiler's: a thread that is about to wait sends itself SIGPROF, and one to the thread that holds the lock.
 *
 * What is written down, and where: look.h.
 *
 * Loaded by the attach mechanism with options "start,NAME,PARK,SECONDS" (PARK: the address of the JVM's own function, in hex; 0: without
 * java.util.concurrent) or "stop,NAME", of the same look. Loaded again, it is the same library, and these are the same variables.
 */
#define _GNU_SOURCE
#include <jvmti.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "hotspot_monitors.h"
#include "hotspot_threads.h"
#include "look.h"
#include "virtual_threads.h"
#include "waits.h"

enum { BUSY = 1, REFUSED = 2, NO_MEMORY = 3 };

static jvmtiEnv *jvmti;
static JavaVM *java_vm;
static struct look *started; /* for the thread that attaches alone: the one that is on, and still that while it is stopped */

typedef void (*park_function)(JNIEnv *, jobject, jboolean, jlong);
/* Never taken back: a thread may be on its way from our function to it. */
static _Atomic park_function jvm_park;
static int is_park_ours;
static int knows_virtual_threads;
static jclass unsafe_class, carrier_class;
static jfieldID blocker_field;

/* ---- monitors ---- */

/* The number by which its place is found; 0: by that of the system's thread. */
static uint32_t virtual_or_none(JNIEnv *jni, jthread thread)
{
	return is_virtual(jni, thread) ? number_of_virtual(jni, thread) : 0;
}

static void JNICALL yunti_monitor_wait_begins(jvmtiEnv *env, JNIEnv *jni, jthread thread, jobject object)
{
	struct record record = {.begin_ns = now_ns()};
	struct look *look = enter();
	uint32_t number;

	(void)env;
	if (!look)
		return;
	number = virtual_or_none(jni, thread);
	if (number) {
		look->header->has_virtual_threads = 1;
		/* By which place is told only where their events are, too. */
		if (!look->header->sees_virtual_threads) {
			leave();
			return;
		}
		forget_virtual(look, number);
		note_name(look, jni, thread, number);
	} else {
		forget(look, own_place(look));
	}
	find_owner(look, jni, object, &record);
	begin(look, jni, object, number, MONITOR, &record);
	leave();
}

static void JNICALL monitor_wait_ends(jvmtiEnv *env, JNIEnv *jni, jthread thread, jobject object)
{
	(void)env;
	end(jni, object, virtual_or_none(jni, thread));
}

/* ---- java.util.concurrent ---- */

/* @return the number of the virtual thread that it is; 0: none */
static uint32_t begin_park(JNIEnv *jni)
{
	struct record record = {.begin_ns = now_ns()};
	struct look *look = enter();
	jobject blocker = NULL;
	jthread thread = NULL;
	uint32_t number = 0;
	enum kind kind;

	if (!look)
		return 0;
	if (!(*jvmti)->GetCurrentThread(jvmti, &thread) && thread) {
		number = virtual_or_none(jni, thread);
		blocker = (*jni)->GetObjectField(jni, thread, blocker_field);
	}
	if (!number)
		forget(look, own_place(look));
	/* One that could not leave its carrier has begun to wait when it tried. */
	if (blocker && (!number || (look->header->sees_virtual_threads && !virtual_place(look, number)))) {
		kind = kind_of(look, jni, blocker, &record);
		ask_holder(&record);
		if (number)
			note_name(look, jni, thread, number);
		begin(look, jni, blocker, number, kind, &record);
	}
	if (blocker)
		(*jni)->DeleteLocalRef(jni, blocker);
	if (thread)
		(*jni)->DeleteLocalRef(jni, thread);
	leave();
	return number;
}

static void JNICALL yunti_park(JNIEnv *jni, jobject unsafe, jboolean is_absolute, jlong time)
{
	uint32_t number = begin_park(jni);

	atomic_load(&jvm_park)(jni, unsafe, is_absolute, time);
	end(jni, NULL, number);
}

static int set_park(JNIEnv *jni, park_function function)
{
	JNINativeMethod method = {(char *)"park", (char *)"(ZJ)V", (void *)function};
	jint failed = (*jni)->RegisterNatives(jni, unsafe_class, &method, 1);

	if ((*jni)->ExceptionCheck(jni))
		(*jni)->ExceptionClear(jni);
	return failed;
}

/* ---- java.util.concurrent, of virtual threads ---- */

/* One leaves its carrier: to wait, to sleep, to read, to let others run, or because it ends. */
static void leaves(JNIEnv *jni, jthread thread)
{
	struct record record = {0};
	struct look *look = enter();
	struct record *place;
	jobject blocker;
	uint32_t number;
	enum kind kind;
	int parks;

	if (!look)
		return;
	blocker = (*jni)->GetObjectField(jni, thread, blocker_field);
	parks = blocker && !is_running(jni, thread);
	number = parks || atomic_load(&look->virtual_open) ? number_of_virtual(jni, thread) : 0;
	place = number ? virtual_place(look, number) : NULL;
	/* It leaves for a monitor too, whose wait ends by an event of its own. Any other wait had not come to sleep: what it wanted was there. */
	if (place && (parks || (atomic_load(&place->kind) & KINDS) != MONITOR)) {
		/* Or it had begun before the look, on the carrier. */
		if (atomic_load(&place->kind) & BEFORE)
			forget(look, place);
		free_virtual_place(look, place);
	}
	if (parks) {
		record.begin_ns = now_ns();
		kind = kind_of(look, jni, blocker, &record);
		ask_holder(&record);
		note_name(look, jni, thread, number);
		begin(look, jni, blocker, number, kind, &record);
	}
	if (blocker)
		(*jni)->DeleteLocalRef(jni, blocker);
	leave();
}

/* It waited when the look began. As of all that did, only what is within counts. */
static void tell_virtual_before(struct look *look, JNIEnv *jni, jthread thread, jobject blocker, uint32_t number)
{
	struct record record = {.begin_ns = look->begin_ns, .tid = number};
	enum kind kind = kind_of(look, jni, blocker, &record);

	/* Or it found no room when it began, and is counted. */
	if (atomic_load(kind == WAIT ? &look->header->idle_lost : &look->header->lost))
		return;
	note_name(look, jni, thread, number);
	/* Who has it now is not who had it. */
	record.holder = record.holder_tid = 0;
	describe(look, jni, blocker, &record);
	record.duration_ns = now_ns() - record.begin_ns;
	atomic_store(&record.kind, kind | BEFORE);
	tell(look, &record);
}

/* It runs on a carrier, another one maybe; or where it was, since something keeps it there: a native method, a class that is initialised. */
static void comes_back(JNIEnv *jni, jthread thread)
{
	struct look *look = enter();
	jobject blocker;

	if (!look)
		return;
	blocker = (*jni)->GetObjectField(jni, thread, blocker_field);
	/* One that cannot leave its carrier goes on to Unsafe.park, and waits there. */
	if (blocker && is_running(jni, thread)) {
		uint32_t number = number_of_virtual(jni, thread);
		struct record *place = virtual_place(look, number);

		if (place)
			end_in(look, jni, NULL, place);
		else
			tell_virtual_before(look, jni, thread, blocker, number);
	}
	if (blocker)
		(*jni)->DeleteLocalRef(jni, blocker);
	leave();
}

/* By their arguments: JNIEnv *, jthread. */
static void JNICALL yunti_virtual_thread_leaves(jvmtiEnv *env, ...)
{
	va_list arguments;
	JNIEnv *jni;

	va_start(arguments, env);
	jni = va_arg(arguments, JNIEnv *);
	leaves(jni, va_arg(arguments, jthread));
	va_end(arguments);
}

static void JNICALL virtual_thread_has_come(jvmtiEnv *env, ...)
{
	va_list arguments;
	JNIEnv *jni;

	va_start(arguments, env);
	jni = va_arg(arguments, JNIEnv *);
	comes_back(jni, va_arg(arguments, jthread));
	va_end(arguments);
}

/* ---- waits that have begun before ---- */

/* What a thread waits for at this moment; 0: for nothing. A JVM that runs does not say any more for which monitor: the event at the end does. */
static enum kind waits_for(struct look *look, JNIEnv *jni, jthread thread, jobject *object, struct record *record)
{
	jint state = 0;

	if ((*jvmti)->GetThreadState(jvmti, thread, &state))
		return 0;
	if (state & JVMTI_THREAD_STATE_BLOCKED_ON_MONITOR_ENTER)
		return MONITOR;
	if (!(state & JVMTI_THREAD_STATE_PARKED))
		return 0;
	*object = (*jni)->GetObjectField(jni, thread, blocker_field);
	return *object ? kind_of(look, jni, *object, record) : 0;
}

/* At the begin, before any thread writes: who waits already. At the end, when no thread writes any more: who has waited all the time. */
static void look_at_all(struct look *look, JNIEnv *jni, int is_end)
{
	jthread *threads = NULL;
	jint i, count = 0;

	if ((*jvmti)->GetAllThreads(jvmti, &count, &threads))
		return;
	for (i = 0; i < count; i++) {
		struct record record = {.begin_ns = look->begin_ns, .tid = tid_of(jni, threads[i])};
		jobject object = NULL;
		enum kind kind = record.tid && record.tid != own_tid() ? waits_for(look, jni, threads[i], &object, &record) : 0;
		struct record *place = kind ? place_of(look, record.tid) : NULL;

		if (carrier_class && (*jni)->IsInstanceOf(jni, threads[i], carrier_class))
			look->header->has_virtual_threads = 1;
		if (place && is_end) {
			jint hash = 0;

			if (object)
				(*jvmti)->GetObjectHashCode(jvmti, object, &hash);
			if (atomic_load(&place->kind) & BEFORE && place->identity == (uint32_t)hash)
				atomic_fetch_or(&place->kind, STILL);
		} else if (place) {
			ask_holder(&record);
			if (object)
				describe(look, jni, object, &record);
			else
				record.class_number = CLASSES_MAX;
			yunti_takes_stack(look, &record, record.tid, kind);
			put(place, &record, kind | BEFORE);
		}
		if (object)
			(*jni)->DeleteLocalRef(jni, object);
		(*jni)->DeleteLocalRef(jni, threads[i]);
	}
	(*jvmti)->Deallocate(jvmti, (unsigned char *)threads);
}

/* What a virtual thread waits for at this moment, off its carrier or on it. */
static enum kind virtual_waits_for(struct look *look, JNIEnv *jni, jthread thread, jobject *object, struct record *record)
{
	if (is_running(jni, thread))
		return 0;
	if (is_blocked(jni, thread))
		return MONITOR;
	*object = (*jni)->GetObjectField(jni, thread, blocker_field);
	return *object ? kind_of(look, jni, *object, record) : 0;
}

struct virtual_look {
	struct look *look;
	int is_end;
};

static void look_at_virtual(JNIEnv *jni, jthread thread, void *with)
{
	struct virtual_look *how = with;
	struct look *look = how->look;
	uint32_t number = number_of_virtual(jni, thread);
	struct record record = {.begin_ns = look->begin_ns, .tid = number}, *place = how->is_end ? virtual_place(look, number) : NULL;
	jobject object = NULL;
	enum kind kind;

	/* At the end only those that have waited since the begin are asked. */
	if (how->is_end && (!place || !(atomic_load(&place->kind) & BEFORE)))
		return;
	kind = virtual_waits_for(look, jni, thread, &object, &record);
	if (how->is_end) {
		jint hash = 0;

		if (object)
			(*jvmti)->GetObjectHashCode(jvmti, object, &hash);
		if (kind && place->identity == (uint32_t)hash)
			atomic_fetch_or(&place->kind, STILL);
	} else if (kind && (place = take_virtual_place(look, number, kind == WAIT))) {
		if (object)
			describe(look, jni, object, &record);
		else
			record.class_number = CLASSES_MAX;
		note_name(look, jni, thread, number);
		put(place, &record, kind | BEFORE);
	}
	if (object)
		(*jni)->DeleteLocalRef(jni, object);
}

static void look_at_all_virtual(struct look *look, JNIEnv *jni, int is_end)
{
	struct virtual_look how = {look, is_end};

	if (look->header->virtual_places && (!is_end || atomic_load(&look->virtual_open)))
		look->header->virtual_threads_missed |= !for_all_virtual_threads(jni, look_at_virtual, &how);
}

/* ---- start and stop ---- */

static int find_classes(JNIEnv *jni)
{
	jclass thread = class_of(jni, "java/lang/Thread");

	unsafe_class = class_of(jni, "jdk/internal/misc/Unsafe");
	carrier_class = class_of(jni, "jdk/internal/misc/CarrierThread");
	if (!thread || !unsafe_class || !find_lock_classes(jvmti, jni))
		return 0;
	blocker_field = (*jni)->GetFieldID(jni, thread, "parkBlocker", "Ljava/lang/Object;");
	if ((*jni)->ExceptionCheck(jni))
		(*jni)->ExceptionClear(jni);
	find_monitor_structures();
	knows_virtual_threads = find_virtual_threads(jvmti, jni, thread);
	return find_thread_structures(jni, thread) && blocker_field;
}

static void JNICALL ends(jvmtiEnv *env, JNIEnv *jni)
{
	(void)env;
	(void)jni;
	set_look(NULL);
}

static jvmtiCapabilities wanted = {
	.can_generate_monitor_events = 1,
	.can_get_monitor_info = 1,
};
static const jvmtiEvent events[] = {JVMTI_EVENT_VM_DEATH, JVMTI_EVENT_MONITOR_CONTENDED_ENTER, JVMTI_EVENT_MONITOR_CONTENDED_ENTERED};

static void switch_events(jvmtiEventMode mode)
{
	size_t i;

	for (i = 0; i < sizeof(events) / sizeof(*events); i++)
		(*jvmti)->SetEventNotificationMode(jvmti, mode, events[i], NULL);
}

static int add_capabilities(void)
{
	jvmtiCapabilities more = wanted;

	if (knows_virtual_threads) {
		want_virtual_threads(&more);
		if (!(*jvmti)->AddCapabilities(jvmti, &more)) {
			wanted = more;
			return 1;
		}
		/* The first JVMs with virtual threads give it at their start alone. */
		knows_virtual_threads = 0;
	}
	return !(*jvmti)->AddCapabilities(jvmti, &wanted);
}

static int prepare(JNIEnv *jni)
{
	jvmtiEventCallbacks callbacks = {
		.MonitorContendedEnter = yunti_monitor_wait_begins,
		.MonitorContendedEntered = monitor_wait_ends,
		.VMDeath = ends,
	};

	if (!jvmti) {
		if ((*java_vm)->GetEnv(java_vm, (void **)&jvmti, JVMTI_VERSION_11))
			return 0;
		if (!find_classes(jni)) {
			(*jvmti)->DisposeEnvironment(jvmti);
			jvmti = NULL;
			return 0;
		}
	}
	return add_capabilities() && !(*jvmti)->SetEventCallbacks(jvmti, &callbacks, sizeof(callbacks));
}

static void stop(JNIEnv *jni)
{
	struct look *look = started;
	int is_free;

	if (is_park_ours && !set_park(jni, atomic_load(&jvm_park)))
		is_park_ours = 0;
	switch_events(JVMTI_DISABLE);
	if (knows_virtual_threads)
		switch_mounts(jvmti, JVMTI_DISABLE, NULL, NULL);
	set_look(NULL);
	started = NULL;
	is_free = all_have_left();
	look_at_all(look, jni, 1);
	look_at_all_virtual(look, jni, 1);
	(*jvmti)->RelinquishCapabilities(jvmti, &wanted);
	/* What somebody still has in their hands stays. */
	if (is_free)
		release(look);
}

static int start(JNIEnv *jni, const char *name, uintptr_t park_address, uint64_t seconds)
{
	struct look *look;

	/* Whoever began that one is gone, and so is the time it asked for. */
	if (started && now_ns() > started->deadline_ns)
		stop(jni);
	if (started)
		return BUSY;
	if (!prepare(jni))
		return REFUSED;
	look = make_look(name, seconds, knows_virtual_threads);
	if (!look)
		return NO_MEMORY;
	look_at_all(look, jni, 0);
	look_at_all_virtual(look, jni, 0);
	restore_budgets();
	started = look;
	set_look(look);
	look->header->sees_virtual_threads =
		knows_virtual_threads && switch_mounts(jvmti, JVMTI_ENABLE, yunti_virtual_thread_leaves, virtual_thread_has_come);
	switch_events(JVMTI_ENABLE);
	if (park_address) {
		atomic_store(&jvm_park, (park_function)park_address);
		is_park_ours = !set_park(jni, yunti_park);
	}
	look->header->sees_parks = (uint64_t)is_park_ours;
	/* Written last: all else is there. */
	look->header->magic = MAGIC;
	return 0;
}

JNIEXPORT jint JNICALL Agent_OnAttach(JavaVM *vm, char *options, void *reserved)
{
	char name[128];
	uint64_t park_address = 0, seconds = 0;
	JNIEnv *jni;

	(void)reserved;
	java_vm = vm;
	if (!options || (*vm)->GetEnv(vm, (void **)&jni, JNI_VERSION_1_8))
		return REFUSED;
	/* What others in this thread have not asked for. */
	if ((*jni)->ExceptionCheck(jni))
		return REFUSED;
	if (sscanf(options, "start,%127[^,],%lx,%lu", name, &park_address, &seconds) == 3)
		return start(jni, name, park_address, seconds);
	if (sscanf(options, "stop,%127[^,]", name) != 1)
		return REFUSED;
	if (started && !strcmp(started->name, name))
		stop(jni);
	return 0;
}
