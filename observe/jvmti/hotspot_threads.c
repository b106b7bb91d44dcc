/*
 * The system's thread ID of a Java thread, from the structures of HotSpot: java.lang.Thread.eetop is the address of a
 * JavaThread, which holds the address of an OSThread, which holds the ID.
 */
#include "hotspot_threads.h"

#include "hotspot_structs.h"

static jfieldID eetop_field;
/* -1: not found. */
static long os_thread_offset = -1, thread_id_offset = -1;

uint32_t tid_of(JNIEnv *jni, jobject thread)
{
	uint64_t java_thread, os_thread = 0;
	uint32_t tid = 0;

	if (!thread || !eetop_field || os_thread_offset < 0 || thread_id_offset < 0)
		return 0;
	java_thread = (uint64_t)(*jni)->GetLongField(jni, thread, eetop_field);
	if (!java_thread || !peek(java_thread + (uint64_t)os_thread_offset, &os_thread, sizeof(os_thread)) || !os_thread)
		return 0;
	return peek(os_thread + (uint64_t)thread_id_offset, &tid, sizeof(tid)) ? tid : 0;
}

int find_thread_structures(JNIEnv *jni, jclass thread_class)
{
	eetop_field = (*jni)->GetFieldID(jni, thread_class, "eetop", "J");
	if ((*jni)->ExceptionCheck(jni))
		(*jni)->ExceptionClear(jni);
	/* A field of Thread, in later versions of JavaThread. */
	os_thread_offset = offset_in_hotspot(NULL, "_osthread", NULL);
	thread_id_offset = offset_in_hotspot("OSThread", "_thread_id", NULL);
	return eetop_field != NULL;
}
