/* Monitors of a JVM that virtual threads hold: JVMTI does not say who. */
#ifndef YUNTI_HOTSPOT_MONITORS_H
#define YUNTI_HOTSPOT_MONITORS_H

#include <jni.h>
#include <stdint.h>

/* For `owner_id`, once. */
void find_monitor_structures(void);
/* Thread.threadId() of who holds a monitor, virtual or not; 0: nobody, or it is not known. @param object a local reference */
uint64_t owner_id(jobject object);

#endif
