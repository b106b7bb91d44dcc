/** Bytes of a mapped file, by the fastest access that the JVM offers. */
package org.yunti.table.memory;
