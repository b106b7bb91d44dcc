/* Owners of monitors. JVMTI does not report virtual threads as owners. */
#ifndef YUNTI_HOTSPOT_MONITORS_H
#define YUNTI_HOTSPOT_MONITORS_H

#include <jni.h>
#include <stdint.h>

/* Prepares `owner_id`. Call it once. */
void find_monitor_structures(void);
/* Returns Thread.threadId() of a monitor's owner, virtual or not; 0 if unknown. @param object a local reference */
uint64_t owner_id(jobject object);

#endif
