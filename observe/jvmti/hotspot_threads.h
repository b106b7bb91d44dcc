/* Threads of a JVM as the system calls them. */
#ifndef YUNTI_HOTSPOT_THREADS_H
#define YUNTI_HOTSPOT_THREADS_H

#include <jni.h>
#include <stdint.h>

/* 0: the class Thread is not as it is known. */
int find_thread_structures(JNIEnv *jni, jclass thread_class);
/* The system's number of a Java thread; 0: a virtual thread, one that has ended, or a JVM whose structures are not known. */
uint32_t tid_of(JNIEnv *jni, jobject thread);

#endif
