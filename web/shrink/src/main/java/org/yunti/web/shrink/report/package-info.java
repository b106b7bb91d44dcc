/** Savings of shrunk templates: bytes, gzipped bytes and CPU time. */
package org.yunti.web.shrink.report;
