//! Programs of the executor as machine code, by LLVM 19.
//!
//! ```text
//!   program --text.rs--> LLVM's language, as text --llvm.rs--> object code --llvm.rs--> function --code.rs--> calls
//!                              |                     ^    |
//!                              `--hash--> cache.rs --'    `--> cache.rs: memory, and files of the user
//! ```
//!
//! The text of a program is the only thing that is made of it, so that it is also the key of caches. All calls of
//! LLVM, and of the code that it makes, are in `llvm.rs`, the only file with `unsafe`.

mod cache;
mod code;
mod llvm;
#[cfg(test)]
mod tests;
mod text;

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::time::Instant;

use yunti_base::{Code as ErrorCode, Error, Result};
use yunti_sql_execute::code::{Code, Compiler, Program};

use self::cache::{Cache, Key};

use self::llvm::{Loaded, Machine};

/// Code that a process keeps, at most; the oldest leaves first.
const KEPT_MAX: usize = 256;

/// LLVM as the compiler of the executor.
pub struct Generator {
    /// Made when it is first needed: a small query never starts LLVM. None: LLVM has no code for this processor.
    machine: OnceLock<Option<Machine>>,
    cache: Option<Cache>,
    kept: Mutex<Vec<(Key, Arc<dyn Code>)>>,
    /// Time of the last compilation.
    nanos: AtomicU64,
}

/// Time of a compilation before the first.
const NANOS_FIRST: u64 = 15_000_000;

impl Generator {
    /// Returns a compiler for this processor. Files of its code are in `folder`, if there is one.
    pub fn new(folder: Option<PathBuf>) -> Generator {
        let (machine, cache) = (OnceLock::new(), folder.map(Cache::new));
        Generator { machine, cache, kept: Mutex::default(), nanos: AtomicU64::new(NANOS_FIRST) }
    }

    fn machine(&self) -> Option<&Machine> {
        self.machine.get_or_init(Machine::of_host).as_ref()
    }

    fn kept(&self) -> MutexGuard<'_, Vec<(Key, Arc<dyn Code>)>> {
        self.kept.lock().unwrap_or_else(|e| e.into_inner())
    }

    fn key(machine: &Machine, text: &str) -> Key {
        Key::of(&[env!("YUNTI_LLVM_VERSION"), &machine.processor, &machine.features, text])
    }

    fn load(&self, key: Key, object: &[u8], program: &Program) -> Result<Arc<dyn Code>> {
        let code: Arc<dyn Code> = Arc::new(Loaded::new(object, program)?);
        let mut kept = self.kept();
        if kept.len() >= KEPT_MAX {
            kept.remove(0);
        }
        kept.push((key, code.clone()));
        Ok(code)
    }
}

impl Compiler for Generator {
    fn find(&self, program: &Program) -> Option<Arc<dyn Code>> {
        let key = Generator::key(self.machine()?, &text::of(program));
        if let Some((_, code)) = self.kept().iter().find(|(known, _)| *known == key) {
            return Some(code.clone());
        }
        let object = self.cache.as_ref()?.read(key.clone())?;
        // An object that does not load is made anew.
        self.load(key, &object, program).ok()
    }

    fn compile(&self, program: &Program) -> Result<Arc<dyn Code>> {
        let text = text::of(program);
        let Some(machine) = self.machine() else {
            return Err(Error::new(ErrorCode::Internal, "LLVM does not know this processor"));
        };
        let key = Generator::key(machine, &text);
        let start = Instant::now();
        let object = machine.compile(text)?;
        let code = self.load(key.clone(), &object, program)?;
        self.nanos.store(start.elapsed().as_nanos() as u64, Ordering::Relaxed);
        if let Some(cache) = &self.cache {
            cache.write(key, &object);
        }
        Ok(code)
    }

    fn usual_nanos(&self) -> u64 {
        self.nanos.load(Ordering::Relaxed)
    }
}
