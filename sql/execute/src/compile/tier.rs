//! The switch from kernels to code: what is compiled, when, and for which shapes of columns.
//!
//! ```text
//!   batch of a new shape --> program --> kernels, whose time is measured
//!                                        rows left x time a row > PAYS x a load: a cache has its code --> code
//!                                        rows left x time a row > PAYS x a compilation
//!                                        --> a thread compiles; kernels go on ----------> code
//! ```
//!
//! Code of one shape also runs on columns whose numbers are smaller, or that have no nulls where it expects some.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::JoinHandle;

use super::bind::covers;
use super::lower::Built;
use crate::code::{Code, Compilation, Compiler, Counts, Input, Mode};

/// Shapes that one part of a query has code for, at most.
const VARIANTS_MAX: usize = 6;
/// Time of the rows that are left, by kernels, for which a compilation is worth it: a multiple of its time. Code takes
/// a third of the kernels' time, and the compilation takes a processor from the query.
const PAYS: u64 = 3;
/// Time to load code that a cache has.
const LOAD_NANOS: u64 = 2_000_000;
/// Calls that fail before code is judged: most calls must not.
const FAILED_MIN: u64 = 8;

/// Code with what its calls need.
pub struct Ready {
    pub code: Arc<dyn Code>,
    pub built: Built,
    shapes: Vec<Option<Input>>,
}

enum Status {
    /// Kernels run, and are measured. True once the caches have been searched.
    Waiting(Option<Built>, bool),
    Compiling,
    Ready(Arc<Ready>),
    Failed,
}

struct Variant {
    /// Shapes of all columns; only columns of the program count.
    shapes: Vec<Option<Input>>,
    used: Vec<usize>,
    status: Status,
}

/// Code of one part of a query, which all workers share.
pub struct Tier {
    shared: Arc<Shared>,
    compilation: Compilation,
    /// Rows of all morsels, if they are known.
    rows_all: Option<u64>,
    rows: AtomicU64,
    /// Rows that kernels took, and their time.
    measured: [AtomicU64; 2],
    /// Calls of code, and failed calls.
    calls: [AtomicU64; 2],
    threads: Mutex<Vec<JoinHandle<()>>>,
}

struct Shared {
    variants: Mutex<Vec<Variant>>,
    counts: Arc<Counts>,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Vec<Variant>> {
        self.variants.lock().unwrap_or_else(|e| e.into_inner())
    }

    fn compile(&self, number: usize, built: Built, compiler: &dyn Compiler) {
        let start = std::time::Instant::now();
        let code = compiler.compile(&built.program);
        self.counts.compile_nanos.fetch_add(start.elapsed().as_nanos() as u64, Ordering::Relaxed);
        let mut variants = self.lock();
        let variant = &mut variants[number];
        // What cannot be compiled stays in kernels.
        variant.status = match code {
            Ok(code) => {
                self.counts.compiled.fetch_add(1, Ordering::Relaxed);
                Status::Ready(Arc::new(Ready { code, built, shapes: variant.shapes.clone() }))
            }
            Err(_) => Status::Failed,
        };
    }
}

impl Variant {
    fn takes(&self, shapes: &[Option<Input>]) -> bool {
        self.used.iter().all(|&column| match (self.shapes[column], shapes.get(column)) {
            (Some(own), Some(Some(other))) => covers(own, *other),
            _ => false,
        })
    }
}

impl Ready {
    /// Returns the shape that a column has in the program.
    pub fn shape(&self, column: usize) -> Option<Input> {
        self.shapes[column]
    }

    /// Returns true if the code can run on columns of some shapes.
    pub fn takes(&self, shapes: &[Option<Input>]) -> bool {
        self.built.columns.iter().all(|&column| match (self.shapes[column], shapes.get(column)) {
            (Some(own), Some(Some(other))) => covers(own, *other),
            _ => false,
        })
    }
}

impl Tier {
    pub fn new(compilation: &Compilation, rows_all: Option<u64>) -> Tier {
        let shared = Arc::new(Shared { variants: Mutex::default(), counts: compilation.counts.clone() });
        let compilation = compilation.clone();
        let threads = Mutex::default();
        Tier {
            shared,
            compilation,
            rows_all,
            rows: Default::default(),
            measured: Default::default(),
            calls: Default::default(),
            threads,
        }
    }

    /// Notes the time that kernels took for some rows.
    pub fn measure(&self, rows: usize, nanos: u64) {
        self.measured[0].fetch_add(rows as u64, Ordering::Relaxed);
        self.measured[1].fetch_add(nanos, Ordering::Relaxed);
        self.shared.counts.kernel_rows.fetch_add(rows as u64, Ordering::Relaxed);
    }

    /// Notes rows that came to code.
    pub fn note(&self, rows: usize, has_failed: bool) {
        self.calls[0].fetch_add(1, Ordering::Relaxed);
        if has_failed {
            self.calls[1].fetch_add(1, Ordering::Relaxed);
            self.shared.counts.failed_calls.fetch_add(1, Ordering::Relaxed);
        } else {
            self.shared.counts.code_rows.fetch_add(rows as u64, Ordering::Relaxed);
        }
    }

    /// Returns true if code fails so often that it is a waste.
    fn is_waste(&self) -> bool {
        let [calls, failed] = [0, 1].map(|n| self.calls[n].load(Ordering::Relaxed));
        failed >= FAILED_MIN && failed * 2 > calls
    }

    /// Returns true if the rows that are left are worth some work for code.
    fn pays(&self, work_nanos: u64) -> bool {
        if self.compilation.mode == Mode::On {
            return true;
        }
        let [rows, nanos] = [0, 1].map(|n| self.measured[n].load(Ordering::Relaxed));
        if rows == 0 {
            return false;
        }
        let done = self.rows.load(Ordering::Relaxed);
        // If the number of rows is not known, half of them are yet to come.
        let left = self.rows_all.map_or(done, |all| all.saturating_sub(done));
        let nanos_left = u128::from(left) * u128::from(nanos) / u128::from(rows);
        nanos_left > u128::from(PAYS.saturating_mul(work_nanos))
    }

    /// Returns code for a batch of `rows` rows whose columns have some shapes; None: kernels take it. `build` makes the
    /// program for shapes that are new.
    pub fn code(
        &self,
        shapes: &[Option<Input>],
        rows: usize,
        build: impl FnOnce() -> Option<Built>,
    ) -> Option<Arc<Ready>> {
        self.rows.fetch_add(rows as u64, Ordering::Relaxed);
        if self.is_waste() {
            return None;
        }
        let mut variants = self.shared.lock();
        let number = match variants.iter().position(|variant| variant.takes(shapes)) {
            Some(number) => number,
            None if variants.len() >= VARIANTS_MAX => return None,
            None => {
                let built = build();
                // Shapes without a program are known as such, for all columns.
                let used = built.as_ref().map_or((0..shapes.len()).collect(), |built| built.columns.clone());
                let status = built.map_or(Status::Failed, |built| Status::Waiting(Some(built), false));
                variants.push(Variant { shapes: shapes.to_vec(), used, status });
                variants.len() - 1
            }
        };
        if let Status::Waiting(built, is_searched @ false) = &mut variants[number].status
            && self.pays(LOAD_NANOS)
        {
            *is_searched = true;
            if let Some(code) = built.as_ref().and_then(|built| self.compilation.compiler.find(&built.program)) {
                self.shared.counts.cached.fetch_add(1, Ordering::Relaxed);
                let (built, shapes) = (built.take()?, variants[number].shapes.clone());
                variants[number].status = Status::Ready(Arc::new(Ready { code, built, shapes }));
            }
        }
        match &mut variants[number].status {
            Status::Ready(ready) => return Some(ready.clone()),
            Status::Waiting(built, true) if self.pays(self.compilation.compiler.usual_nanos()) => {
                let built = built.take()?;
                variants[number].status = Status::Compiling;
                let (shared, compiler) = (self.shared.clone(), self.compilation.compiler.clone());
                if self.compilation.mode == Mode::On {
                    drop(variants);
                    shared.compile(number, built, &*compiler);
                    return match &self.shared.lock()[number].status {
                        Status::Ready(ready) => Some(ready.clone()),
                        _ => None,
                    };
                }
                let work = move || shared.compile(number, built, &*compiler);
                if let Ok(thread) = std::thread::Builder::new().name("compile".into()).spawn(work) {
                    self.threads.lock().unwrap_or_else(|e| e.into_inner()).push(thread);
                }
            }
            Status::Waiting(..) | Status::Compiling | Status::Failed => {}
        }
        None
    }
}

/// A compilation ends before its query: a process must not end in the middle of one.
impl Drop for Tier {
    fn drop(&mut self) {
        for thread in self.threads.get_mut().unwrap_or_else(|e| e.into_inner()).drain(..) {
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::{Column, Constant, Element, Output, Program, Sink};
    use crate::compile::lower::Builder;
    use yunti_base::{Code as ErrorCode, Error, Result};
    use yunti_engine::columns::kind::Kind;

    /// A compiler whose code keeps all rows.
    #[derive(Default)]
    struct Fake {
        knows: bool,
        fails: bool,
        compiled: AtomicU64,
    }

    struct All;

    impl Code for All {
        fn run(&self, rows: usize, _: &[Column<'_>], _: &[Constant], _: &mut Output) -> Result<Option<usize>> {
            Ok(Some(rows))
        }
    }

    impl Compiler for Fake {
        fn find(&self, _: &Program) -> Option<Arc<dyn Code>> {
            self.knows.then(|| Arc::new(All) as Arc<dyn Code>)
        }

        fn compile(&self, _: &Program) -> Result<Arc<dyn Code>> {
            self.compiled.fetch_add(1, Ordering::Relaxed);
            if self.fails { Err(Error::new(ErrorCode::Internal, "no")) } else { Ok(Arc::new(All)) }
        }
    }

    const ROWS: usize = 1000;

    fn shape(bits: u32, has_nulls: bool) -> Option<Input> {
        Some(Input { element: Element::I64, is_coded: false, has_nulls, bits })
    }

    fn build(shapes: &[Option<Input>]) -> Option<Built> {
        let mut builder = Builder::new(shapes.to_vec());
        let value = builder.column(0, Kind::Int)?;
        Some(builder.finish(Sink::Columns(vec![(value.id, value.null)])))
    }

    /// Runs batches whose rows cost some nanoseconds each. Returns how many came to code.
    fn run(fake: &Arc<Fake>, mode: Mode, rows_all: Option<u64>, nanos: u64, batches: usize) -> usize {
        let compilation = Compilation { compiler: fake.clone(), mode, counts: Arc::default() };
        let tier = Tier::new(&compilation, rows_all);
        let shapes = [shape(8, false)];
        let mut taken = 0;
        for _ in 0..batches {
            match tier.code(&shapes, ROWS, || build(&shapes)) {
                Some(_) => {
                    tier.note(ROWS, false);
                    taken += 1;
                }
                None => tier.measure(ROWS, nanos * ROWS as u64),
            }
            // The thread of a compilation ends here, so that the next batch finds its code.
            tier.threads.lock().unwrap().drain(..).for_each(|thread| thread.join().unwrap());
        }
        taken
    }

    #[test]
    fn code_takes_over_when_it_pays() {
        let new = || Arc::new(Fake::default());
        for (name, mode, rows_all, nanos, taken, compiled) in [
            ("at once", Mode::On, Some(1), 0, 20, 1),
            // 20 batches of 1,000 rows, 10 ns a row: 0.2 ms.
            ("too little", Mode::Auto, Some(20_000), 10, 0, 0),
            // 10 million rows of 10 ns: 100 ms.
            ("enough", Mode::Auto, Some(10_000_000), 10, 18, 1),
            // The second batch is the first that finds a measured time.
            ("enough, at the end", Mode::Auto, Some(20_000), 1_000_000, 18, 1),
            ("unknown, and little so far", Mode::Auto, None, 10, 0, 0),
            // The fifth batch of 10 ms finds that 3 x 15 ms are behind it.
            ("unknown, and much so far", Mode::Auto, None, 10_000, 15, 1),
        ] {
            let fake = new();
            assert_eq!(run(&fake, mode, rows_all, nanos, 20), taken, "{name}");
            assert_eq!(fake.compiled.load(Ordering::Relaxed), compiled, "{name}");
        }
    }

    #[test]
    fn a_cache_needs_no_compilation_and_a_failure_none_again() {
        let fake = Arc::new(Fake { knows: true, ..Fake::default() });
        assert_eq!(run(&fake, Mode::On, Some(1), 0, 5), 5);
        // A load is worth it where a compilation is not: 10 ms are left; and not for less.
        assert_eq!(run(&fake, Mode::Auto, Some(1_000_000), 10, 5), 4);
        assert_eq!(run(&fake, Mode::Auto, Some(5_000), 10, 5), 0);
        assert_eq!(fake.compiled.load(Ordering::Relaxed), 0);
        let fake = Arc::new(Fake { fails: true, ..Fake::default() });
        assert_eq!(run(&fake, Mode::On, Some(1), 0, 5), 0);
        assert_eq!(fake.compiled.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn code_runs_on_smaller_numbers_and_not_on_larger() {
        let fake = Arc::new(Fake::default());
        let compilation = Compilation { compiler: fake.clone(), mode: Mode::On, counts: Arc::default() };
        let tier = Tier::new(&compilation, None);
        let compiled = |of: Option<Input>| {
            assert!(tier.code(&[of], ROWS, || build(&[of])).is_some());
            fake.compiled.load(Ordering::Relaxed)
        };
        assert_eq!(compiled(shape(16, true)), 1);
        assert_eq!(compiled(shape(8, true)), 1);
        assert_eq!(compiled(shape(16, false)), 1);
        assert_eq!(compiled(shape(24, false)), 2);
        assert_eq!(compiled(shape(24, true)), 3);
        assert!(tier.code(&[None], ROWS, || build(&[None])).is_none());
        // Code that fails again and again is used no more.
        (0..FAILED_MIN).for_each(|_| tier.note(ROWS, true));
        assert!(tier.code(&[shape(8, true)], ROWS, || None).is_none());
    }
}
