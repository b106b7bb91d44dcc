/*
 * A JVMTI agent that records each wait for a lock: the lock, the duration, the waiter, the holder.
 *
 *   monitors               JVMTI's MonitorContendedEnter and MonitorContendedEntered
 *   java.util.concurrent   a function that replaces Unsafe.park and calls the JVM's own; the lock is LockSupport's
 *                          blocker
 *
 * A lock is named by its class and its identity hash code, which stay the same when the collector moves it.
 *
 * A virtual thread does not sleep in Unsafe.park but unmounts from its carrier (virtual_threads.h). Its wait begins
 * with
 * the unmount and ends with the next mount. Its place is found by its own number. JVMTI's monitor events run in the
 * virtual thread too.
 *
 * async-profiler takes the stacks: a thread that is about to wait sends SIGPROF to itself and to the lock's holder.
 *
 * Records and their memory: measurement.h.
 *
 * The attach mechanism loads it with the options "start,NAME,PARK,SECONDS" or "stop,NAME" with the same name. PARK is
 * the address of the JVM's own function in hex; 0 unmounts out java.util.concurrent. The second load reaches the same
 * library and the same variables.
 */
#define _GNU_SOURCE
#include <jvmti.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "hotspot_monitors.h"
#include "hotspot_threads.h"
#include "measurement.h"
#include "virtual_threads.h"
#include "waits.h"

enum { BUSY = 1, REFUSED = 2, NO_MEMORY = 3 };

static jvmtiEnv *jvmti;
static JavaVM *java_vm;
static struct measurement *started; /* of the attaching thread alone: the current measurement, also during its stop */

typedef void (*park_function)(JNIEnv *, jobject, jboolean, jlong);
/* Never reset, because a thread may be about to call it. */
static _Atomic park_function jvm_park;
static int is_park_ours;
static int knows_virtual_threads;
static jclass unsafe_class, carrier_class;
static jfieldID blocker_field;

/* ---- monitors ---- */

/* Returns the number of a virtual thread; 0 for any other thread. */
static uint32_t virtual_or_none(JNIEnv *jni, jthread thread)
{
	return is_virtual(jni, thread) ? number_of_virtual(jni, thread) : 0;
}

static void JNICALL yunti_monitor_wait_begins(jvmtiEnv *env, JNIEnv *jni, jthread thread, jobject object)
{
	struct record record = {.begin_ns = now_ns()};
	struct measurement *measurement = enter();
	uint32_t number;

	(void)env;
	if (!measurement)
		return;
	number = virtual_or_none(jni, thread);
	if (number) {
		measurement->header->has_virtual_threads = 1;
		/* The place is only freed by mount events, so it is only taken if they are on. */
		if (!measurement->header->sees_virtual_threads) {
			leave();
			return;
		}
		forget_virtual(measurement, number);
		note_name(measurement, jni, thread, number);
	} else {
		forget(measurement, own_place(measurement));
	}
	find_owner(measurement, jni, object, &record);
	begin(measurement, jni, object, number, MONITOR, &record);
	leave();
}

static void JNICALL monitor_wait_ends(jvmtiEnv *env, JNIEnv *jni, jthread thread, jobject object)
{
	(void)env;
	end(jni, object, virtual_or_none(jni, thread));
}

/* ---- java.util.concurrent ---- */

/* @return the number of the current virtual thread; 0 for any other thread */
static uint32_t begin_park(JNIEnv *jni)
{
	struct record record = {.begin_ns = now_ns()};
	struct measurement *measurement = enter();
	jobject blocker = NULL;
	jthread thread = NULL;
	uint32_t number = 0;
	enum kind kind;

	if (!measurement)
		return 0;
	if (!(*jvmti)->GetCurrentThread(jvmti, &thread) && thread) {
		number = virtual_or_none(jni, thread);
		blocker = (*jni)->GetObjectField(jni, thread, blocker_field);
	}
	if (!number)
		forget(measurement, own_place(measurement));
	/* A pinned virtual thread began its wait when it tried to unmount. */
	if (blocker && (!number || (measurement->header->sees_virtual_threads && !virtual_place(measurement, number)))) {
		kind = kind_of(measurement, jni, blocker, &record);
		request_holder_stack(&record);
		if (number)
			note_name(measurement, jni, thread, number);
		begin(measurement, jni, blocker, number, kind, &record);
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

/* ---- java.util.concurrent in virtual threads ---- */

/* A virtual thread unmounts: to wait, to sleep, to read, to yield, or because it ends. */
static void unmounts(JNIEnv *jni, jthread thread)
{
	struct record record = {0};
	struct measurement *measurement = enter();
	struct record *place;
	jobject blocker;
	uint32_t number;
	enum kind kind;
	int parks;

	if (!measurement)
		return;
	blocker = (*jni)->GetObjectField(jni, thread, blocker_field);
	parks = blocker && !is_running(jni, thread);
	number = parks || atomic_load(&measurement->virtual_open) ? number_of_virtual(jni, thread) : 0;
	place = number ? virtual_place(measurement, number) : NULL;
	/* A wait for a monitor also unmounts, and ends by its own event. Any other open wait never slept. */
	if (place && (parks || (atomic_load(&place->kind) & KINDS) != MONITOR)) {
		/* A wait that began before the measurement, on the carrier. */
		if (atomic_load(&place->kind) & BEFORE)
			forget(measurement, place);
		free_virtual_place(measurement, place);
	}
	if (parks) {
		record.begin_ns = now_ns();
		kind = kind_of(measurement, jni, blocker, &record);
		request_holder_stack(&record);
		note_name(measurement, jni, thread, number);
		begin(measurement, jni, blocker, number, kind, &record);
	}
	if (blocker)
		(*jni)->DeleteLocalRef(jni, blocker);
	leave();
}

/* Records a wait that began before the measurement. Only the time within the measurement counts. */
static void write_virtual_before(struct measurement *measurement, JNIEnv *jni, jthread thread, jobject blocker,
		uint32_t number)
{
	struct record record = {.begin_ns = measurement->begin_ns, .tid = number};
	enum kind kind = kind_of(measurement, jni, blocker, &record);

	/* The wait may have found no place at its begin, and is counted as lost then. */
	if (atomic_load(kind == WAIT ? &measurement->header->idle_lost : &measurement->header->lost))
		return;
	note_name(measurement, jni, thread, number);
	/* The current holder is not the one during the wait. */
	record.holder = record.holder_tid = 0;
	describe(measurement, jni, blocker, &record);
	record.duration_ns = now_ns() - record.begin_ns;
	atomic_store(&record.kind, kind | BEFORE);
	write_record(measurement, &record);
}

/* A virtual thread has mounted; or it is pinned to its carrier, by a native method or a class initialisation. */
static void mounted(JNIEnv *jni, jthread thread)
{
	struct measurement *measurement = enter();
	jobject blocker;

	if (!measurement)
		return;
	blocker = (*jni)->GetObjectField(jni, thread, blocker_field);
	/* A pinned one goes on to Unsafe.park and waits there. */
	if (blocker && is_running(jni, thread)) {
		uint32_t number = number_of_virtual(jni, thread);
		struct record *place = virtual_place(measurement, number);

		if (place)
			end_in(measurement, jni, NULL, place);
		else
			write_virtual_before(measurement, jni, thread, blocker, number);
	}
	if (blocker)
		(*jni)->DeleteLocalRef(jni, blocker);
	leave();
}

/* The arguments are JNIEnv * and jthread. */
static void JNICALL yunti_virtual_thread_unmounts(jvmtiEnv *env, ...)
{
	va_list arguments;
	JNIEnv *jni;

	va_start(arguments, env);
	jni = va_arg(arguments, JNIEnv *);
	unmounts(jni, va_arg(arguments, jthread));
	va_end(arguments);
}

static void JNICALL virtual_thread_mounted(jvmtiEnv *env, ...)
{
	va_list arguments;
	JNIEnv *jni;

	va_start(arguments, env);
	jni = va_arg(arguments, JNIEnv *);
	mounted(jni, va_arg(arguments, jthread));
	va_end(arguments);
}

/* ---- waits that began before the measurement ---- */

/*
 * Returns what a thread waits for now; 0 for nothing. Which monitor it is, only the event at the end of the wait
 * shows.
 */
static enum kind waits_for(struct measurement *measurement, JNIEnv *jni, jthread thread, jobject *object,
		struct record *record)
{
	jint state = 0;

	if ((*jvmti)->GetThreadState(jvmti, thread, &state))
		return 0;
	if (state & JVMTI_THREAD_STATE_BLOCKED_ON_MONITOR_ENTER)
		return MONITOR;
	if (!(state & JVMTI_THREAD_STATE_PARKED))
		return 0;
	*object = (*jni)->GetObjectField(jni, thread, blocker_field);
	return *object ? kind_of(measurement, jni, *object, record) : 0;
}

/*
* At the start, before any thread writes, records the threads that wait already. At the end, when no thread writes any
* more, marks the ones that have waited all the time.
*/
static void scan_all(struct measurement *measurement, JNIEnv *jni, int is_end)
{
	jthread *threads = NULL;
	jint i, count = 0;

	if ((*jvmti)->GetAllThreads(jvmti, &count, &threads))
		return;
	for (i = 0; i < count; i++) {
		struct record record = {.begin_ns = measurement->begin_ns, .tid = tid_of(jni, threads[i])};
		jobject object = NULL;
		enum kind kind = record.tid && record.tid != own_tid() ? waits_for(measurement, jni, threads[i], &object, &record)
				: 0;
		struct record *place = kind ? place_of(measurement, record.tid) : NULL;

		if (carrier_class && (*jni)->IsInstanceOf(jni, threads[i], carrier_class))
			measurement->header->has_virtual_threads = 1;
		if (place && is_end) {
			jint hash = 0;

			if (object)
				(*jvmti)->GetObjectHashCode(jvmti, object, &hash);
			if (atomic_load(&place->kind) & BEFORE && place->identity == (uint32_t)hash)
				atomic_fetch_or(&place->kind, STILL);
		} else if (place) {
			request_holder_stack(&record);
			if (object)
				describe(measurement, jni, object, &record);
			else
				record.class_number = CLASSES_MAX;
			yunti_takes_stack(measurement, &record, record.tid, kind);
			put(place, &record, kind | BEFORE);
		}
		if (object)
			(*jni)->DeleteLocalRef(jni, object);
		(*jni)->DeleteLocalRef(jni, threads[i]);
	}
	(*jvmti)->Deallocate(jvmti, (unsigned char *)threads);
}

/* Returns what a virtual thread waits for now, mounted or not. */
static enum kind virtual_waits_for(struct measurement *measurement, JNIEnv *jni, jthread thread, jobject *object,
		struct record *record)
{
	if (is_running(jni, thread))
		return 0;
	if (is_blocked(jni, thread))
		return MONITOR;
	*object = (*jni)->GetObjectField(jni, thread, blocker_field);
	return *object ? kind_of(measurement, jni, *object, record) : 0;
}

struct virtual_scan {
	struct measurement *measurement;
	int is_end;
};

static void scan_virtual(JNIEnv *jni, jthread thread, void *with)
{
	struct virtual_scan *how = with;
	struct measurement *measurement = how->measurement;
	uint32_t number = number_of_virtual(jni, thread);
	struct record record = {.begin_ns = measurement->begin_ns, .tid = number}, *place = how->is_end
			? virtual_place(measurement, number) : NULL;
	jobject object = NULL;
	enum kind kind;

	/* At the end, only check threads that have waited since the start. */
	if (how->is_end && (!place || !(atomic_load(&place->kind) & BEFORE)))
		return;
	kind = virtual_waits_for(measurement, jni, thread, &object, &record);
	if (how->is_end) {
		jint hash = 0;

		if (object)
			(*jvmti)->GetObjectHashCode(jvmti, object, &hash);
		if (kind && place->identity == (uint32_t)hash)
			atomic_fetch_or(&place->kind, STILL);
	} else if (kind && (place = take_virtual_place(measurement, number, kind == WAIT))) {
		if (object)
			describe(measurement, jni, object, &record);
		else
			record.class_number = CLASSES_MAX;
		note_name(measurement, jni, thread, number);
		put(place, &record, kind | BEFORE);
	}
	if (object)
		(*jni)->DeleteLocalRef(jni, object);
}

static void scan_all_virtual(struct measurement *measurement, JNIEnv *jni, int is_end)
{
	struct virtual_scan how = {measurement, is_end};

	if (measurement->header->virtual_places && (!is_end || atomic_load(&measurement->virtual_open)))
		measurement->header->virtual_threads_missed |= !for_all_virtual_threads(jni, scan_virtual, &how);
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
	set_measurement(NULL);
}

static jvmtiCapabilities wanted = {
	.can_generate_monitor_events = 1,
	.can_get_monitor_info = 1,
};
static const jvmtiEvent events[] = {JVMTI_EVENT_VM_DEATH, JVMTI_EVENT_MONITOR_CONTENDED_ENTER,
		JVMTI_EVENT_MONITOR_CONTENDED_ENTERED};

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
		/* The first JVMs with virtual threads grant this only at their start. */
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
	struct measurement *measurement = started;
	int is_free;

	if (is_park_ours && !set_park(jni, atomic_load(&jvm_park)))
		is_park_ours = 0;
	switch_events(JVMTI_DISABLE);
	if (knows_virtual_threads)
		switch_mounts(jvmti, JVMTI_DISABLE, NULL, NULL);
	set_measurement(NULL);
	started = NULL;
	is_free = all_have_left();
	scan_all(measurement, jni, 1);
	scan_all_virtual(measurement, jni, 1);
	(*jvmti)->RelinquishCapabilities(jvmti, &wanted);
	/* Memory that a thread still uses is leaked. */
	if (is_free)
		release(measurement);
}

static int start(JNIEnv *jni, const char *name, uintptr_t park_address, uint64_t seconds)
{
	struct measurement *measurement;

	/* The observer of that measurement is gone, and its time is over. */
	if (started && now_ns() > started->deadline_ns)
		stop(jni);
	if (started)
		return BUSY;
	if (!prepare(jni))
		return REFUSED;
	measurement = make_measurement(name, seconds, knows_virtual_threads);
	if (!measurement)
		return NO_MEMORY;
	scan_all(measurement, jni, 0);
	scan_all_virtual(measurement, jni, 0);
	restore_budgets();
	started = measurement;
	set_measurement(measurement);
	measurement->header->sees_virtual_threads =
		knows_virtual_threads && switch_mounts(jvmti, JVMTI_ENABLE, yunti_virtual_thread_unmounts, virtual_thread_mounted);
	switch_events(JVMTI_ENABLE);
	if (park_address) {
		atomic_store(&jvm_park, (park_function)park_address);
		is_park_ours = !set_park(jni, yunti_park);
	}
	measurement->header->sees_parks = (uint64_t)is_park_ours;
	/* Written last, when everything else is valid. */
	measurement->header->magic = MAGIC;
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
	/* A pending exception of another agent on this thread. */
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
