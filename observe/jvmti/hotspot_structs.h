/* Offsets of fields in HotSpot's structures, from the table that HotSpot exports for debuggers. */
#ifndef YUNTI_HOTSPOT_STRUCTS_H
#define YUNTI_HOTSPOT_STRUCTS_H

#include <stddef.h>
#include <stdint.h>

/*
 * @param type the structure; NULL for any with such a field
 * @param of   the field's type in C++; NULL for any
 * @return the offset; -1 if there is no such field
 */
long offset_in_hotspot(const char *type, const char *field, const char *of);
/* Copies memory that may be freed at any time. Returns 0 if it is not mapped. */
int peek(uint64_t address, void *to, size_t bytes);

#endif
