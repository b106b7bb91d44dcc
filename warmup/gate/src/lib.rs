//! Gate of a server: a library that is loaded into its process (`LD_PRELOAD`) and stands in front of `listen`.
//!
//! ```text
//!   listen(fd) -> plan.rs    is it a port of the profile?
//!              -> filter.rs  only the gate's own address may connect; the kernel drops the rest
//!              -> listen in the kernel
//!              -> warm.rs    a thread replays the requests until the compilers are quiet, and removes the filter
//! ```
//!
//! The server is not changed: it accepts connections as always, at first from the gate alone. Once the filter is gone,
//! nothing of the gate stays on the path of a request. Whatever goes wrong in it removes the filter too.
//!
//! Rejected: a proxy in front of the server (a hop for each request of its whole life, and the client's address is
//! lost), an agent in Java (the JVM drops part of its archive if one is loaded, and its classes are the server's), and
//! seccomp notifications of `listen` (a supervisor must then live as long as the server).
//!
//! One of the listed files with `unsafe`: it exports `listen` for code in C.

mod compilers;
mod filter;
mod plan;
mod warm;

use std::panic::catch_unwind;

/// Listens on a socket, as listen(2). A port of the profile opens to clients after the replay.
///
/// # Safety
///
/// It has no pointers: any number is a valid argument.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn listen(fd: libc::c_int, backlog: libc::c_int) -> libc::c_int {
    let gate = catch_unwind(|| plan::plan_of(fd).and_then(|plan| warm::Gate::close(fd, plan))).unwrap_or(None);
    // SAFETY: a system call with two numbers.
    let result = unsafe { libc::syscall(libc::SYS_listen, fd, backlog) } as libc::c_int;
    if let Some(gate) = gate {
        // SAFETY: errno is a number of this thread. The caller of a failed listen reads it.
        let errno = unsafe { *libc::__errno_location() };
        let _ = catch_unwind(|| if result == 0 { gate.warm_and_open() } else { drop(gate) });
        // SAFETY: as above.
        unsafe { *libc::__errno_location() = errno };
    }
    result
}
