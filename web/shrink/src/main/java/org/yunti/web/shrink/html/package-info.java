/** HTML as the tokenizer of a browser reads it: where a page stands, and which white space it may lose there. */
package org.yunti.web.shrink.html;
