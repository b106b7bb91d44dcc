// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Each page fault of one process: address, error, instruction and stack. Faults of the kernel in the process's memory,
 * by system calls that read and write it, are included. The tracepoints exist on x86 only.
 */
#include "registers.h"
#include "target.h"

#define NAME_BYTES 48

#define MAPPING_KNOWN 1
#define MAPPING_WRITABLE 2
#define MAPPING_CODE 4
#define MAPPING_SHARED 8
#define MAPPING_FILE 16
#define MAPPING_HEAP 32
#define MAPPING_STACK 64

struct fault {
	__u64 time_ns;
	__u64 address;
	__u64 instruction;
	__u64 stack_pointer;
	/* Bits of the processor: 1 the page was present, 2 a write, 4 by the program itself, 16 an instruction. */
	__u32 error;
	__u32 tid;
	__u32 stack;
	/* MAPPING_.. */
	__u32 mapping;
	__u32 tid_inside;
	__u32 nothing;
	/* Mapping of the address at this moment; the program may unmap it before user space can read it. */
	__u64 begin;
	__u64 end;
	/* Last part of the file's name. */
	char name[NAME_BYTES];
};

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 32 << 20);
} faults SEC(".maps");

/* Set while a stack is copied: the fault at its end belongs to the measurement. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} copying SEC(".maps");

static long describe(struct task_struct *task, struct vm_area_struct *area, void *to)
{
	struct fault *fault = to;
	struct mm_struct *mm = BPF_CORE_READ(task, mm);
	struct file *file = BPF_CORE_READ(area, vm_file);
	unsigned long flags = BPF_CORE_READ(area, vm_flags), top = BPF_CORE_READ(mm, start_stack);

	fault->begin = BPF_CORE_READ(area, vm_start);
	fault->end = BPF_CORE_READ(area, vm_end);
	fault->mapping = MAPPING_KNOWN | (flags & VM_WRITE ? MAPPING_WRITABLE : 0) | (flags & VM_EXEC ? MAPPING_CODE : 0) |
			 (flags & VM_SHARED ? MAPPING_SHARED : 0);
	if (file) {
		fault->mapping |= MAPPING_FILE;
		bpf_probe_read_kernel_str(fault->name, NAME_BYTES, BPF_CORE_READ(file, f_path.dentry, d_name.name));
	} else if (fault->begin < BPF_CORE_READ(mm, brk) && fault->end > BPF_CORE_READ(mm, start_brk)) {
		fault->mapping |= MAPPING_HEAP;
	} else if (fault->begin <= top && fault->end >= top) {
		fault->mapping |= MAPPING_STACK;
	}
	return 0;
}

static __always_inline int report(struct bpf_raw_tracepoint_args *ctx)
{
	struct fault fault = {};
	__u32 zero = 0, *is_ours = bpf_map_lookup_elem(&copying, &zero);

	if (!is_target() || !is_ours || *is_ours)
		return 0;
	fault.time_ns = bpf_ktime_get_ns();
	fault.address = ctx->args[0];
#if defined(__TARGET_ARCH_x86)
	fault.instruction = BPF_CORE_READ((struct pt_regs *)ctx->args[1], ip);
#endif
	fault.stack_pointer = STACK_POINTER((struct pt_regs *)ctx->args[1]);
	fault.error = (__u32)ctx->args[2];
	fault.tid = (__u32)bpf_get_current_pid_tgid();
	fault.tid_inside = tid_inside();
	/* Addresses of the kernel do not belong to the process. */
	if (fault.address >> 63)
		return 0;
	/* If another thread is changing the mappings, user space looks the address up. */
	bpf_find_vma(bpf_get_current_task_btf(), fault.address, describe, &fault, 0);
	*is_ours = 1;
	fault.stack = take_stack(ctx);
	*is_ours = 0;
	if (bpf_ringbuf_output(&faults, &fault, sizeof(fault), 0))
		count_lost();
	return 0;
}

SEC("raw_tp/page_fault_user")
int fault_of_program(struct bpf_raw_tracepoint_args *ctx)
{
	return report(ctx);
}

SEC("raw_tp/page_fault_kernel")
int fault_of_kernel(struct bpf_raw_tracepoint_args *ctx)
{
	return report(ctx);
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
