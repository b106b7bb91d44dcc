//! Start of a program that is held at its entry point: its libraries are mapped, and none of its own code has run.
//! ptrace(2).
//!
//! Rejected: a child that waits before its exec, when nothing is mapped; and a stop soon after the start, when it has
//! run for milliseconds. Constructors of libraries run before the entry point, and are not measured.
//!
//! One of the listed files with `unsafe`: ptrace, and the child's call before its exec.

use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, waitid};

/// AT_ENTRY of getauxval(3).
const ENTRY: u64 = 9;
/// Breakpoint instruction, and its effect on the program counter in bytes.
#[cfg(target_arch = "x86_64")]
const STOP: (&[u8], u64) = (&[0xcc], 1);
#[cfg(target_arch = "aarch64")]
const STOP: (&[u8], u64) = (&[0, 0, 0x20, 0xd4], 0);

/// Starts a program. Returns false if it runs, because it could not be held or has ended.
pub fn start(command: &mut Command) -> io::Result<(Child, bool)> {
    // SAFETY: between fork and exec the child makes one system call, which needs nothing of this process.
    unsafe { command.pre_exec(|| ptrace(libc::PTRACE_TRACEME, 0, 0, 0)) };
    let child = command.spawn()?;
    let Some(pid) = Pid::from_raw(child.id() as i32) else { return Ok((child, false)) };
    let is_held = hold(pid).or_else(|_| release(pid).map(|()| false));
    Ok((child, is_held.unwrap_or(false)))
}

/// Lets a held program run.
pub fn release(pid: Pid) -> io::Result<()> {
    ptrace(libc::PTRACE_DETACH, pid.as_raw_nonzero().get(), 0, 0)
}

/// Continues from the stop at exec to the entry point. Returns false if the program has ended before.
fn hold(pid: Pid) -> io::Result<bool> {
    let number = pid.as_raw_nonzero().get();
    if next_stop(pid)?.is_none() {
        return Ok(false);
    }
    // If this process is killed, the program is killed too.
    ptrace(libc::PTRACE_SETOPTIONS, number, 0, libc::PTRACE_O_EXITKILL as u64)?;
    let entry = entry(number)?;
    let memory = OpenOptions::new().read(true).write(true).open(format!("/proc/{number}/mem"))?;
    let mut code = vec![0; STOP.0.len()];
    memory.read_exact_at(&mut code, entry)?;
    memory.write_all_at(STOP.0, entry)?;
    let mut signal = 0;
    loop {
        ptrace(libc::PTRACE_CONT, number, 0, signal)?;
        match next_stop(pid)? {
            None => return Ok(false),
            Some(stop) if stop == Signal::TRAP.as_raw() => break,
            // A signal for the program is passed on.
            Some(other) => signal = other as u64,
        }
    }
    memory.write_all_at(&code, entry)?;
    if STOP.1 > 0 {
        back_to(number, entry)?;
    }
    Ok(true)
}

/// Signal of the next stop; `None` if the program has ended, which remains to be waited for.
fn next_stop(pid: Pid) -> io::Result<Option<i32>> {
    let peek = WaitIdOptions::EXITED | WaitIdOptions::STOPPED | WaitIdOptions::NOWAIT;
    match waitid(WaitId::Pid(pid), peek)? {
        Some(status) if status.stopped() || status.trapped() => {
            let _ = waitid(WaitId::Pid(pid), WaitIdOptions::STOPPED)?;
            Ok(status.stopping_signal().or_else(|| status.trapping_signal()))
        }
        _ => Ok(None),
    }
}

fn entry(pid: i32) -> io::Result<u64> {
    let vector = fs::read(format!("/proc/{pid}/auxv"))?;
    let words: Vec<u64> = vector.chunks_exact(8).filter_map(|w| Some(u64::from_ne_bytes(w.try_into().ok()?))).collect();
    let entry = words.chunks_exact(2).find(|pair| pair[0] == ENTRY).map(|pair| pair[1]);
    entry.ok_or_else(|| io::Error::other("a program without an entry point"))
}

/// Sets the program counter.
#[cfg(target_arch = "x86_64")]
fn back_to(pid: i32, address: u64) -> io::Result<()> {
    ptrace(libc::PTRACE_POKEUSER, pid, std::mem::offset_of!(libc::user_regs_struct, rip) as u64, address)
}

#[cfg(target_arch = "aarch64")]
fn back_to(_: i32, _: u64) -> io::Result<()> {
    Ok(())
}

fn ptrace(request: libc::c_uint, pid: i32, address: u64, data: u64) -> io::Result<()> {
    // SAFETY: no request made here reads or writes memory of this process; address and data are numbers.
    match unsafe { libc::ptrace(request, pid, address, data) } {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}
