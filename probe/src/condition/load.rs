//! Programs that were written at run time, in the kernel.
//!
//! One of the listed files with `unsafe`: three functions of libbpf that take descriptors and pointers.

use std::ffi::CString;
use std::io::{Error, Result};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::ptr;

use libbpf_sys::{bpf_insn, bpf_prog_load_opts};

use super::assembler::Instruction;

/// Type of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// Runs with the registers at a breakpoint: uprobe, kprobe.
    Breakpoint,
    /// Runs with the arguments of a tracepoint.
    RawTracepoint,
    /// Runs at the begin or the end of a kernel function, by its number in the kernel's types.
    Function { types: u32, is_end: bool },
}

/// Loads a program; its bytes are checked by the kernel.
pub fn load(of: Type, code: &[Instruction]) -> Result<OwnedFd> {
    let mut options = bpf_prog_load_opts { sz: size_of::<bpf_prog_load_opts>() as _, ..Default::default() };
    let kind = match of {
        Type::Breakpoint => libbpf_sys::BPF_PROG_TYPE_KPROBE,
        Type::RawTracepoint => libbpf_sys::BPF_PROG_TYPE_RAW_TRACEPOINT,
        Type::Function { types, is_end } => {
            options.attach_btf_id = types;
            options.expected_attach_type =
                if is_end { libbpf_sys::BPF_TRACE_FEXIT } else { libbpf_sys::BPF_TRACE_FENTRY };
            libbpf_sys::BPF_PROG_TYPE_TRACING
        }
    };
    // SAFETY: both texts end with zero; `Instruction` has the layout of bpf_insn (8 bytes: code, registers, offset,
    // constant), and the kernel copies the instructions before the call returns.
    let descriptor = unsafe {
        libbpf_sys::bpf_prog_load(
            kind,
            c"yunti".as_ptr(),
            c"Dual BSD/GPL".as_ptr(),
            code.as_ptr().cast::<bpf_insn>(),
            code.len() as _,
            &raw mut options,
        )
    };
    owned(descriptor)
}

/// Attaches a program to a raw tracepoint by its name, or a program of a kernel function to its function.
pub fn attach(program: &OwnedFd, tracepoint: Option<&str>) -> Result<OwnedFd> {
    let name = tracepoint.map(CString::new).transpose()?;
    let name = name.as_ref().map_or(ptr::null(), |name| name.as_ptr());
    // SAFETY: the name is null, or ends with zero and lives until the call returns.
    owned(unsafe { libbpf_sys::bpf_raw_tracepoint_open(name, program.as_raw_fd()) })
}

fn owned(descriptor: i32) -> Result<OwnedFd> {
    if descriptor < 0 {
        return Err(Error::from_raw_os_error(-descriptor));
    }
    // SAFETY: libbpf has opened it for this call alone.
    Ok(unsafe { OwnedFd::from_raw_fd(descriptor) })
}

/// Runs a program of a raw tracepoint once with these arguments, and returns its result.
#[cfg(test)]
pub fn run(program: &OwnedFd, arguments: &[u64]) -> Result<u32> {
    let mut options = libbpf_sys::bpf_test_run_opts {
        sz: size_of::<libbpf_sys::bpf_test_run_opts>() as _,
        ctx_in: arguments.as_ptr().cast(),
        ctx_size_in: size_of_val(arguments) as u32,
        ..Default::default()
    };
    // SAFETY: the arguments live until the call returns, and their size is theirs.
    let error = unsafe { libbpf_sys::bpf_prog_test_run_opts(program.as_raw_fd(), &raw mut options) };
    if error < 0 { Err(Error::from_raw_os_error(-error)) } else { Ok(options.retval) }
}
