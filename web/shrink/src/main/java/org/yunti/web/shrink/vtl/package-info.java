/** Source of a template: its text, and runs of it between directives and references. */
package org.yunti.web.shrink.vtl;
