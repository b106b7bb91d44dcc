//! Functions and tracepoints of the kernel by their types (BTF): parameters, and why a function cannot be watched.

use std::fs;
use std::os::fd::OwnedFd;
use std::path::Path;

use libbpf_rs::btf::types::{Func, FuncProto};
use libbpf_rs::btf::{Btf, BtfType};
use libbpf_rs::{Object, ReferencesType};
use yunti_base::{Code, Error, Result};

use super::gates::entry_gate;
use crate::condition::Conditions;
use crate::condition::assembler::{Alu, Assembler};
use crate::condition::load::{Type, attach, load};

/// Directory that the kernel has if it has kprobes.
const KPROBES: &str = "/sys/bus/event_source/devices/kprobe";

/// Types of the kernel; `None` if it has none.
pub struct KernelTypes(Option<Btf<'static>>);

impl KernelTypes {
    /// Reads the types, which takes some 50 ms.
    pub fn read() -> KernelTypes {
        KernelTypes(Btf::from_vmlinux().ok())
    }

    /// Returns the names of a tracepoint's parameters; `None` if its type is not known.
    pub fn of_tracepoint(&self, name: &str) -> Option<Vec<String>> {
        // The kernel calls programs from this function; the first parameter is their own.
        let names = self.of_function(&format!("__traceiter_{name}"))?;
        names.get(1..).map(<[String]>::to_vec)
    }

    /// Returns the names of a function's parameters; `None` if its type is not known.
    pub fn of_function(&self, name: &str) -> Option<Vec<String>> {
        let function: Func = self.0.as_ref()?.type_by_name(name)?;
        names(function.referenced_type())
    }

    fn number_of_function(&self, name: &str) -> Option<u32> {
        let function: Func = self.0.as_ref()?.type_by_name(name)?;
        Some(u32::from(function.type_id()))
    }
}

fn names(of: BtfType<'_>) -> Option<Vec<String>> {
    let prototype = FuncProto::try_from(of).ok()?;
    let name = |name: Option<&std::ffi::OsStr>| name.unwrap_or_default().to_string_lossy().into_owned();
    Some(prototype.iter().map(|parameter| name(parameter.name)).collect())
}

/// Fails if the kernel has no such function.
pub fn must_exist(name: &str) -> Result<()> {
    let symbols = fs::read_to_string("/proc/kallsyms").unwrap_or_default();
    let is_function = |line: &str| {
        let mut words = line.split(' ').skip(1);
        let kind = words.next().unwrap_or_default();
        let symbol = words.next().unwrap_or_default();
        symbol.split('\t').next() == Some(name) && kind.eq_ignore_ascii_case("t")
    };
    if symbols.is_empty() || symbols.lines().any(is_function) {
        return Ok(());
    }
    let error = Error::new(Code::Input, format!("the kernel has no function '{name}'"));
    Err(error.hint("/proc/kallsyms lists them; one that the compiler has inlined is not there"))
}

/// Watches the begin of a function by a trampoline (fentry), for kernels without kprobes: its calls are counted only.
/// Fails with the reasons why neither can be had.
///
/// @param kprobe error of the attempt with a kprobe
/// @param pid the process; 0 for all but this one
pub fn watch_entry(
    object: &Object,
    name: &str,
    number: u32,
    pid: u32,
    conditions: &Conditions,
    kprobe: &libbpf_rs::Error,
) -> Result<[OwnedFd; 2]> {
    let no_kprobe = match Path::new(KPROBES).exists() {
        true => format!("kprobes: {kprobe}"),
        false => "kprobes: this kernel is built without them".to_owned(),
    };
    let refused = |why: &str| {
        Error::new(Code::Input, format!("the kernel function {name} cannot be watched: {no_kprobe}; fentry: {why}"))
            .hint("tracepoints (trace:NAME) and system calls (sys:NAME) need neither")
    };
    let types = KernelTypes::read();
    let (Some(function), Some(parameters)) = (types.number_of_function(name), types.of_function(name)) else {
        return Err(refused("the kernel's types do not have it"));
    };
    let kind = Type::Function { types: function, is_end: false };
    let is_counted = conditions.ignores_end();
    let code = match is_counted {
        true => entry_gate(object, number, pid, parameters.len(), conditions)?,
        false => nothing().unwrap_or_default(),
    };
    let program = load(kind, &code).map_err(|e| refused(&e.to_string()))?;
    let link = attach(&program, None).map_err(|e| refused(&e.to_string()))?;
    match is_counted {
        true => Ok([program, link]),
        false => Err(refused("it only counts: give --count-by without 'stack', 'return' and 'time'")),
    }
}

/// Program that does nothing: the attempt tells whether the kernel would attach one.
fn nothing() -> Option<Vec<crate::condition::assembler::Instruction>> {
    let mut code = Assembler::default();
    code.alu_constant(Alu::Move, 0, 0);
    code.exit();
    code.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_by_name() {
        let types = KernelTypes::read();
        if types.0.is_none() {
            eprintln!("SKIP parameters of the kernel: it has no types (CONFIG_DEBUG_INFO_BTF)");
            return;
        }
        assert_eq!(types.of_function("find_vma").unwrap(), ["mm", "addr"]);
        assert_eq!(types.of_tracepoint("sys_enter").unwrap(), ["regs", "id"]);
        assert!(types.of_tracepoint("surely_no_such").is_none() && types.of_function("surely_no_such").is_none());
    }

    #[test]
    fn functions_that_do_not_exist() {
        assert!(must_exist("schedule").is_ok());
        assert!(must_exist("surely_no_such").is_err());
    }
}
