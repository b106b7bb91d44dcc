//! Calls of LLVM 19 through its interface for C, and of the code that it makes.
//!
//! One of the listed files with `unsafe`: LLVM is a library of C++, and its code has no type that Rust checks.
//!
//! ```text
//!   Machine::compile   text --parse, verify, optimize--> module --emit--> object code
//!   Loaded::new        object code --link in memory--> function
//!   Loaded::run        block --function--> rows that are kept
//! ```
//!
//! LLVM reports some faults by a handler that must not return. The handler here ends the work of its thread for ever,
//! so that a fault of LLVM costs the compilation and never the process. So each compilation has a thread of its own.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Once, mpsc};
use std::time::{Duration, Instant};

use yunti_base::{Code as ErrorCode, Error, Result};
use yunti_engine::bytes::simd;
use yunti_sql_execute::code::{Code, Column, Constant, Output, Program};

use crate::code::Signature;
use crate::text::NAME;

/// Stack of a compilation: passes of LLVM recurse.
const STACK_BYTES: usize = 16 << 20;
/// Time of a compilation, at most.
const TIMEOUT: Duration = Duration::from_secs(20);
/// Passes over a module.
const PASSES: &CStr = c"default<O2>";

/// Pointers to objects of LLVM.
type Handle = *mut c_void;

const OPTIMIZE_DEFAULT: c_int = 2;
const RELOCATE_ANYWHERE: c_int = 2;
const MODEL_SMALL: c_int = 3;
const FILE_OBJECT: c_int = 1;
const VERIFY_RETURNS: c_int = 2;

#[rustfmt::skip]
unsafe extern "C" {
    fn LLVMContextCreate() -> Handle;
    fn LLVMContextDispose(context: Handle);
    fn LLVMCreateMemoryBufferWithMemoryRange(data: *const c_char, len: usize, name: *const c_char, ends: c_int) -> Handle;
    fn LLVMCreateMemoryBufferWithMemoryRangeCopy(data: *const c_char, len: usize, name: *const c_char) -> Handle;
    fn LLVMGetBufferStart(buffer: Handle) -> *const c_char;
    fn LLVMGetBufferSize(buffer: Handle) -> usize;
    fn LLVMDisposeMemoryBuffer(buffer: Handle);
    fn LLVMParseIRInContext(context: Handle, buffer: Handle, module: *mut Handle, message: *mut *mut c_char) -> c_int;
    fn LLVMVerifyModule(module: Handle, action: c_int, message: *mut *mut c_char) -> c_int;
    fn LLVMDisposeModule(module: Handle);
    fn LLVMDisposeMessage(message: *mut c_char);
    fn LLVMSetTarget(module: Handle, triple: *const c_char);
    fn LLVMSetModuleDataLayout(module: Handle, layout: Handle);
    fn LLVMCreateTargetDataLayout(machine: Handle) -> Handle;
    fn LLVMDisposeTargetData(layout: Handle);
    fn LLVMGetDefaultTargetTriple() -> *mut c_char;
    fn LLVMGetHostCPUName() -> *mut c_char;
    fn LLVMGetHostCPUFeatures() -> *mut c_char;
    fn LLVMGetTargetFromTriple(triple: *const c_char, target: *mut Handle, message: *mut *mut c_char) -> c_int;
    fn LLVMCreateTargetMachine(target: Handle, triple: *const c_char, cpu: *const c_char, features: *const c_char,
        level: c_int, relocation: c_int, model: c_int) -> Handle;
    fn LLVMDisposeTargetMachine(machine: Handle);
    fn LLVMTargetMachineEmitToMemoryBuffer(machine: Handle, module: Handle, kind: c_int, message: *mut *mut c_char,
        buffer: *mut Handle) -> c_int;
    fn LLVMCreatePassBuilderOptions() -> Handle;
    fn LLVMDisposePassBuilderOptions(options: Handle);
    fn LLVMRunPasses(module: Handle, passes: *const c_char, machine: Handle, options: Handle) -> Handle;
    fn LLVMConsumeError(error: Handle);
    fn LLVMOrcCreateLLJIT(jit: *mut Handle, builder: Handle) -> Handle;
    fn LLVMOrcDisposeLLJIT(jit: Handle) -> Handle;
    fn LLVMOrcLLJITGetMainJITDylib(jit: Handle) -> Handle;
    fn LLVMOrcLLJITAddObjectFile(jit: Handle, library: Handle, buffer: Handle) -> Handle;
    fn LLVMOrcLLJITLookup(jit: Handle, address: *mut u64, name: *const c_char) -> Handle;
    fn LLVMInstallFatalErrorHandler(handler: extern "C" fn(*const c_char));
}

#[cfg(target_arch = "x86_64")]
unsafe extern "C" {
    #[link_name = "LLVMInitializeX86TargetInfo"]
    fn initialize_info();
    #[link_name = "LLVMInitializeX86Target"]
    fn initialize_target();
    #[link_name = "LLVMInitializeX86TargetMC"]
    fn initialize_instructions();
    #[link_name = "LLVMInitializeX86AsmPrinter"]
    fn initialize_printer();
}

#[cfg(target_arch = "aarch64")]
unsafe extern "C" {
    #[link_name = "LLVMInitializeAArch64TargetInfo"]
    fn initialize_info();
    #[link_name = "LLVMInitializeAArch64Target"]
    fn initialize_target();
    #[link_name = "LLVMInitializeAArch64TargetMC"]
    fn initialize_instructions();
    #[link_name = "LLVMInitializeAArch64AsmPrinter"]
    fn initialize_printer();
}

static READY: Once = Once::new();
static IS_BROKEN: AtomicBool = AtomicBool::new(false);

extern "C" fn fail_for_ever(_: *const c_char) {
    IS_BROKEN.store(true, Ordering::SeqCst);
    loop {
        std::thread::park();
    }
}

fn initialize() {
    READY.call_once(|| {
        // SAFETY: LLVM's functions of no arguments; `call_once` excludes other threads. The handler never returns.
        unsafe {
            initialize_info();
            initialize_target();
            initialize_instructions();
            initialize_printer();
            LLVMInstallFatalErrorHandler(fail_for_ever);
        }
    });
}

fn failed(what: &str) -> Error {
    Error::new(ErrorCode::Internal, format!("LLVM {what}"))
}

/// Takes a message of LLVM.
///
/// # Safety
/// It is null, or a string that LLVM has made and no one else disposes of.
unsafe fn take_message(message: *mut c_char) -> String {
    if message.is_null() {
        return String::new();
    }
    // SAFETY: the caller's promise; a string of LLVM ends with a zero.
    unsafe {
        let text = CStr::from_ptr(message).to_string_lossy().into_owned();
        LLVMDisposeMessage(message);
        text
    }
}

/// Fails if LLVM has returned an error, which ends here.
fn check(error: Handle, what: &str) -> Result<()> {
    if error.is_null() {
        return Ok(());
    }
    // SAFETY: an error that LLVM has just returned is consumed once.
    unsafe { LLVMConsumeError(error) };
    Err(failed(what))
}

/// An object of LLVM with the function that disposes of it.
struct Owned(Handle, unsafe extern "C" fn(Handle));

impl Drop for Owned {
    fn drop(&mut self) {
        // SAFETY: the object is this one's alone: `new` gets it from the function that makes it.
        unsafe { (self.1)(self.0) }
    }
}

/// The processor that code is made for.
#[derive(Clone, Debug)]
pub struct Machine {
    triple: CString,
    pub processor: String,
    pub features: String,
}

impl Machine {
    /// Returns this processor, as far as `YUNTI_SIMD` allows its instructions; None if LLVM does not know it.
    pub fn of_host() -> Option<Machine> {
        initialize();
        // SAFETY: LLVM makes three strings, which are taken once each.
        let (triple, processor, features) = unsafe {
            (
                take_message(LLVMGetDefaultTargetTriple()),
                take_message(LLVMGetHostCPUName()),
                take_message(LLVMGetHostCPUFeatures()),
            )
        };
        let (processor, features) = match simd::allowed() {
            _ if !cfg!(target_arch = "x86_64") => (processor, features),
            simd::Level::Avx512 => (processor, features),
            simd::Level::Avx2 if simd::avx2() => ("x86-64-v3".into(), String::new()),
            _ => ("x86-64".into(), String::new()),
        };
        Some(Machine { triple: CString::new(triple).ok()?, processor, features })
    }

    /// Returns object code. Errors: `Internal` with LLVM's words.
    pub fn compile(&self, text: String) -> Result<Vec<u8>> {
        let (machine, (to, from)) = (self.clone(), mpsc::channel());
        let thread = std::thread::Builder::new().name("llvm".into()).stack_size(STACK_BYTES);
        let work = move || {
            // Fails if the caller has given up.
            let _ = to.send(machine.compile_here(&text));
        };
        let thread = thread.spawn(work).map_err(|e| failed(&format!("has no thread: {e}")))?;
        let start = Instant::now();
        loop {
            match from.recv_timeout(Duration::from_millis(50)) {
                Ok(object) => {
                    let _ = thread.join();
                    return object;
                }
                Err(mpsc::RecvTimeoutError::Timeout) => {
                    if IS_BROKEN.load(Ordering::SeqCst) || start.elapsed() > TIMEOUT {
                        return Err(failed("ended with a fault, or takes too long"));
                    }
                }
                Err(mpsc::RecvTimeoutError::Disconnected) => return Err(failed("ended with a panic")),
            }
        }
    }

    fn compile_here(&self, text: &str) -> Result<Vec<u8>> {
        if IS_BROKEN.load(Ordering::SeqCst) {
            return Err(failed("has failed before"));
        }
        let (cpu, features) = (CString::new(&*self.processor), CString::new(&*self.features));
        let (Ok(cpu), Ok(features), Ok(text)) = (cpu, features, CString::new(text)) else {
            return Err(failed("takes no text with zeros"));
        };
        let mut message = null_mut();
        // SAFETY: all handles are made here, used on this thread alone, and disposed of once by `Owned`, in the reverse
        // order: module before context. Strings live to the end of the function and end with a zero. The parser takes
        // the buffer, whose bytes have a zero behind them, and disposes of it in any case.
        unsafe {
            let mut target = null_mut();
            if LLVMGetTargetFromTriple(self.triple.as_ptr(), &mut target, &mut message) != 0 {
                return Err(failed(&take_message(message)));
            }
            let machine = LLVMCreateTargetMachine(
                target,
                self.triple.as_ptr(),
                cpu.as_ptr(),
                features.as_ptr(),
                OPTIMIZE_DEFAULT,
                RELOCATE_ANYWHERE,
                MODEL_SMALL,
            );
            if machine.is_null() {
                return Err(failed("has no code for this processor"));
            }
            let machine = Owned(machine, LLVMDisposeTargetMachine);
            let context = Owned(LLVMContextCreate(), LLVMContextDispose);
            let (start, len) = (text.as_ptr(), text.as_bytes().len());
            let buffer = LLVMCreateMemoryBufferWithMemoryRange(start, len, c"program".as_ptr(), 1);
            let mut module = null_mut();
            if LLVMParseIRInContext(context.0, buffer, &mut module, &mut message) != 0 {
                return Err(failed(&format!("cannot read a program: {}", take_message(message))));
            }
            let module = Owned(module, LLVMDisposeModule);
            LLVMSetTarget(module.0, self.triple.as_ptr());
            let layout = Owned(LLVMCreateTargetDataLayout(machine.0), LLVMDisposeTargetData);
            LLVMSetModuleDataLayout(module.0, layout.0);
            let is_wrong = LLVMVerifyModule(module.0, VERIFY_RETURNS, &mut message) != 0;
            let text = take_message(message);
            if is_wrong {
                return Err(failed(&format!("finds a program wrong: {text}")));
            }
            let options = Owned(LLVMCreatePassBuilderOptions(), LLVMDisposePassBuilderOptions);
            check(LLVMRunPasses(module.0, PASSES.as_ptr(), machine.0, options.0), "cannot optimize a program")?;
            let (mut object, mut message) = (null_mut(), null_mut());
            let is_failed =
                LLVMTargetMachineEmitToMemoryBuffer(machine.0, module.0, FILE_OBJECT, &mut message, &mut object) != 0;
            if is_failed {
                return Err(failed(&format!("has no code for a program: {}", take_message(message))));
            }
            let object = Owned(object, LLVMDisposeMemoryBuffer);
            let bytes =
                std::slice::from_raw_parts(LLVMGetBufferStart(object.0).cast::<u8>(), LLVMGetBufferSize(object.0));
            Ok(bytes.to_vec())
        }
    }
}

/// Machine code in memory.
#[derive(Debug)]
pub struct Loaded {
    signature: Signature,
    function: extern "C" fn(*const u64) -> i64,
    jit: Handle,
}

// SAFETY: after `new` the handle is used by `drop` alone, and the code has no state: each call has its own block.
unsafe impl Send for Loaded {}
// SAFETY: as above.
unsafe impl Sync for Loaded {}

impl Drop for Loaded {
    fn drop(&mut self) {
        // SAFETY: the handle is this object's alone, and no call runs: a call borrows the object.
        let error = unsafe { LLVMOrcDisposeLLJIT(self.jit) };
        let _ = check(error, "cannot unload code");
    }
}

impl Loaded {
    /// Loads the object code of a program. Errors: `Internal`.
    ///
    /// The code must be the program's: the cache compares the whole text of the program, and the checksum of the bytes.
    pub fn new(object: &[u8], program: &Program) -> Result<Loaded> {
        initialize();
        if IS_BROKEN.load(Ordering::SeqCst) {
            return Err(failed("has failed before"));
        }
        let name = CString::new(NAME).map_err(|_| failed("takes no name with zeros"))?;
        // SAFETY: the handles are LLVM's. The buffer is a copy, which the linker takes in any case. `function` is made
        // of an address that LLVM has just found under the name that `text.rs` gives a function of this type.
        unsafe {
            let mut jit = null_mut();
            check(LLVMOrcCreateLLJIT(&mut jit, null_mut()), "has no loader")?;
            let dispose = |error: Error| {
                let _ = check(LLVMOrcDisposeLLJIT(jit), "cannot unload code");
                error
            };
            let buffer =
                LLVMCreateMemoryBufferWithMemoryRangeCopy(object.as_ptr().cast(), object.len(), c"object".as_ptr());
            let added = LLVMOrcLLJITAddObjectFile(jit, LLVMOrcLLJITGetMainJITDylib(jit), buffer);
            check(added, "cannot load code").map_err(dispose)?;
            let mut address = 0;
            check(LLVMOrcLLJITLookup(jit, &mut address, name.as_ptr()), "finds no function").map_err(dispose)?;
            if address == 0 {
                return Err(dispose(failed("finds no function")));
            }
            let function =
                std::mem::transmute::<*const (), extern "C" fn(*const u64) -> i64>(address as usize as *const ());
            Ok(Loaded { signature: Signature::of(program), function, jit })
        }
    }
}

impl Code for Loaded {
    fn run(
        &self,
        rows: usize,
        inputs: &[Column<'_>],
        constants: &[Constant],
        output: &mut Output,
    ) -> Result<Option<usize>> {
        let block = self.signature.block(rows, inputs, constants, output)?;
        // `block` has checked that all that the code reads and writes is within the memory of inputs and output, which
        // are borrowed until the call has returned.
        let kept = (self.function)(block.as_ptr());
        let kept = usize::try_from(kept).ok().filter(|kept| *kept <= rows);
        self.signature.cut(output, kept.unwrap_or(0));
        Ok(kept)
    }
}
