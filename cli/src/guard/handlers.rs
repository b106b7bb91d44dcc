//! The handlers of exit, quick_exit and fatal signals.
//! One of the listed files with `unsafe`: only the C library sets signal handlers and their stacks.
//!
//! The handler replaces the standard library's handler of SIGSEGV and SIGBUS, which reports stack overflows. It reports
//! them too, and removes the job's directories before the process ends. Each thread keeps a signal stack, a larger one.

use std::cell::RefCell;
use std::ffi::{c_int, c_void};
use std::mem::MaybeUninit;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

use yunti_base::Code;

use super::line::{Ending, Name, warn};
use super::running::{self, Kind, Note, Now};
use super::state::{self, Claim};
use super::{USER_CODE, libraries, removal};

/// Fatal signals of a fault in code, with their names and meanings.
const SIGNALS: [(c_int, &str, &str); 7] = [
    (libc::SIGSEGV, "SIGSEGV", "invalid memory access"),
    (libc::SIGBUS, "SIGBUS", "bus error"),
    (libc::SIGFPE, "SIGFPE", "arithmetic error"),
    (libc::SIGILL, "SIGILL", "illegal instruction"),
    (libc::SIGABRT, "SIGABRT", "abort"),
    (libc::SIGTRAP, "SIGTRAP", "trap"),
    (libc::SIGSYS, "SIGSYS", "bad system call"),
];

/// Bytes of a thread's signal stack: an error line, directory entries, and the signal frame (11 KiB with AMX).
const SIGNAL_STACK_BYTES: usize = 96 << 10;

/// Bytes around the stack pointer in which a fault counts as a stack overflow: guard pages, and frames across them.
const OVERFLOW_BYTES: usize = 64 << 10;

/// Number of threads that may call exit before the first one has registered the handler again.
const EXITS_AT_ONCE: usize = 8;

/// `si_code` of a fault without an address.
const SI_KERNEL: c_int = 0x80;

/// Environment variable that requests a core dump, unless it is empty.
const CORE_VARIABLE: &str = "YUNTI_CORE";

const EXIT_HINT: &str = "end the job by an exception or a status, never by ending the process";
const CRASH_HINT: &str =
    "classes run inside this process and cannot be isolated yet; run it under gdb, or set YUNTI_CORE=1 for a core dump";
const BUG_HINT: &str = "this is a bug in Yunti; please report it";
const CORRUPTED_HINT: &str =
    "this is a bug in Yunti, or a class library corrupted memory; run the job under valgrind, or report it";

static WANTS_CORE: AtomicBool = AtomicBool::new(false);

/// Sets all handlers. Called once per process, on its main thread.
pub fn install() {
    WANTS_CORE.store(std::env::var_os(CORE_VARIABLE).is_some_and(|value| !value.is_empty()), SeqCst);
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        running::mark_panic();
        before(panic);
    }));
    give_signal_stack();
    register_exit();
    for (signal, ..) in SIGNALS {
        // SAFETY: a zeroed sigaction is valid; the handler has the signature that SA_SIGINFO requires.
        unsafe {
            let mut action: libc::sigaction = MaybeUninit::zeroed().assume_init();
            action.sa_sigaction = on_signal as extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) as usize;
            // A fault in the handler enters the handler again, which ends the process.
            action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_NODEFER;
            libc::sigaction(signal, &action, null_mut());
        }
    }
}

unsafe extern "C" {
    #[cfg(target_env = "gnu")]
    fn on_exit(handler: extern "C" fn(c_int, *mut c_void), argument: *mut c_void) -> c_int;
    fn at_quick_exit(handler: extern "C" fn()) -> c_int;
}

/// Registers the handlers of exit and quick_exit. Handlers run in the reverse order of registration, each once. A
/// thread that calls exit while others run handlers takes the next one; after the last one it would end the process.
pub fn register_exit() {
    (0..EXITS_AT_ONCE).for_each(|_| register_one());
}

fn register_one() {
    // SAFETY: registers functions of this program, which is never unloaded.
    unsafe {
        #[cfg(target_env = "gnu")]
        on_exit(after_exit, null_mut());
        // Other C libraries do not report the status.
        #[cfg(not(target_env = "gnu"))]
        libc::atexit(after_quick_exit);
        at_quick_exit(after_quick_exit);
    }
}

#[cfg(target_env = "gnu")]
extern "C" fn after_exit(status: c_int, _: *mut c_void) {
    // The parent gets the low eight bits of the status.
    exiting(format_args!("exit({status})"), Some(status & 0xff));
}

extern "C" fn after_quick_exit() {
    exiting(format_args!("quick_exit()"), None);
}

fn exiting(call: std::fmt::Arguments<'_>, status: Option<c_int>) {
    // A handler for the next thread that calls exit, while this one waits or cleans up.
    if state::is_open() {
        register_one();
    }
    match state::claim() {
        Claim::Foreign => {}
        Claim::Job => {
            let now = running::now();
            let ending = Ending {
                code: USER_CODE,
                what: format_args!("{} called {call} before the job was done", Blame::of_exit(&now)),
                path: now.input.map(|(input, _)| &*input.name),
                byte: now.input.map(|(_, byte)| byte),
                hint: EXIT_HINT,
            };
            end(&ending)
        }
        Claim::Done(code) if status == Some(c_int::from(code)) => {}
        Claim::Done(code) => {
            // SAFETY: writes the buffered output of the library; this is not a signal handler.
            unsafe { libc::fflush(null_mut()) };
            end_now(code)
        }
        Claim::Again => end_now(USER_CODE as u8),
    }
}

/// Cause of a signal.
struct Fault {
    name: &'static str,
    meaning: &'static str,
    /// Address that the instruction accessed.
    address: Option<usize>,
    instruction: usize,
    stack: usize,
    /// Other process that sent the signal.
    sender: Option<i32>,
}

extern "C" fn on_signal(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel passes both to a handler with SA_SIGINFO; they are valid while it runs.
    let fault = unsafe { Fault::new(signal, &*info, &*context.cast::<libc::ucontext_t>()) };
    match state::claim() {
        Claim::Foreign => {
            default_action(signal);
            raise(signal);
        }
        Claim::Job => crashed(signal, &fault),
        Claim::Done(code) if fault.sender.is_some() => end_now(code),
        Claim::Done(code) => {
            let now = running::now();
            match Blame::of_fault(&now, &fault, true) {
                Blame::Ours => crashed(signal, &fault),
                blame => {
                    removal::remove_all();
                    warn(format_args!(
                        "{blame} crashed with {} after the job was done; the result is not affected",
                        fault.name
                    ));
                    end_now(code)
                }
            }
        }
        Claim::Again => end_now(USER_CODE as u8),
    }
}

/// Ends the process after a signal that was raised while the job ran.
fn crashed(signal: c_int, fault: &Fault) -> ! {
    let now = running::now();
    let blame = Blame::of_fault(&now, fault, false);
    let Fault { name, meaning, .. } = fault;
    let input = now.input.filter(|_| !matches!(blame, Blame::Ours));
    let with = |code, what, hint| Ending {
        code,
        what,
        path: input.map(|(input, _)| &*input.name),
        byte: input.map(|(_, byte)| byte),
        hint,
    };
    let core = || {
        if WANTS_CORE.load(SeqCst) {
            default_action(signal);
            raise(signal);
        }
    };
    if let Some(sender) = fault.sender {
        let what = format_args!("process {sender} ended the job with {name}");
        finish(&Ending { code: Code::Cancelled, what, path: None, byte: None, hint: "run it again" }, core)
    }
    match blame {
        Blame::Ours => finish(
            &with(
                Code::Internal,
                format_args!("Yunti crashed with {name} ({meaning}) at instruction {:#x}", fault.instruction),
                if libraries::any() { CORRUPTED_HINT } else { BUG_HINT },
            ),
            core,
        ),
        blame if fault.is_overflow() => {
            finish(&with(USER_CODE, format_args!("{blame} overflowed its stack ({name})"), CRASH_HINT), core)
        }
        blame => match fault.address {
            Some(address) => finish(
                &with(
                    USER_CODE,
                    format_args!("{blame} crashed with {name} ({meaning}, address {address:#x})"),
                    CRASH_HINT,
                ),
                core,
            ),
            None => finish(&with(USER_CODE, format_args!("{blame} crashed with {name} ({meaning})"), CRASH_HINT), core),
        },
    }
}

fn end(ending: &Ending<'_>) -> ! {
    finish(ending, || {})
}

fn finish(ending: &Ending<'_>, before_the_end: impl FnOnce()) -> ! {
    removal::remove_all();
    ending.print();
    before_the_end();
    end_now(ending.code as u8)
}

fn end_now(code: u8) -> ! {
    // SAFETY: ends the process; no handler of exit runs.
    unsafe { libc::_exit(c_int::from(code)) }
}

fn default_action(signal: c_int) {
    // SAFETY: async-signal-safe; a zeroed sigaction is SIG_DFL without flags.
    unsafe {
        let action: libc::sigaction = MaybeUninit::zeroed().assume_init();
        libc::sigaction(signal, &action, null_mut());
    }
}

fn raise(signal: c_int) {
    // SAFETY: async-signal-safe; SA_NODEFER left the signal unblocked.
    unsafe { libc::raise(signal) };
}

impl Fault {
    /// # Safety
    /// `info` must be the value that the kernel passed to the handler of this signal.
    unsafe fn new(signal: c_int, info: &libc::siginfo_t, context: &libc::ucontext_t) -> Fault {
        let (_, name, meaning) =
            SIGNALS.into_iter().find(|(known, ..)| *known == signal).unwrap_or((0, "a signal", "unknown"));
        // Other codes mark signals that a process sent.
        let is_synchronous = info.si_code > 0;
        // SAFETY: the kernel sets the address of these two signals, unless the address is not canonical.
        let address = (is_synchronous && info.si_code != SI_KERNEL && matches!(signal, libc::SIGSEGV | libc::SIGBUS))
            .then(|| unsafe { info.si_addr() } as usize);
        // SAFETY: a process sent the signal by kill, raise or abort, so si_pid is set.
        let sender = (!is_synchronous).then(|| unsafe { info.si_pid() }).filter(|&sender| !state::is_process(sender));
        let (instruction, stack) = registers(context);
        Fault { name, meaning, address, instruction, stack, sender }
    }

    fn is_overflow(&self) -> bool {
        self.address.is_some_and(|address| address.abs_diff(self.stack) < OVERFLOW_BYTES)
    }
}

#[cfg(target_arch = "x86_64")]
fn registers(context: &libc::ucontext_t) -> (usize, usize) {
    let registers = &context.uc_mcontext.gregs;
    (registers[libc::REG_RIP as usize] as usize, registers[libc::REG_RSP as usize] as usize)
}

#[cfg(target_arch = "aarch64")]
fn registers(context: &libc::ucontext_t) -> (usize, usize) {
    (context.uc_mcontext.pc as usize, context.uc_mcontext.sp as usize)
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn registers(_: &libc::ucontext_t) -> (usize, usize) {
    (0, 0)
}

/// Code that ended the process.
enum Blame {
    Class(&'static Note),
    /// Code of a library outside of its classes; with the library's name if it is known.
    Library(Option<&'static str>),
    /// Thread that a library made; with the library's name if it is known.
    Thread(Option<&'static str>),
    Ours,
}

impl Blame {
    /// Returns the code that called exit; Yunti's own code does not call exit while a job runs.
    fn of_exit(now: &Now) -> Blame {
        match now.of {
            Some(note) => Blame::Class(note),
            None if now.is_own => Blame::Library(libraries::only()),
            None => Blame::Thread(libraries::only()),
        }
    }

    fn of_fault(now: &Now, fault: &Fault, is_over: bool) -> Blame {
        match (now.of, libraries::at(fault.instruction)) {
            _ if now.has_panicked => Blame::Ours,
            (Some(note), _) => Blame::Class(note),
            (None, Some(name)) if now.is_own => Blame::Library(Some(name)),
            (None, Some(name)) => Blame::Thread(Some(name)),
            (None, None) if libraries::is_own_code(fault.instruction) || !libraries::any() => Blame::Ours,
            // After the command, the main thread runs the destructors of the libraries.
            (None, None) if now.is_own && is_over => Blame::Library(libraries::only()),
            (None, None) if now.is_own => Blame::Ours,
            (None, None) => Blame::Thread(libraries::only()),
        }
    }
}

impl std::fmt::Display for Blame {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Blame::Class(Note { kind: Kind::Loading, name }) => {
                write!(f, "an initialiser of the class library {}", Name(name))
            }
            Blame::Class(note) => write!(f, "{}", Name(&note.name)),
            Blame::Library(Some(name)) => write!(f, "the class library {}", Name(name)),
            Blame::Library(None) => f.write_str("a class library"),
            Blame::Thread(Some(name)) => write!(f, "a thread of the class library {}", Name(name)),
            Blame::Thread(None) => f.write_str("a thread of a class library"),
            Blame::Ours => f.write_str("Yunti"),
        }
    }
}

/// Signal stack of a thread, because a handler cannot run on a stack that overflowed.
struct SignalStack(*mut c_void);

thread_local! {
    static SIGNAL_STACK: RefCell<Option<SignalStack>> = const { RefCell::new(None) };
}

/// Gives this thread its signal stack, until the thread ends. If memory is short, the standard library's stack stays.
pub fn give_signal_stack() {
    SIGNAL_STACK.with_borrow_mut(|stack| {
        if stack.is_some() {
            return;
        }
        // SAFETY: new memory of the size that is passed to sigaltstack; it is unmapped when the thread has ended.
        unsafe {
            let (protection, kind) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
            let memory = libc::mmap(null_mut(), SIGNAL_STACK_BYTES, protection, kind, -1, 0);
            if memory == libc::MAP_FAILED {
                return;
            }
            let new = libc::stack_t { ss_sp: memory, ss_flags: 0, ss_size: SIGNAL_STACK_BYTES };
            *stack = Some(SignalStack(memory));
            libc::sigaltstack(&new, null_mut());
        }
    });
}

impl Drop for SignalStack {
    fn drop(&mut self) {
        // SAFETY: this value owns the memory. The drop runs on the thread's normal stack, so no handler uses the
        // memory, and sigaltstack disables it before it is unmapped.
        unsafe {
            let mut now: libc::stack_t = MaybeUninit::zeroed().assume_init();
            libc::sigaltstack(null_mut(), &mut now);
            if now.ss_sp == self.0 {
                let none = libc::stack_t { ss_sp: null_mut(), ss_flags: libc::SS_DISABLE, ss_size: SIGNAL_STACK_BYTES };
                libc::sigaltstack(&none, null_mut());
            }
            libc::munmap(self.0, SIGNAL_STACK_BYTES);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(
        of: Option<&'static Note>,
        is_own: bool,
        instruction: usize,
        has_panicked: bool,
        is_over: bool,
        expect: &str,
    ) {
        let now = Now { of, input: None, is_own, has_panicked };
        let fault = Fault { name: "SIGSEGV", meaning: "", address: None, instruction, stack: 0, sender: None };
        assert_eq!(Blame::of_fault(&now, &fault, is_over).to_string(), expect);
    }

    /// Uses libc, as any mapped library, in the role of a class library.
    #[test]
    fn blames_the_class_library_or_thread() {
        let class = Some(running::intern("A.B", Kind::Class));
        let own = blames_the_class_library_or_thread as *const () as usize;
        check(None, false, 1, false, false, "Yunti");
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        let libc = maps.lines().find(|line| line.contains("r-xp") && line.contains("libc.so")).unwrap();
        let path = &libc[libc.find('/').unwrap()..];
        let there = usize::from_str_radix(libc.split('-').next().unwrap(), 16).unwrap();
        libraries::add(path.as_ref());
        check(class, true, own, false, false, "A.B");
        check(class, true, there, true, false, "Yunti");
        check(
            Some(running::intern("a.so", Kind::Loading)),
            true,
            1,
            false,
            false,
            "an initialiser of the class library a.so",
        );
        check(None, true, own, false, false, "Yunti");
        check(None, false, own, false, false, "Yunti");
        check(None, true, 1, false, false, "Yunti");
        check(None, true, 1, false, true, &format!("the class library {path}"));
        check(None, true, there, false, false, &format!("the class library {path}"));
        check(None, false, there, false, false, &format!("a thread of the class library {path}"));
        check(None, false, 1, false, false, &format!("a thread of the class library {path}"));
    }
}
