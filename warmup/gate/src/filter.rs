//! Filter of a listening socket: the kernel drops the first packet of every client but one.
//!
//! A classic BPF program at a TCP socket sees the packets that begin a connection, and needs no privilege. A dropped
//! client waits and sends the packet again after 1 s, 3 s, 7 s, as for a packet that a network lost.
//!
//! One of the listed files with `unsafe`: setsockopt with a program, and descriptors of the server.

use std::net::Ipv4Addr;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};

/// Offset from which a load reads the network header: `SKF_NET_OFF`.
const NETWORK_HEADER: u32 = -0x0010_0000_i32 as u32;
/// Returns of the program: the whole packet, or nothing of it.
const KEEP: u32 = u32::MAX;
const DROP: u32 = 0;

/// Returns the descriptor of a number that the server passed, if it is open.
pub fn borrowed<'f>(fd: i32) -> Option<BorrowedFd<'f>> {
    // SAFETY: fcntl takes any number.
    let is_open = fd >= 0 && unsafe { libc::fcntl(fd, libc::F_GETFD) } >= 0;
    // SAFETY: it is open, and the server's thread stays in `listen` while it is used.
    is_open.then(|| unsafe { BorrowedFd::borrow_raw(fd) })
}

/// Lets clients connect from one IPv4 address only. Returns false if the kernel refuses.
pub fn attach(socket: BorrowedFd, only: Ipv4Addr) -> bool {
    use libc::{BPF_ABS, BPF_ALU, BPF_AND, BPF_B, BPF_JEQ, BPF_JMP, BPF_K, BPF_LD, BPF_RET, BPF_W};
    let step = |code: u32, jt, jf, k| libc::sock_filter { code: code as u16, jt, jf, k };
    let mut program = [
        step(BPF_LD | BPF_B | BPF_ABS, 0, 0, NETWORK_HEADER),
        step(BPF_ALU | BPF_AND | BPF_K, 0, 0, 0xf0),
        // Version 4, else drop.
        step(BPF_JMP | BPF_JEQ | BPF_K, 0, 3, 0x40),
        step(BPF_LD | BPF_W | BPF_ABS, 0, 0, NETWORK_HEADER + 12),
        step(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, u32::from(only)),
        step(BPF_RET | BPF_K, 0, 0, KEEP),
        step(BPF_RET | BPF_K, 0, 0, DROP),
    ];
    let program = libc::sock_fprog { len: program.len() as u16, filter: program.as_mut_ptr() };
    let (at, bytes) = (&raw const program, size_of::<libc::sock_fprog>() as libc::socklen_t);
    // SAFETY: the program lives until the call returns, and the kernel copies it.
    unsafe { libc::setsockopt(socket.as_raw_fd(), libc::SOL_SOCKET, libc::SO_ATTACH_FILTER, at.cast(), bytes) == 0 }
}

/// Lets all clients connect.
pub fn detach(socket: &OwnedFd) {
    let nothing: libc::c_int = 0;
    let (at, bytes) = (&raw const nothing, size_of::<libc::c_int>() as libc::socklen_t);
    // SAFETY: a number, which the kernel ignores.
    unsafe { libc::setsockopt(socket.as_raw_fd(), libc::SOL_SOCKET, libc::SO_DETACH_FILTER, at.cast(), bytes) };
}

/// Blocks all signals in this thread while `act` runs, so that threads that it starts handle none of the server's.
pub fn without_signals<T>(act: impl FnOnce() -> T) -> T {
    // SAFETY: both sets are plain memory that the calls fill.
    let before = unsafe {
        let (mut all, mut before) = (std::mem::zeroed(), std::mem::zeroed());
        libc::sigfillset(&mut all);
        libc::pthread_sigmask(libc::SIG_SETMASK, &all, &mut before);
        before
    };
    let result = act();
    // SAFETY: the set that the call above filled.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &before, std::ptr::null_mut()) };
    result
}
