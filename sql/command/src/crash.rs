//! Handlers that name the function of a class library that crashes the process or calls exit. Sessions with `--lib`
//! have them. One of the listed files with `unsafe`: only the C library sets signal handlers.
//!
//! All that a handler calls is async-signal-safe. A crash that is no function's goes to the handler that was there.

use std::ffi::{c_int, c_void};
use std::mem::MaybeUninit;
use std::ptr::null_mut;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use yunti_base::Code;
use yunti_sql_front::libraries::running;

/// Fatal signals of a fault in code, with their names.
const SIGNALS: [(c_int, &str); 7] = [
    (libc::SIGSEGV, "SIGSEGV"),
    (libc::SIGBUS, "SIGBUS"),
    (libc::SIGFPE, "SIGFPE"),
    (libc::SIGILL, "SIGILL"),
    (libc::SIGABRT, "SIGABRT"),
    (libc::SIGTRAP, "SIGTRAP"),
    (libc::SIGSYS, "SIGSYS"),
];

/// Threads that may call exit before the first one has registered the handler again.
const EXITS_AT_ONCE: usize = 64;

/// True once a thread has begun to end the process; the others wait for it.
static IS_ENDING: AtomicBool = AtomicBool::new(false);

/// Handlers that were there before.
static BEFORE: OnceLock<[libc::sigaction; SIGNALS.len()]> = OnceLock::new();

/// Sets the handlers, once a process.
pub fn install() {
    BEFORE.get_or_init(|| {
        // Each call of exit takes a handler from a list, and a thread that finds none ends the process.
        for _ in 0..EXITS_AT_ONCE {
            // SAFETY: the handler has the type that atexit requires.
            unsafe { libc::atexit(on_exit) };
        }
        SIGNALS.map(|(signal, _)| {
            // SAFETY: a zeroed sigaction is valid; the handler has the signature that SA_SIGINFO requires.
            unsafe {
                let mut before: libc::sigaction = MaybeUninit::zeroed().assume_init();
                let mut action: libc::sigaction = MaybeUninit::zeroed().assume_init();
                action.sa_sigaction = on_signal as extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) as usize;
                action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
                libc::sigaction(signal, &action, &mut before);
                before
            }
        })
    });
}

/// Writes a line to standard error, and ends the process. One thread does; the others wait for the end.
fn end(pieces: &[&str]) -> ! {
    if IS_ENDING.swap(true, Ordering::SeqCst) {
        loop {
            // SAFETY: waits for a signal.
            unsafe { libc::pause() };
        }
    }
    let (mut line, mut len) = ([0u8; 512], 0);
    for piece in pieces {
        let n = piece.len().min(line.len() - 1 - len);
        line[len..len + n].copy_from_slice(&piece.as_bytes()[..n]);
        len += n;
    }
    line[len] = b'\n';
    // SAFETY: the bytes live for the call; then the process ends without handlers.
    unsafe {
        libc::write(2, line.as_ptr().cast(), len + 1);
        libc::_exit(Code::UserCode as c_int)
    }
}

extern "C" fn on_signal(signal: c_int, _: *mut libc::siginfo_t, _: *mut c_void) {
    let number = SIGNALS.iter().position(|(of, _)| *of == signal);
    if let (Some(function), Some(number)) = (running::now(), number) {
        let name = SIGNALS[number].1;
        end(&["yunti: ", function, " crashed with ", name, ": functions run inside this process; run it under gdb"]);
    }
    if let (Some(before), Some(number)) = (BEFORE.get(), number) {
        // SAFETY: the action is one that the C library gave. The signal comes again once this handler has returned.
        unsafe {
            libc::sigaction(signal, &before[number], null_mut());
            libc::raise(signal);
        }
    }
}

extern "C" fn on_exit() {
    if let Some(function) = running::now() {
        // SAFETY: as in `install`.
        unsafe { libc::atexit(on_exit) };
        end(&["yunti: ", function, " called exit: end the query by an exception or a status"]);
    }
}
