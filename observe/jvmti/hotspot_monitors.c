/*
 * Who holds a monitor, by the structures of HotSpot (JDK 24 and later): the head of an object that is waited for has the address of its
 * ObjectMonitor, and that has the number of the thread.
 *
 *   reference -> object: head | 10  -> ObjectMonitor: _owner, _object -> the object again
 *
 * The collector may move the object meanwhile. Nothing is taken that does not lead back to the same object.
 *
 * Not known: who has taken it when nobody else wanted it, until that thread has let it go (the JVM itself writes down "somebody"); collectors whose
 * references are more than addresses (ZGC); -XX:+UseObjectMonitorTable.
 */
#include "hotspot_monitors.h"

#include "hotspot_structs.h"

/* The last two bits of a head. */
#define TAGS 3
#define IS_MONITOR 2
/* Smaller ones say: nobody, somebody, about to be freed. */
#define FIRST_THREAD 3

/* -1: not found, or not as in those versions. */
static long owner_offset = -1, object_offset = -1;

void find_monitor_structures(void)
{
	owner_offset = offset_in_hotspot("ObjectMonitor", "_owner", "int64_t");
	object_offset = offset_in_hotspot("ObjectMonitor", "_object", NULL);
}

uint64_t owner_id(jobject object)
{
	uint64_t reference = (uint64_t)(uintptr_t)object, address = 0, again = 0, head = 0, monitor, handle = 0, back = 0, owner = 0;

	/* Of a local reference the JVM uses these bits for nothing. */
	if (owner_offset < 0 || object_offset < 0 || reference & TAGS)
		return 0;
	if (!peek(reference, &address, sizeof(address)) || !peek(address, &head, sizeof(head)) || (head & TAGS) != IS_MONITOR)
		return 0;
	monitor = head & ~(uint64_t)TAGS;
	if (!peek(monitor + (uint64_t)owner_offset, &owner, sizeof(owner)) || !peek(monitor + (uint64_t)object_offset, &handle, sizeof(handle)))
		return 0;
	if (!peek(handle, &back, sizeof(back)) || !peek(reference, &again, sizeof(again)) || back != address || again != address)
		return 0;
	return owner >= FIRST_THREAD ? owner : 0;
}
