/* Where HotSpot's own structures have their fields: a table that it exports for debuggers. */
#ifndef YUNTI_HOTSPOT_STRUCTS_H
#define YUNTI_HOTSPOT_STRUCTS_H

#include <stddef.h>
#include <stdint.h>

/*
 * @param type NULL: whichever has such a field
 * @param of   what the field must be, as C++ writes it; NULL: whatever
 * @return -1: there is none
 */
long offset_in_hotspot(const char *type, const char *field, const char *of);
/* Whether there was such memory: what an address leads to may be gone meanwhile. */
int peek(uint64_t address, void *to, size_t bytes);

#endif
