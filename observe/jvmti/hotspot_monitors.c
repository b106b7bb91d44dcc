/*
 * Owner of a monitor, from the structures of HotSpot (JDK 24 and later): the head of a contended object holds the
 * address of its ObjectMonitor, which holds the thread's ID.
 *
 *   reference -> object: head | 10  -> ObjectMonitor: _owner, _object -> the object again
 *
 * The collector may move the object during the read. Only a result that leads back to the same object is used.
 *
 * Limitations: an owner that took the monitor without contention is unknown until it releases the monitor, because the
 * JVM records only "anonymous". References that are more than addresses (ZGC) and -XX:+UseObjectMonitorTable are not
 * supported.
 */
#include "hotspot_monitors.h"

#include "hotspot_structs.h"

/* Lowest two bits of a head. */
#define TAGS 3
#define IS_MONITOR 2
/* Smaller IDs mean: no owner, anonymous, about to be freed. */
#define FIRST_THREAD 3

/* -1: not found, or of another type than in these versions. */
static long owner_offset = -1, object_offset = -1;

void find_monitor_structures(void)
{
	owner_offset = offset_in_hotspot("ObjectMonitor", "_owner", "int64_t");
	object_offset = offset_in_hotspot("ObjectMonitor", "_object", NULL);
}

uint64_t owner_id(jobject object)
{
	uint64_t reference = (uint64_t)(uintptr_t)object, address = 0, again = 0, head = 0, monitor, handle = 0, back = 0,
			owner = 0;

	/* These bits of a local reference are zero. */
	if (owner_offset < 0 || object_offset < 0 || reference & TAGS)
		return 0;
	if (!peek(reference, &address, sizeof(address)) || !peek(address, &head, sizeof(head)) || (head & TAGS) != IS_MONITOR)
		return 0;
	monitor = head & ~(uint64_t)TAGS;
	if (!peek(monitor + (uint64_t)owner_offset, &owner, sizeof(owner)) ||
			!peek(monitor + (uint64_t)object_offset, &handle, sizeof(handle)))
		return 0;
	if (!peek(handle, &back, sizeof(back)) || !peek(reference, &again, sizeof(again)) || back != address ||
			again != address)
		return 0;
	return owner >= FIRST_THREAD ? owner : 0;
}
