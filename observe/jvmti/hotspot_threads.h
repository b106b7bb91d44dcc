/* System thread IDs of a JVM's threads. */
#ifndef YUNTI_HOTSPOT_THREADS_H
#define YUNTI_HOTSPOT_THREADS_H

#include <jni.h>
#include <stdint.h>

/* Returns 0 if the class Thread has an unknown layout. */
int find_thread_structures(JNIEnv *jni, jclass thread_class);
/* Returns the system's ID of a Java thread; 0 for a virtual thread, an ended one, or a JVM with unknown structures. */
uint32_t tid_of(JNIEnv *jni, jobject thread);

#endif
