/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Fields of the kernel's own structures that the programs read, by name. Their offsets are set when a program is
 * loaded (BPF CO-RE), so that one build runs on kernels with other layouts.
 */
#ifndef YUNTI_KERNEL_H
#define YUNTI_KERNEL_H

#include <linux/bpf.h>
#include <linux/types.h>
#include <stdbool.h>

#define CORE __attribute__((preserve_access_index))

#if defined(__TARGET_ARCH_x86)
struct pt_regs {
	unsigned long bp, r10, r9, r8, ax, cx, dx, si, di, orig_ax, ip, sp;
} CORE;
#elif defined(__TARGET_ARCH_arm64)
struct user_pt_regs {
	__u64 regs[31];
	__u64 sp;
	__u64 pc;
} CORE;
struct pt_regs {
	__u64 regs[31];
	__u64 sp;
	__u64 pc;
	__s32 syscallno;
} CORE;
#else
#error "this architecture is not supported"
#endif

struct kernel_sigset {
	unsigned long sig[1];
} CORE;

struct sigpending {
	struct kernel_sigset signal;
} CORE;

struct mm_struct {
	unsigned long start_brk, brk, start_stack;
} CORE;

/* Number in a PID namespace. */
struct upid {
	int nr;
} CORE;

struct pid {
	/* Level of the innermost namespace. */
	unsigned int level;
	struct upid numbers[1];
} CORE;

/* Times on a processor, the last time, and the begin of the present wait in the run queue. */
struct sched_info {
	unsigned long pcount;
	unsigned long long last_arrival, last_queued;
} CORE;

/* Begin of the present run up to now, or end of the last one. */
struct sched_entity {
	__u64 exec_start;
} CORE;

struct task_struct {
	unsigned int __state;
	int on_cpu;
	/* Processor on which it is or was last, or will be woken. */
	int wake_cpu;
	struct sched_entity se;
	struct sched_info sched_info;
	int pid;
	int tgid;
	struct pid *thread_pid;
	struct sigpending pending;
	struct mm_struct *mm;
} CORE;

struct seq_file;

struct bpf_iter_meta {
	struct seq_file *seq;
} CORE;

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
} CORE;

struct qstr {
	const unsigned char *name;
} CORE;

struct dentry {
	struct qstr d_name;
} CORE;

struct path {
	struct dentry *dentry;
} CORE;

struct file {
	struct path f_path;
} CORE;

struct vm_area_struct {
	unsigned long vm_start, vm_end, vm_flags;
	struct file *vm_file;
} CORE;

#define VM_WRITE 0x2
#define VM_EXEC 0x4
#define VM_SHARED 0x8

/* Before Linux 5.14. */
struct task_struct___before_5_14 {
	long state;
} CORE;

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#endif
