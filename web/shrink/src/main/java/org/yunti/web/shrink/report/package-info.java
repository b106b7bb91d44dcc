/** What shrinking saves: bytes, gzipped bytes and CPU time. */
package org.yunti.web.shrink.report;
