/**
 * Yunti inside stock Hadoop: map output collected, sorted and written by native code, by settings alone.
 *
 * <p>Everything that native code cannot serve is declined before the first record ({@link org.yunti.hadoop.Declined}), and stock
 * code runs.
 */
package org.yunti.hadoop;
