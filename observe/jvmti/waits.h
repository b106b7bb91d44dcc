/* A wait: what for, who holds it, the stacks of both, from its begin to its end. */
#ifndef YUNTI_WAITS_H
#define YUNTI_WAITS_H

#include <jvmti.h>

#include "look.h"

/* A global reference; NULL: there is none. */
jclass class_of(JNIEnv *jni, const char *name);
/* Once; 0: java.util.concurrent is not as it is known. */
int find_lock_classes(jvmtiEnv *env, JNIEnv *jni);
/* An earlier look has used some of what there is a second. */
void restore_budgets(void);

/* Class and identity of what is waited for. */
void describe(struct look *look, JNIEnv *jni, jobject lock, struct record *record);
/* What a thread waits for by its blocker, and who holds that. */
enum kind kind_of(struct look *look, JNIEnv *jni, jobject blocker, struct record *record);
/* Who holds a monitor, asked for the stack too. */
void find_owner(struct look *look, JNIEnv *jni, jobject monitor, struct record *record);
void note_name(struct look *look, JNIEnv *jni, jthread thread, uint32_t number);
/* For its stack. */
void ask_holder(struct record *record);
void yunti_takes_stack(struct look *look, struct record *record, uint32_t tid, enum kind kind);

/* @param number of the virtual thread that is about to wait; 0: it is none */
void begin(struct look *look, JNIEnv *jni, jobject lock, uint32_t number, enum kind kind, struct record *record);
/* Of the wait in a place, if it is one for a monitor, or for something else (NULL). */
void end_in(struct look *look, JNIEnv *jni, jobject monitor, struct record *place);
/* @param number of a virtual thread; 0: it is none */
void end(JNIEnv *jni, jobject monitor, uint32_t number);
void put(struct record *place, const struct record *record, enum kind kind);
/* A wait whose end was not seen: the thread does something else by now. */
void forget(struct look *look, struct record *place);
void forget_virtual(struct look *look, uint32_t number);

#endif
