//! Gates: programs that decide which calls of a place are recorded, and count them by values. They are written when a
//! measurement starts, from [`Conditions`], and stand before the programs of `bpf/hits.bpf.c`:
//!
//! ```text
//!   place -> function_begins -> gate -> function_begins_passed      each arrow behind the first is a tail call
//! ```
//!
//! What is known when a call begins is decided then. With `return` or `time` a call first opens, and its end decides.

use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use libbpf_rs::Object;
use yunti_base::{Code, Error, Result};

use crate::condition::assembler::{Alu, Assembler, FRAME, Helper, Instruction, Jump, Label};
use crate::condition::compile::{self, FRAME_USED, slot};
use crate::condition::expression::{Expression, Variable};
use crate::condition::load::{Type, load};
use crate::condition::{Conditions, Grouping, KEYS_MAX, Key};
use crate::programs::{map, program, put};

/// Registers that carry arguments.
pub const ARGUMENTS: usize = 6;
/// Number of the program that records begins, behind the gates.
pub const PASSED_BEGIN: u32 = 0;
/// Number of the program that records ends, behind the gates.
pub const PASSED_END: u32 = 1;
/// Number of the program that records tracepoints without arguments; those with more follow.
pub const PASSED_TRACEPOINT: u32 = 2;

/// Place of a gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Site {
    /// Function of a program, with or without a known end.
    Function,
    /// Function of the kernel.
    KernelFunction,
    /// System call.
    SystemCall,
    /// Tracepoint with this number of arguments.
    Tracepoint(usize),
    /// Begin of a kernel function with this number of parameters, which has no other program: only counts. The second
    /// number is the process; 0 for all but this one.
    Entry(usize, u32),
}

impl Site {
    /// Returns the type of its programs, and the names of its maps: gates of begins, gates of ends, programs behind.
    fn programs(self) -> (Type, [&'static str; 3]) {
        match self {
            Site::Function | Site::KernelFunction => (Type::Breakpoint, ["begin_gates", "end_gates", "passed"]),
            _ => (Type::RawTracepoint, ["raw_begin_gates", "raw_end_gates", "raw_passed"]),
        }
    }

    /// Returns the helper that reads memory at an argument.
    fn reader(self) -> Helper {
        match self {
            Site::Function | Site::SystemCall => Helper::ReadUser,
            Site::KernelFunction | Site::Tracepoint(_) | Site::Entry(..) => Helper::ReadKernel,
        }
    }
}

// Offsets in the frame, below those of expressions: struct group_key; the sum; struct group; a thread's name; a key of
// 32 bits; struct call_key; struct keys.
const WORD: i16 = 8;
const GROUP_KEY: i16 = FRAME_USED - (1 + KEYS_MAX as i16) * WORD;
const SUM: i16 = GROUP_KEY - WORD;
const GROUP: i16 = SUM - 2 * WORD;
const NAME: i16 = GROUP - 2 * WORD;
const NUMBER: i16 = NAME - WORD;
const CALL_KEY: i16 = NUMBER - 2 * WORD;
const KEYS: i16 = CALL_KEY - (KEYS_MAX as i16 + 1) * WORD;
const NAME_BYTES: i32 = 16;
// Offsets in struct hit.
const HIT_TIME: i16 = 0;
const HIT_ARGUMENTS: i16 = 2 * WORD;
const HIT_KEYS: i16 = HIT_ARGUMENTS + (ARGUMENTS as i16 + 1) * WORD;
/// BPF_NOEXIST: an element that exists stays.
const NO_EXIST: i32 = 1;

/// Offsets in the saved registers of a program: arguments of functions, then the result and the stack pointer. The
/// fourth argument of a system call is in another register.
#[cfg(target_arch = "x86_64")]
mod registers {
    pub const ARGUMENTS: [i16; 6] = [112, 104, 96, 88, 72, 64];
    pub const FOURTH_OF_SYSTEM_CALL: i16 = 56;
    pub const RESULT: i16 = 80;
    pub const STACK_POINTER: i16 = 152;
}
#[cfg(target_arch = "aarch64")]
mod registers {
    pub const ARGUMENTS: [i16; 6] = [0, 8, 16, 24, 32, 40];
    pub const FOURTH_OF_SYSTEM_CALL: i16 = 24;
    pub const RESULT: i16 = 0;
    pub const STACK_POINTER: i16 = 248;
}

/// Puts the gates of a probe in their place. Returns their descriptors, which keep them alive.
///
/// @param has_end true if ends of calls are seen
pub fn put_gates(
    object: &Object,
    site: Site,
    number: u32,
    has_end: bool,
    conditions: &Conditions,
) -> Result<Vec<OwnedFd>> {
    let (kind, [begins, ends, _]) = site.programs();
    let mut gates = Vec::new();
    let mut write = |map_name: &str, is_end: bool| {
        let program = load(kind, &code(object, site, number, is_end, conditions)?)
            .map_err(|e| Error::new(Code::Input, format!("the kernel refuses the condition: {e}")))?;
        put(object, map_name, &number.to_le_bytes(), &program.as_raw_fd().to_le_bytes())?;
        gates.push(program);
        Ok(())
    };
    write(begins, false)?;
    if has_end {
        write(ends, true)?;
    }
    Ok(gates)
}

/// Returns the gate of a kernel function's begin that stands alone.
pub fn entry_gate(
    object: &Object,
    number: u32,
    pid: u32,
    parameters: usize,
    conditions: &Conditions,
) -> Result<Vec<Instruction>> {
    code(object, Site::Entry(parameters, pid), number, false, conditions)
}

fn code(object: &Object, site: Site, number: u32, is_end: bool, conditions: &Conditions) -> Result<Vec<Instruction>> {
    let mut gate = Gate { code: Assembler::default(), maps: Maps::of(object, site)?, site, number, is_end };
    let written = gate.write(conditions);
    let code = written.and_then(|()| gate.code.finish());
    code.ok_or_else(|| Error::new(Code::Usage, "an expression is too long for the kernel"))
}

/// Puts a program behind the gates.
pub fn put_passed(object: &Object, site: Site, index: u32, name: &str) -> Result<()> {
    let descriptor = program(object, name)?.as_fd().as_raw_fd();
    put(object, site.programs().1[2], &index.to_le_bytes(), &descriptor.to_le_bytes())
}

/// Descriptors of the maps of `bpf/hits.bpf.c` that gates use.
struct Maps {
    open_calls: i32,
    keys_of_call: i32,
    groups: i32,
    groups_lost: i32,
    met: i32,
    names: i32,
    passed: i32,
}

impl Maps {
    fn of(object: &Object, site: Site) -> Result<Maps> {
        let descriptor = |name: &str| Ok(map(object, name)?.as_fd().as_raw_fd());
        Ok(Maps {
            open_calls: descriptor("open_calls")?,
            keys_of_call: descriptor("keys_of_call")?,
            groups: descriptor("groups")?,
            groups_lost: descriptor("groups_lost")?,
            met: descriptor("met")?,
            names: descriptor("names")?,
            passed: descriptor(site.programs().1[2])?,
        })
    }
}

/// Register of the context, kept over calls.
const CONTEXT: u8 = 6;
/// Register of the open call at its end.
const HIT: u8 = 7;

/// Gate that is being written.
struct Gate {
    code: Assembler,
    maps: Maps,
    site: Site,
    number: u32,
    is_end: bool,
}

impl Gate {
    /// Writes the whole program; `None` if an expression is too long.
    fn write(&mut self, conditions: &Conditions) -> Option<()> {
        let (rejects, leaves) = (self.code.label(), self.code.label());
        // Decided here: conditions that can be, and counts once all conditions are known.
        let is_last = self.is_end == conditions.needs_end();
        let when: Vec<&Expression> = conditions.when.iter().filter(|part| part.needs_end() == self.is_end).collect();
        let grouping = conditions.grouping.as_ref().filter(|_| is_last);
        self.code.alu(Alu::Move, CONTEXT, 1);
        if let Site::Entry(_, pid) = self.site {
            self.code.call(Helper::ProcessAndThread);
            self.code.alu_constant(Alu::ShiftRight, 0, 32);
            let (jump, compared) = if pid == 0 { (Jump::Equal, std::process::id()) } else { (Jump::NotEqual, pid) };
            self.code.jump_constant(jump, 0, compared as i32, leaves);
        }
        if self.is_end || grouping.is_some_and(|grouping| grouping.has_stack) {
            self.call_key();
        }
        if self.is_end {
            self.lookup(self.maps.open_calls, CALL_KEY);
            self.code.jump_constant(Jump::Equal, 0, 0, leaves);
            self.code.alu(Alu::Move, HIT, 0);
        }
        let keys: Vec<Expression> = grouping.iter().flat_map(|g| g.keys.iter().map(Key::expression)).collect();
        let sum = grouping.and_then(|grouping| grouping.sum.as_ref());
        let used: Vec<&Expression> = when.iter().copied().chain(&keys).chain(sum).collect();
        self.variables(&used);
        for part in &when {
            compile::expression(&mut self.code, part, self.site.reader())?;
            self.code.jump_constant(Jump::Equal, 0, 0, rejects);
        }
        if is_last {
            self.add_one(self.maps.met, self.number);
        }
        if let Some(grouping) = grouping {
            self.group(grouping, &keys)?;
        }
        if is_last && conditions.only_counts() {
            self.code.jump(Jump::Always, 0, 0, rejects);
        } else {
            self.pass();
        }
        self.code.place(rejects);
        if self.is_end {
            self.map_and_key(self.maps.open_calls, CALL_KEY);
            self.code.call(Helper::MapDelete);
        }
        self.code.place(leaves);
        self.code.alu_constant(Alu::Move, 0, 0);
        self.code.exit();
        Some(())
    }

    /// Stores the key of the call among open ones.
    fn call_key(&mut self) {
        self.code.call(Helper::ProcessAndThread);
        self.code.store_half(FRAME, CALL_KEY, 0);
        self.code.store_half_constant(FRAME, CALL_KEY + WORD / 2, self.number as i32);
        if self.site == Site::Function {
            self.code.load(1, CONTEXT, registers::STACK_POINTER);
            self.code.store(FRAME, CALL_KEY + WORD, 1);
        } else {
            self.code.store_constant(FRAME, CALL_KEY + WORD, 0);
        }
    }

    /// Stores the values of the variables that expressions use.
    fn variables(&mut self, of: &[&Expression]) {
        let arguments = (0..ARGUMENTS as u8).map(Variable::Argument);
        let others = [Variable::Return, Variable::Time, Variable::Pid, Variable::Tid, Variable::Cpu, Variable::Uid];
        for variable in arguments.chain(others).filter(|v| of.iter().any(|expression| expression.uses(*v))) {
            self.variable(variable);
            self.code.store(FRAME, slot(variable.slot()), 0);
        }
    }

    /// Loads a variable to register 0.
    fn variable(&mut self, variable: Variable) {
        match variable {
            Variable::Argument(n) if self.is_end => self.code.load(0, HIT, HIT_ARGUMENTS + i16::from(n) * WORD),
            Variable::Argument(n) => match self.site {
                Site::Function | Site::KernelFunction => {
                    self.code.load(0, CONTEXT, registers::ARGUMENTS[usize::from(n)]);
                }
                Site::Tracepoint(arguments) | Site::Entry(arguments, _) if usize::from(n) < arguments => {
                    self.code.load(0, CONTEXT, i16::from(n) * WORD);
                }
                Site::Tracepoint(_) | Site::Entry(..) => self.code.alu_constant(Alu::Move, 0, 0),
                Site::SystemCall => {
                    let offset = match n {
                        3 => registers::FOURTH_OF_SYSTEM_CALL,
                        n => registers::ARGUMENTS[usize::from(n)],
                    };
                    self.code.load(3, CONTEXT, 0);
                    self.code.alu_constant(Alu::Add, 3, offset.into());
                    self.code.alu_constant(Alu::Move, 2, WORD.into());
                    self.address(1, FRAME_USED);
                    self.code.store_constant(FRAME, FRAME_USED, 0);
                    self.code.call(Helper::ReadKernel);
                    self.code.load(0, FRAME, FRAME_USED);
                }
            },
            Variable::Return if self.site == Site::SystemCall => self.code.load(0, CONTEXT, WORD),
            Variable::Return => self.code.load(0, CONTEXT, registers::RESULT),
            Variable::Time => {
                self.code.call(Helper::Time);
                self.code.load(1, HIT, HIT_TIME);
                self.code.alu(Alu::Subtract, 0, 1);
            }
            Variable::Pid => {
                self.code.call(Helper::ProcessAndThread);
                self.code.alu_constant(Alu::ShiftRight, 0, 32);
            }
            Variable::Tid => {
                self.code.call(Helper::ProcessAndThread);
                self.lower_half();
            }
            Variable::Cpu => self.code.call(Helper::Processor),
            Variable::Uid => {
                self.code.call(Helper::User);
                self.lower_half();
            }
        }
    }

    fn lower_half(&mut self) {
        self.code.alu_constant(Alu::ShiftLeft, 0, 32);
        self.code.alu_constant(Alu::ShiftRight, 0, 32);
    }

    /// Counts the call in its group, or leaves its values for the program behind the gate.
    fn group(&mut self, grouping: &Grouping, keys: &[Expression]) -> Option<()> {
        let (first, sum) = match grouping.has_stack {
            true => (KEYS, KEYS + KEYS_MAX as i16 * WORD),
            false => (GROUP_KEY + WORD, SUM),
        };
        for n in 0..KEYS_MAX {
            self.value(keys.get(n), first + n as i16 * WORD)?;
        }
        self.value(grouping.sum.as_ref(), sum)?;
        for (n, key) in grouping.keys.iter().enumerate() {
            if matches!(key, Key::Process | Key::Thread) {
                self.name(first + n as i16 * WORD);
            }
        }
        match (grouping.has_stack, self.is_end) {
            (false, _) => self.count(),
            (true, true) => {
                for n in 0..=KEYS_MAX as i16 {
                    self.code.load(1, FRAME, KEYS + n * WORD);
                    self.code.store(HIT, HIT_KEYS + n * WORD, 1);
                }
            }
            (true, false) => self.update(self.maps.keys_of_call, CALL_KEY, KEYS, 0),
        }
        Some(())
    }

    fn value(&mut self, of: Option<&Expression>, to: i16) -> Option<()> {
        match of {
            Some(expression) => {
                compile::expression(&mut self.code, expression, self.site.reader())?;
                self.code.store(FRAME, to, 0);
            }
            None => self.code.store_constant(FRAME, to, 0),
        }
        Some(())
    }

    /// Keeps the name of the current thread under a number, for processes that end before the measurement does.
    fn name(&mut self, number_at: i16) {
        let is_known = self.code.label();
        self.code.load(1, FRAME, number_at);
        self.code.store_half(FRAME, NUMBER, 1);
        self.lookup(self.maps.names, NUMBER);
        self.code.jump_constant(Jump::NotEqual, 0, 0, is_known);
        self.address(1, NAME);
        self.code.alu_constant(Alu::Move, 2, NAME_BYTES);
        self.code.call(Helper::Command);
        self.update(self.maps.names, NUMBER, NAME, 0);
        self.code.place(is_known);
    }

    fn count(&mut self) {
        let (found, done) = (self.code.label(), self.code.label());
        self.code.store_constant(FRAME, GROUP_KEY, self.number as i32);
        self.lookup(self.maps.groups, GROUP_KEY);
        self.code.jump_constant(Jump::NotEqual, 0, 0, found);
        self.code.store_constant(FRAME, GROUP, 0);
        self.code.store_constant(FRAME, GROUP + WORD, 0);
        self.update(self.maps.groups, GROUP_KEY, GROUP, NO_EXIST);
        self.lookup(self.maps.groups, GROUP_KEY);
        self.code.jump_constant(Jump::NotEqual, 0, 0, found);
        self.add_one(self.maps.groups_lost, 0);
        self.code.jump(Jump::Always, 0, 0, done);
        self.code.place(found);
        self.code.alu_constant(Alu::Move, 1, 1);
        self.code.atomic_add(0, 0, 1);
        self.code.load(1, FRAME, SUM);
        self.code.atomic_add(0, WORD, 1);
        self.code.place(done);
    }

    /// Adds one to an element of an array.
    fn add_one(&mut self, map: i32, element: u32) {
        let is_missing: Label = self.code.label();
        self.code.store_half_constant(FRAME, NUMBER, element as i32);
        self.lookup(map, NUMBER);
        self.code.jump_constant(Jump::Equal, 0, 0, is_missing);
        self.code.alu_constant(Alu::Move, 1, 1);
        self.code.atomic_add(0, 0, 1);
        self.code.place(is_missing);
    }

    /// Goes on to the program behind the gate.
    fn pass(&mut self) {
        let index = match self.site {
            _ if self.is_end => PASSED_END,
            Site::Tracepoint(arguments) => PASSED_TRACEPOINT + arguments as u32,
            _ => PASSED_BEGIN,
        };
        self.code.alu(Alu::Move, 1, CONTEXT);
        self.code.map(2, self.maps.passed);
        self.code.alu_constant(Alu::Move, 3, index as i32);
        self.code.call(Helper::TailCall);
    }

    fn address(&mut self, to: u8, offset: i16) {
        self.code.alu(Alu::Move, to, FRAME);
        self.code.alu_constant(Alu::Add, to, offset.into());
    }

    fn map_and_key(&mut self, map: i32, key: i16) {
        self.code.map(1, map);
        self.address(2, key);
    }

    fn lookup(&mut self, map: i32, key: i16) {
        self.map_and_key(map, key);
        self.code.call(Helper::MapLookup);
    }

    fn update(&mut self, map: i32, key: i16, value: i16, flags: i32) {
        self.map_and_key(map, key);
        self.address(3, value);
        self.code.alu_constant(Alu::Move, 4, flags);
        self.code.call(Helper::MapUpdate);
    }
}
