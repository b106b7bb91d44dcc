/* Virtual threads: their numbers, names, states and carriers. */
#ifndef YUNTI_VIRTUAL_THREADS_H
#define YUNTI_VIRTUAL_THREADS_H

#include <jvmti.h>
#include <stdint.h>

/* Bit that marks the number of a virtual thread. */
#define IS_VIRTUAL 0x80000000u

/* Prepares the functions below. Call it once. Returns 0 without virtual threads, or if their layout is unknown. */
int find_virtual_threads(jvmtiEnv *jvmti, JNIEnv *jni, jclass thread_class);
/* Adds the capability for events of virtual threads. */
void want_virtual_threads(jvmtiCapabilities *wanted);
/* Switches the callbacks before an unmount and after a mount on or off. Returns 0 if this JVM does not support them. */
int switch_mounts(jvmtiEnv *jvmti, jvmtiEventMode mode, jvmtiExtensionEvent unmounts, jvmtiExtensionEvent mounted);

int is_virtual(JNIEnv *jni, jthread thread);
/* Returns Thread.threadId() of any thread. */
uint64_t id_of(JNIEnv *jni, jthread thread);
uint32_t virtual_number(uint64_t thread_id);
/* Returns the low bits of a virtual thread's Thread.threadId(), with IS_VIRTUAL. */
uint32_t number_of_virtual(JNIEnv *jni, jthread thread);
/* Returns the system thread ID of its carrier; 0 if it is not mounted. */
uint32_t carrier_of(JNIEnv *jni, jthread thread);
/* Returns 1 if its state is running. A pinned thread that waits on its carrier is also in this state. */
int is_running(JNIEnv *jni, jthread thread);
/* Returns 1 if it waits for a monitor without a carrier. */
int is_blocked(JNIEnv *jni, jthread thread);
/*
 * Calls `take` for each live virtual thread, from the JDK's own list, by Java code on this thread. Returns 0
 * without it.
 */
int for_all_virtual_threads(JNIEnv *jni, void (*take)(JNIEnv *jni, jthread thread, void *with), void *with);
/* Copies the name into `name` of `room` bytes. Returns 0 if it has none. */
int name_of_virtual(JNIEnv *jni, jthread thread, char *name, int room);

#endif
