//! Starts a program and holds it at its entry point: its libraries are mapped, and nothing of its own has run. ptrace(2).
//!
//! Rejected: a child that waits before its exec, where nothing is mapped yet; stopping it soon after its start, when it has run for some
//! milliseconds. Constructors of libraries run before the entry point, and are not seen.
//!
//! One of the listed files with `unsafe`: ptrace itself, and what a child does before its exec.

use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, waitid};

/// AT_ENTRY of getauxval(3).
const ENTRY: u64 = 9;
/// An instruction that stops, and by how much it moves the program counter.
#[cfg(target_arch = "x86_64")]
const STOP: (&[u8], u64) = (&[0xcc], 1);
#[cfg(target_arch = "aarch64")]
const STOP: (&[u8], u64) = (&[0, 0, 0x20, 0xd4], 0);

/// False: it runs, since it may not be held here, or it has ended.
pub fn start(command: &mut Command) -> io::Result<(Child, bool)> {
    // SAFETY: between fork and exec it makes one system call, which needs nothing of this process.
    unsafe { command.pre_exec(|| ptrace(libc::PTRACE_TRACEME, 0, 0, 0)) };
    let child = command.spawn()?;
    let Some(pid) = Pid::from_raw(child.id() as i32) else { return Ok((child, false)) };
    let is_held = hold(pid).or_else(|_| release(pid).map(|()| false));
    Ok((child, is_held.unwrap_or(false)))
}

/// Lets a program run that is held.
pub fn release(pid: Pid) -> io::Result<()> {
    ptrace(libc::PTRACE_DETACH, pid.as_raw_nonzero().get(), 0, 0)
}

/// From the stop at exec to the one at the entry point. False: it has ended before.
fn hold(pid: Pid) -> io::Result<bool> {
    let number = pid.as_raw_nonzero().get();
    if next_stop(pid)?.is_none() {
        return Ok(false);
    }
    // Should this process be killed, it is not left behind.
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
            // For the program, and not for us.
            Some(other) => signal = other as u64,
        }
    }
    memory.write_all_at(&code, entry)?;
    if STOP.1 > 0 {
        back_to(number, entry)?;
    }
    Ok(true)
}

/// The signal by which it stopped; None: it has ended, which is left to be waited for.
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
    // SAFETY: none of the requests made here reads or writes memory of this process: address and data are numbers.
    match unsafe { libc::ptrace(request, pid, address, data) } {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}
