/* Virtual threads: which they are, and where they run. */
#ifndef YUNTI_VIRTUAL_THREADS_H
#define YUNTI_VIRTUAL_THREADS_H

#include <jvmti.h>
#include <stdint.h>

/* Of a number that is a virtual thread's and no thread's of the system. */
#define IS_VIRTUAL 0x80000000u

/* Once; 0: this JVM has none, or not as they are known. */
int find_virtual_threads(jvmtiEnv *jvmti, JNIEnv *jni, jclass thread_class);
/* What there is to be asked for, for events of virtual threads. */
void want_virtual_threads(jvmtiCapabilities *wanted);
/* From now on these are called by a virtual thread that leaves its carrier, before, and by one that has come to one, behind; 0: this JVM cannot. */
int switch_mounts(jvmtiEnv *jvmti, jvmtiEventMode mode, jvmtiExtensionEvent leaves, jvmtiExtensionEvent has_come);

int is_virtual(JNIEnv *jni, jthread thread);
/* Thread.threadId(), of any. */
uint64_t id_of(JNIEnv *jni, jthread thread);
uint32_t virtual_number(uint64_t thread_id);
/* Thread.threadId() of a virtual thread, as far as it goes, and IS_VIRTUAL. */
uint32_t number_of_virtual(JNIEnv *jni, jthread thread);
/* The system's number of the thread that it runs on; 0: it does not. */
uint32_t carrier_of(JNIEnv *jni, jthread thread);
/* Whether it runs and does not wait: one that has not found a way to leave its carrier waits there. */
int is_running(JNIEnv *jni, jthread thread);
/* Whether it waits for a monitor, and on no carrier. */
int is_blocked(JNIEnv *jni, jthread thread);
/* Those that have begun and not ended, by the JDK's own list, for which Java runs in this thread; 0: there is none. */
int for_all_virtual_threads(JNIEnv *jni, void (*take)(JNIEnv *jni, jthread thread, void *with), void *with);
/* Into `name`, of `room` bytes; 0: it has none. */
int name_of_virtual(JNIEnv *jni, jthread thread, char *name, int room);

#endif
