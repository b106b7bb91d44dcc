//! The handler of SIGBUS for mapped files: a page that cannot be read becomes a page of zeros, and a note.
//! One of the listed files with `unsafe`: it handles a signal, and maps a page there.
//!
//! A handler belongs to the process, so this is the one place of the engine, beside the choice of vector instructions,
//! with global state. A signal at any other address goes to the handler that was installed before.
//!
//! Rejected: jumping out of the handler. It would skip the destructors of whatever code touched the page.

use std::mem::MaybeUninit;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Ranges that one process may have at once. A job has at most one.
const RANGES: usize = 64;

/// Returns the bytes of a page.
pub(super) fn page_bytes() -> usize {
    // SAFETY: plain call without arguments in memory.
    usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(4096)
}

/// A range of addresses whose SIGBUS is handled.
pub(super) struct Range {
    taken: AtomicBool,
    start: AtomicUsize,
    end: AtomicUsize,
    /// First address that raised the signal; 0 if none did.
    fault: AtomicUsize,
}

static WATCHED: [Range; RANGES] = [const {
    Range {
        taken: AtomicBool::new(false),
        start: AtomicUsize::new(0),
        end: AtomicUsize::new(0),
        fault: AtomicUsize::new(0),
    }
}; RANGES];

impl Range {
    /// Takes a free range; None if the process has too many, or the handler cannot be installed.
    pub(super) fn take() -> Option<&'static Range> {
        if !install() {
            return None;
        }
        WATCHED.iter().find(|range| !range.taken.swap(true, Ordering::AcqRel))
    }

    /// Returns the first address that raised the signal; 0 if none did.
    #[inline]
    pub(super) fn fault(&self) -> usize {
        self.fault.load(Ordering::Relaxed)
    }

    /// Begins to handle the signal for [start, end).
    pub(super) fn watch(&self, start: usize, end: usize) {
        self.fault.store(0, Ordering::Relaxed);
        self.start.store(start, Ordering::Relaxed);
        self.end.store(end, Ordering::Release);
    }

    /// Ends the handling, before the addresses are unmapped.
    pub(super) fn release(&self) {
        self.end.store(0, Ordering::Relaxed);
        self.start.store(0, Ordering::Release);
        self.taken.store(false, Ordering::Release);
    }
}

/// The handler of SIGBUS before ours.
static BEFORE: OnceLock<libc::sigaction> = OnceLock::new();

/// Installs the handler once. Returns false if the system refuses.
fn install() -> bool {
    static INSTALLED: OnceLock<bool> = OnceLock::new();
    *INSTALLED.get_or_init(|| {
        let mut before = MaybeUninit::<libc::sigaction>::zeroed();
        // SAFETY: reads the present action into a struct that lives here.
        if unsafe { libc::sigaction(libc::SIGBUS, std::ptr::null(), before.as_mut_ptr()) } != 0 {
            return false;
        }
        // SAFETY: the call above filled it. The handler needs it before it may run.
        let _ = BEFORE.set(unsafe { before.assume_init() });
        // SAFETY: zeros are a valid value of the plain C struct.
        let mut action: libc::sigaction = unsafe { MaybeUninit::zeroed().assume_init() };
        action.sa_sigaction = on_bus_error as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_RESTART;
        // SAFETY: the handler calls only what is allowed in a handler: atomics, mmap, and the handler before.
        unsafe { libc::sigaction(libc::SIGBUS, &action, std::ptr::null_mut()) == 0 }
    })
}

extern "C" fn on_bus_error(signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    // SAFETY: the kernel passes a valid siginfo.
    let address = unsafe { (*info).si_addr() } as usize;
    for range in &WATCHED {
        let (start, end) = (range.start.load(Ordering::Acquire), range.end.load(Ordering::Acquire));
        if start != 0 && (start..end).contains(&address) {
            // The first fault names the place.
            let _ = range.fault.compare_exchange(0, address, Ordering::Relaxed, Ordering::Relaxed);
            let page = page_bytes();
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED;
            // SAFETY: the page is within a range that MappedFiles owns. mmap is a plain system call; errno is restored.
            let result = unsafe {
                let errno = *libc::__errno_location();
                let at = (address / page * page) as *mut libc::c_void;
                let result = libc::mmap(at, page, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0);
                *libc::__errno_location() = errno;
                result
            };
            if result != libc::MAP_FAILED {
                return;
            }
        }
    }
    forward(signal, info, context);
}

/// Passes a signal that is not ours to the handler before.
fn forward(signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    match BEFORE.get() {
        Some(before) if before.sa_sigaction != libc::SIG_DFL && before.sa_sigaction != libc::SIG_IGN => {
            if before.sa_flags & libc::SA_SIGINFO != 0 {
                // SAFETY: with SA_SIGINFO the action is a function of this type.
                let handler: extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void) =
                    unsafe { std::mem::transmute(before.sa_sigaction) };
                handler(signal, info, context);
            } else {
                // SAFETY: without SA_SIGINFO the action is a function of this type.
                let handler: extern "C" fn(libc::c_int) = unsafe { std::mem::transmute(before.sa_sigaction) };
                handler(signal);
            }
        }
        // The default action ends the process: the instruction raises the signal again.
        _ => {
            // SAFETY: restores the default action; the struct lives here.
            unsafe {
                let mut default: libc::sigaction = MaybeUninit::zeroed().assume_init();
                default.sa_sigaction = libc::SIG_DFL;
                libc::sigaction(signal, &default, std::ptr::null_mut());
            }
        }
    }
}
