/* HotSpot's structures: hotspot_structs.h. */
#define _GNU_SOURCE
#include "hotspot_structs.h"

#include <dlfcn.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

int peek(uint64_t address, void *to, size_t bytes)
{
	struct iovec local = {to, bytes}, remote = {(void *)(uintptr_t)address, bytes};

	/* A thread may end during the read and free its memory. The kernel then returns an error, but a load would crash. */
	return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == (ssize_t)bytes;
}

static const char *text_at(uint64_t entry, const char *offset_name)
{
	uint64_t *offset = dlsym(RTLD_DEFAULT, offset_name);

	return offset ? *(const char **)(uintptr_t)(entry + *offset) : NULL;
}

/* `gHotSpotVMStructs`: rows of (type, field, type of the field, .., offset), until one without a type. */
long offset_in_hotspot(const char *type, const char *field, const char *of)
{
	uint64_t *table = dlsym(RTLD_DEFAULT, "gHotSpotVMStructs"), *stride, *offset_at, entry;

	stride = dlsym(RTLD_DEFAULT, "gHotSpotVMStructEntryArrayStride");
	offset_at = dlsym(RTLD_DEFAULT, "gHotSpotVMStructEntryOffsetOffset");
	if (!table || !stride || !offset_at)
		return -1;
	for (entry = *table;; entry += *stride) {
		const char *in = text_at(entry, "gHotSpotVMStructEntryTypeNameOffset");
		const char *name = text_at(entry, "gHotSpotVMStructEntryFieldNameOffset");
		const char *is = text_at(entry, "gHotSpotVMStructEntryTypeStringOffset");

		if (!in || !name)
			return -1;
		if (!strcmp(name, field) && (!type || !strcmp(in, type)) && (!of || (is && !strcmp(is, of))))
			return (long)*(uint64_t *)(uintptr_t)(entry + *offset_at);
	}
}
