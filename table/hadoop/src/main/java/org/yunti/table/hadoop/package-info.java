/** Shared tables in the Java tasks of Hadoop's MapReduce. */
package org.yunti.table.hadoop;
