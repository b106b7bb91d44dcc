/** Passes over a template: the walk that squeezes, the conversion of marked loops, the comparison of the results. */
package org.yunti.web.shrink.pass;
