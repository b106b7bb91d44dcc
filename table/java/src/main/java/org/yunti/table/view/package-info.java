/** Classes made at run time, which implement interfaces of the caller by the bytes of rows; and record classes. */
package org.yunti.table.view;
