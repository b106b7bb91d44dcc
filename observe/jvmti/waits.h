/* A wait from begin to end: the lock, the holder, and the stacks of waiter and holder. */
#ifndef YUNTI_WAITS_H
#define YUNTI_WAITS_H

#include <jvmti.h>

#include "measurement.h"

/* Returns a global reference to a class; NULL if there is no such class. */
jclass class_of(JNIEnv *jni, const char *name);
/* Prepares the functions below. Call it once. Returns 0 if java.util.concurrent has an unknown layout. */
int find_lock_classes(jvmtiEnv *env, JNIEnv *jni);
/* Resets the limits per second, which an earlier measurement may have used. */
void restore_budgets(void);

/* Fills in the lock's class and identity. */
void describe(struct measurement *measurement, JNIEnv *jni, jobject lock, struct record *record);
/* Returns the kind of a blocker, and fills in its holder. */
enum kind kind_of(struct measurement *measurement, JNIEnv *jni, jobject blocker, struct record *record);
/* Fills in the owner of a monitor, and requests its stack. */
void find_owner(struct measurement *measurement, JNIEnv *jni, jobject monitor, struct record *record);
void note_name(struct measurement *measurement, JNIEnv *jni, jthread thread, uint32_t number);
/* Requests the stack of the record's holder. */
void request_holder_stack(struct record *record);
void yunti_takes_stack(struct measurement *measurement, struct record *record, uint32_t tid, enum kind kind);

/* @param number of the virtual thread that is about to wait; 0 for any other thread */
void begin(struct measurement *measurement, JNIEnv *jni, jobject lock, uint32_t number, enum kind kind,
    struct record *record);
/* Ends the wait in a place, if it is for a monitor, or for anything else (NULL). */
void end_in(struct measurement *measurement, JNIEnv *jni, jobject monitor, struct record *place);
/* @param number of a virtual thread; 0 for any other thread */
void end(JNIEnv *jni, jobject monitor, uint32_t number);
void put(struct record *place, const struct record *record, enum kind kind);
/* Drops a wait whose end was missed, because the thread does something else now. */
void forget(struct measurement *measurement, struct record *place);
void forget_virtual(struct measurement *measurement, uint32_t number);

#endif
