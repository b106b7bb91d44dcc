/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Arguments, results and stack pointers in saved registers, by the calling conventions; and registers for unwinding.
 * */
#ifndef YUNTI_REGISTERS_H
#define YUNTI_REGISTERS_H

#include "kernel.h"

#define ARGUMENTS 6
/* Registers in perf's order. */
#define UNWINDING_REGISTERS 4

#if defined(__TARGET_ARCH_x86)

static __always_inline void function_arguments(struct pt_regs *regs, __u64 *to)
{
	to[0] = BPF_CORE_READ(regs, di);
	to[1] = BPF_CORE_READ(regs, si);
	to[2] = BPF_CORE_READ(regs, dx);
	to[3] = BPF_CORE_READ(regs, cx);
	to[4] = BPF_CORE_READ(regs, r8);
	to[5] = BPF_CORE_READ(regs, r9);
}

static __always_inline void system_call_arguments(struct pt_regs *regs, __u64 *to)
{
	function_arguments(regs, to);
	to[3] = BPF_CORE_READ(regs, r10);
}

static __always_inline void unwinding_registers(struct pt_regs *regs, __u64 *to)
{
	to[0] = BPF_CORE_READ(regs, bp);
	to[1] = BPF_CORE_READ(regs, sp);
	to[2] = BPF_CORE_READ(regs, ip);
	to[3] = 0;
}

#define SYSTEM_CALL(regs) ((long)BPF_CORE_READ(regs, orig_ax))
#define RESULT(regs) BPF_CORE_READ(regs, ax)
/* The return address is at the stack pointer both at a function's first instruction and at its `ret`. */
#define STACK_POINTER(regs) BPF_CORE_READ(regs, sp)
#define INSTRUCTION(regs) BPF_CORE_READ(regs, ip)

/* Return address at a function's first instruction. */
static __always_inline __u64 return_address(struct pt_regs *regs)
{
	__u64 address = 0;

	bpf_probe_read_user(&address, sizeof(address), (void *)STACK_POINTER(regs));
	return address;
}

#else

static __always_inline void function_arguments(struct pt_regs *regs, __u64 *to)
{
	for (int i = 0; i < ARGUMENTS; i++)
		bpf_core_read(&to[i], sizeof(to[i]), &regs->regs[i]);
}

#define system_call_arguments function_arguments

static __always_inline void unwinding_registers(struct pt_regs *regs, __u64 *to)
{
	bpf_core_read(&to[0], sizeof(to[0]), &regs->regs[29]);
	bpf_core_read(&to[1], sizeof(to[1]), &regs->regs[30]);
	to[2] = BPF_CORE_READ(regs, sp);
	to[3] = BPF_CORE_READ(regs, pc);
}

#define SYSTEM_CALL(regs) ((long)BPF_CORE_READ(regs, syscallno))
#define RESULT(regs) BPF_CORE_READ(regs, regs[0])
#define STACK_POINTER(regs) BPF_CORE_READ(regs, sp)
#define INSTRUCTION(regs) BPF_CORE_READ(regs, pc)
#define return_address(regs) BPF_CORE_READ(regs, regs[30])

#endif
#endif
