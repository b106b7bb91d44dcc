/**
 * Yunti inside stock Hadoop: native code collects, sorts and writes map output, enabled by settings alone.
 *
 * <p>Native code declines a task that it cannot serve before the first record ({@link org.yunti.hadoop.Declined});
 * stock code then runs the task.
 */
package org.yunti.hadoop;
