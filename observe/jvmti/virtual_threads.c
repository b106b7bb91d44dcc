/*
 * Virtual threads, by their class and by two extension events of HotSpot.
 *
 * The headers of JDK 17, which this is compiled with, have none of it.
 */
#include "virtual_threads.h"

#include <string.h>

#include "hotspot_threads.h"

/* Bit of the capability can_support_virtual_threads. */
#define CAPABILITY_BIT 44

/* Nesting depth of thread containers. */
#define DEPTH_MAX 32

static jclass virtual_class;
static jfieldID id_field, name_field, carrier_field, state_field;
/* -1: no such state; before JDK 24 a blocked virtual thread keeps its carrier. */
static jint running, blocked = -1;
/* 0: no such event. */
static jint unmount_event, mount_event;

static void find_events(jvmtiEnv *jvmti)
{
	jvmtiExtensionEventInfo *events = NULL;
	jint i, k, count = 0;

	if ((*jvmti)->GetExtensionEvents(jvmti, &count, &events))
		return;
	for (i = 0; i < count; i++) {
		if (!strcmp(events[i].id, "com.sun.hotspot.events.VirtualThreadUnmount"))
			unmount_event = events[i].extension_event_index;
		if (!strcmp(events[i].id, "com.sun.hotspot.events.VirtualThreadMount"))
			mount_event = events[i].extension_event_index;
		for (k = 0; k < events[i].param_count; k++)
			(*jvmti)->Deallocate(jvmti, (unsigned char *)events[i].params[k].name);
		(*jvmti)->Deallocate(jvmti, (unsigned char *)events[i].id);
		(*jvmti)->Deallocate(jvmti, (unsigned char *)events[i].short_description);
		(*jvmti)->Deallocate(jvmti, (unsigned char *)events[i].params);
	}
	(*jvmti)->Deallocate(jvmti, (unsigned char *)events);
}

int find_virtual_threads(jvmtiEnv *jvmti, JNIEnv *jni, jclass thread_class)
{
	jclass found = (*jni)->FindClass(jni, "java/lang/VirtualThread");
	jfieldID running_field = NULL, blocked_field = NULL;

	if (found) {
		id_field = (*jni)->GetFieldID(jni, thread_class, "tid", "J");
		name_field = id_field ? (*jni)->GetFieldID(jni, thread_class, "name", "Ljava/lang/String;") : NULL;
		carrier_field = name_field ? (*jni)->GetFieldID(jni, found, "carrierThread", "Ljava/lang/Thread;") : NULL;
		state_field = carrier_field ? (*jni)->GetFieldID(jni, found, "state", "I") : NULL;
		running_field = state_field ? (*jni)->GetStaticFieldID(jni, found, "RUNNING", "I") : NULL;
	}
	if ((*jni)->ExceptionCheck(jni))
		(*jni)->ExceptionClear(jni);
	if (!running_field)
		return 0;
	running = (*jni)->GetStaticIntField(jni, found, running_field);
	blocked_field = (*jni)->GetStaticFieldID(jni, found, "BLOCKED", "I");
	if (blocked_field)
		blocked = (*jni)->GetStaticIntField(jni, found, blocked_field);
	else
		(*jni)->ExceptionClear(jni);
	virtual_class = (*jni)->NewGlobalRef(jni, found);
	find_events(jvmti);
	return virtual_class && unmount_event && mount_event;
}

void want_virtual_threads(jvmtiCapabilities *wanted)
{
	((unsigned char *)wanted)[CAPABILITY_BIT / 8] |= 1 << CAPABILITY_BIT % 8;
}

int switch_mounts(jvmtiEnv *jvmti, jvmtiEventMode mode, jvmtiExtensionEvent unmounts, jvmtiExtensionEvent mounted)
{
	/* The callbacks stay set when the events are off, because one may be about to be called. */
	if (mode == JVMTI_ENABLE && ((*jvmti)->SetExtensionEventCallback(jvmti, mount_event, mounted) ||
			(*jvmti)->SetExtensionEventCallback(jvmti, unmount_event, unmounts)))
		return 0;
	/* Contrary to the JVMTI specification, a callback alone does not switch the events on. */
	return !(*jvmti)->SetEventNotificationMode(jvmti, mode, (jvmtiEvent)mount_event, NULL) &&
	       !(*jvmti)->SetEventNotificationMode(jvmti, mode, (jvmtiEvent)unmount_event, NULL);
}

int is_virtual(JNIEnv *jni, jthread thread)
{
	return virtual_class && (*jni)->IsInstanceOf(jni, thread, virtual_class);
}

uint32_t virtual_number(uint64_t thread_id)
{
	return (uint32_t)thread_id | IS_VIRTUAL;
}

uint64_t id_of(JNIEnv *jni, jthread thread)
{
	return (uint64_t)(*jni)->GetLongField(jni, thread, id_field);
}

uint32_t number_of_virtual(JNIEnv *jni, jthread thread)
{
	return virtual_number(id_of(jni, thread));
}

uint32_t carrier_of(JNIEnv *jni, jthread thread)
{
	jobject carrier = (*jni)->GetObjectField(jni, thread, carrier_field);
	uint32_t tid = tid_of(jni, carrier);

	if (carrier)
		(*jni)->DeleteLocalRef(jni, carrier);
	return tid;
}

int is_running(JNIEnv *jni, jthread thread)
{
	return (*jni)->GetIntField(jni, thread, state_field) == running;
}

int is_blocked(JNIEnv *jni, jthread thread)
{
	return blocked >= 0 && (*jni)->GetIntField(jni, thread, state_field) == blocked;
}

/* ---- list of all virtual threads ---- */

/* A tree of jdk.internal.vm.ThreadContainer, each with threads. jcmd's Thread.dump_to_file walks the same tree. */
struct containers {
	jmethodID threads, children, to_array;
	void (*take)(JNIEnv *jni, jthread thread, void *with);
	void *with;
	int is_broken;
};

static jobjectArray array_of(JNIEnv *jni, jobject container, jmethodID stream_of, struct containers *all)
{
	jobject stream = (*jni)->CallObjectMethod(jni, container, stream_of), array = NULL;

	if (stream && !(*jni)->ExceptionCheck(jni))
		array = (*jni)->CallObjectMethod(jni, stream, all->to_array);
	if ((*jni)->ExceptionCheck(jni)) {
		(*jni)->ExceptionClear(jni);
		array = NULL;
	}
	if (stream)
		(*jni)->DeleteLocalRef(jni, stream);
	all->is_broken |= !array;
	return array;
}

static void go_through(JNIEnv *jni, jobject container, int depth, struct containers *all)
{
	jmethodID ways[] = {all->threads, all->children};
	int way;

	for (way = 0; way < 2 && depth < DEPTH_MAX; way++) {
		jobjectArray array = array_of(jni, container, ways[way], all);
		jsize i, count = array ? (*jni)->GetArrayLength(jni, array) : 0;

		for (i = 0; i < count; i++) {
			jobject each = (*jni)->GetObjectArrayElement(jni, array, i);

			if (way)
				go_through(jni, each, depth + 1, all);
			else if (is_virtual(jni, each))
				all->take(jni, each, all->with);
			(*jni)->DeleteLocalRef(jni, each);
		}
		if (array)
			(*jni)->DeleteLocalRef(jni, array);
	}
}

int for_all_virtual_threads(JNIEnv *jni, void (*take)(JNIEnv *jni, jthread thread, void *with), void *with)
{
	struct containers all = {.take = take, .with = with};
	jclass containers = (*jni)->FindClass(jni, "jdk/internal/vm/ThreadContainers");
	jclass container = containers ? (*jni)->FindClass(jni, "jdk/internal/vm/ThreadContainer") : NULL;
	jclass stream = container ? (*jni)->FindClass(jni, "java/util/stream/Stream") : NULL;
	jmethodID root_of = stream ? (*jni)->GetStaticMethodID(jni, containers, "root",
			"()Ljdk/internal/vm/ThreadContainer;") : NULL;
	jmethodID tracks = root_of ? (*jni)->GetStaticMethodID(jni, containers, "trackAllThreads", "()Z") : NULL;
	jobject root = NULL;

	all.threads = tracks ? (*jni)->GetMethodID(jni, container, "threads", "()Ljava/util/stream/Stream;") : NULL;
	all.children = all.threads ? (*jni)->GetMethodID(jni, container, "children", "()Ljava/util/stream/Stream;") : NULL;
	all.to_array = all.children ? (*jni)->GetMethodID(jni, stream, "toArray", "()[Ljava/lang/Object;") : NULL;
	if (all.to_array)
		root = (*jni)->CallStaticObjectMethod(jni, containers, root_of);
	if ((*jni)->ExceptionCheck(jni))
		(*jni)->ExceptionClear(jni);
	else if (root)
		go_through(jni, root, 0, &all);
	/* With -Djdk.trackAllThreads=false the tree has only the threads of executors. */
	if (root && !(*jni)->CallStaticBooleanMethod(jni, containers, tracks))
		all.is_broken = 1;
	return root && !all.is_broken;
}

/* ---- names ---- */

int name_of_virtual(JNIEnv *jni, jthread thread, char *name, int room)
{
	jstring text = (*jni)->GetObjectField(jni, thread, name_field);
	jsize length = text ? (*jni)->GetStringLength(jni, text) : 0;

	/* At most three bytes per character. */
	if (length > (room - 1) / 3)
		length = (room - 1) / 3;
	memset(name, 0, (size_t)room);
	if (length > 0)
		(*jni)->GetStringUTFRegion(jni, text, 0, length, name);
	if (text)
		(*jni)->DeleteLocalRef(jni, text);
	return length > 0;
}
