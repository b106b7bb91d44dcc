/** The file: header, checked blocks, dictionaries, the hash of keys. docs/formats/ytab.md describes the bytes. */
package org.yunti.table.format;
