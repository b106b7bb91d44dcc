package org.yunti.messages.trial.codec;

/**
 * Settings of a JSON writer that change its bytes. They are found by the length of the service's bytes.
 *
 * @param withNulls true if members that are null are written
 * @param withTimestamps true if times are numbers
 */
public record Shape(boolean withNulls, boolean withTimestamps) {}
