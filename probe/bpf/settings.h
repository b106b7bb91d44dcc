/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Constants of all programs that watch a process: src/programs/mod.rs writes them. */
#ifndef YUNTI_SETTINGS_H
#define YUNTI_SETTINGS_H

#include "kernel.h"

/* Set before the programs are loaded; the only constant, so that it is all of `.rodata`. */
struct settings {
	/* Process; 0 for all but `own`. */
	__u32 tgid;
	__u32 stacks_by_signal;
	__u32 stacks_a_second_max;
	/* True if gates decide what is recorded: hits.bpf.c. */
	__u32 has_gates;
	/* The measuring process itself. */
	__u32 own;
};
const volatile struct settings settings = {};

#endif
