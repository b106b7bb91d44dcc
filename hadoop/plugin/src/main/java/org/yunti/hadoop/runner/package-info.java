/**
 * MapReduce on one machine without a cluster: the framework {@code yunti}.
 *
 * <pre>
 *   client -> RunnerProvider -> RunnerClient -> job/JobRun -> task/MapAttempt, task/ReduceAttempt
 * </pre>
 */
package org.yunti.hadoop.runner;
