//! Watches from the command line: `getaddrinfo`, `libc:malloc`, `sys:connect`, `trace:sched_switch`,
//! `kernel:find_vma`. Each may have types of arguments: `open(s,x)`.

use std::str::FromStr;

use syscalls::Sysno;
use yunti_base::{Code, Error, Result};

use super::signature::Signature;
use yunti_probe::code;
use yunti_probe::condition::Conditions;
use yunti_probe::kernel::{Form, Hit, KernelTypes, PROBES_MAX, Place, Probe};
use yunti_probe::target::Process;

/// A watched place, and the format of its hits.
pub struct Watch {
    pub name: String,
    pub probe: Probe,
    pub signature: Option<Signature>,
    /// Names of its parameters, where the kernel knows them.
    pub parameters: Option<Vec<String>>,
}

impl Watch {
    pub fn is_system_call(&self) -> bool {
        matches!(self.probe.place, Place::SystemCall(_))
    }

    pub fn is_function(&self) -> bool {
        matches!(self.probe.place, Place::Function(_))
    }

    /// Returns true if its hits have an end.
    pub fn has_end(&self) -> bool {
        self.probe.place.has_end()
    }

    /// Returns true for a call whose conditions were not decided: it did not return, or its result is unknown.
    pub fn is_undecided(&self, hit: &Hit) -> bool {
        let did_not_end = self.probe.conditions.needs_end() && hit.duration_ns.is_none();
        did_not_end || self.probe.needs_result() && hit.is_left_by_jump
    }

    /// Formats a call: `libc.so.6:open("x", 0x0)`.
    pub fn call(&self, hit: &Hit) -> String {
        let arguments = match &self.signature {
            Some(signature) => signature.arguments(&hit.arguments, &hit.texts),
            None => "..".to_owned(),
        };
        format!("{}({arguments})", self.name)
    }

    /// Formats the result; `None` if it is unknown.
    pub fn result(&self, hit: &Hit) -> Option<String> {
        hit.duration_ns.filter(|_| !hit.is_left_by_jump)?;
        Some(match (self.error_number(hit), &self.signature) {
            (Some(errno), _) => format!("-{}", error_name(errno)),
            (None, Some(signature)) => signature.result(hit.result),
            (None, None) => format!("0x{:x}", hit.result),
        })
    }

    /// Returns the errno of a failed system call. Results from -4095 to -1 are errors: see intro(2).
    pub fn error_number(&self, hit: &Hit) -> Option<i32> {
        let value = hit.result as i64;
        (self.is_system_call() && hit.duration_ns.is_some() && (-4095..0).contains(&value)).then_some(-value as i32)
    }
}

pub fn error_name(errno: i32) -> String {
    syscalls::Errno::new(errno).name().map_or_else(|| errno.to_string(), str::to_owned)
}

/// Beginnings of places that all processes share.
const SHARED: [&str; 3] = ["sys:", "trace:", "kernel:"];

/// Returns true if no word names a function of a program.
pub fn are_shared(words: &[String]) -> bool {
    words.iter().all(|word| SHARED.iter().any(|beginning| word.starts_with(beginning)))
}

/// Returns the watches. `process`: `None` for all.
pub fn watches(process: Option<&Process>, words: &[String]) -> Result<Vec<Watch>> {
    let mut all: Vec<Watch> = Vec::new();
    let mut types = None;
    for word in words {
        for watch in watched(process, word, &mut types)? {
            // A place that is named twice is watched once.
            if !all.iter().any(|other| other.probe.place.is_same(&watch.probe.place)) {
                all.push(watch);
            }
        }
    }
    if all.len() > PROBES_MAX {
        let error = Error::new(Code::Usage, format!("{} places are too many", all.len()));
        return Err(error.hint(format!("at most {PROBES_MAX} places: use narrower names")));
    }
    Ok(all)
}

fn watched(process: Option<&Process>, word: &str, types: &mut Option<KernelTypes>) -> Result<Vec<Watch>> {
    let (name, signature) = match word.split_once('(') {
        None => (word, None),
        Some((name, rest)) => (name, Some(Signature::parse(&rest.replacen(')', "", 1))?)),
    };
    if let Some(call) = name.strip_prefix("sys:") {
        let number = Sysno::from_str(call).map_err(|()| {
            Error::new(Code::Usage, format!("Linux has no system call '{call}'")).hint("see `man 2 syscalls`")
        })?;
        let place = Place::SystemCall(number.id() as u32);
        return Ok(vec![watch(name.to_owned(), place, signature.or_else(|| Signature::known(call)))]);
    }
    if let Some(tracepoint) = name.strip_prefix("trace:") {
        // perf writes `sched:sched_switch`.
        let tracepoint = tracepoint.rsplit(':').next().unwrap_or(tracepoint);
        let mut watch = watch(name.to_owned(), Place::Tracepoint(tracepoint.to_owned()), signature);
        watch.parameters = types.get_or_insert_with(KernelTypes::read).of_tracepoint(tracepoint);
        return Ok(vec![watch]);
    }
    if let Some(function) = name.strip_prefix("kernel:") {
        let mut watch = watch(name.to_owned(), Place::KernelFunction(function.to_owned()), signature);
        if watch.probe.forms.iter().any(|form| *form != Form::Number) {
            let error = Error::new(Code::Usage, format!("{name}: texts of kernel functions cannot be read"));
            return Err(error.hint("give their arguments as numbers: d, l, u or x"));
        }
        watch.parameters = types.get_or_insert_with(KernelTypes::read).of_function(function);
        return Ok(vec![watch]);
    }
    let Some(process) = process else {
        return Err(Error::new(Code::Usage, format!("no process is named that has '{name}'")).hint("give -p or -n"));
    };
    let (library, function) = library_and_function(name);
    let found = code::find(process, library, function);
    if found.is_empty() {
        if !process.is_alive() {
            return Err(process.has_ended());
        }
        let whose = library.map_or_else(
            || format!("process {}", process.pid),
            |l| format!("a library '{l}' of process {}", process.pid),
        );
        let error = Error::new(Code::Input, format!("{whose} has no function '{function}'"));
        return Err(error.hint(
            "write sys:NAME for a system call; a library without symbols has only its exported functions (nm -D)",
        ));
    }
    Ok(found
        .into_iter()
        .map(|f| {
            let signature = signature.clone().or_else(|| Signature::known(&f.name));
            watch(format!("{}:{}", f.file, f.name), Place::Function(f), signature)
        })
        .collect())
}

fn watch(name: String, place: Place, signature: Option<Signature>) -> Watch {
    let forms = signature.as_ref().map(Signature::forms).unwrap_or_default();
    Watch { name, probe: Probe { place, forms, conditions: Conditions::default() }, signature, parameters: None }
}

/// Splits `libc:malloc` into library and function. The colons of `ns::function` belong to the name.
fn library_and_function(name: &str) -> (Option<&str>, &str) {
    match name.split_once(':') {
        Some((library, function)) if !function.starts_with(':') && !library.is_empty() => (Some(library), function),
        _ => (None, name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        assert_eq!(library_and_function("libc:malloc"), (Some("libc"), "malloc"));
        assert_eq!(library_and_function("a::b"), (None, "a::b"));
        assert_eq!(library_and_function("libx:a::b"), (Some("libx"), "a::b"));
        assert_eq!(library_and_function("malloc"), (None, "malloc"));
    }

    #[test]
    fn places() {
        let me = Process::of(std::process::id()).unwrap();
        let of = |word: &str| watched(Some(&me), word, &mut None).map(|w| (w[0].name.clone(), w[0].has_end()));
        assert_eq!(of("sys:connect").unwrap(), ("sys:connect".to_owned(), true));
        assert_eq!(of("trace:sched:sched_switch").unwrap(), ("trace:sched:sched_switch".to_owned(), false));
        assert!(of("libc:getaddrinfo").unwrap().0.ends_with(":getaddrinfo"));
        assert_eq!(of("kernel:find_vma").unwrap(), ("kernel:find_vma".to_owned(), true));
        assert!(watched(None, "open", &mut None).is_err());
        for wrong in ["sys:no_such_call", "no_such_function", "libc:open(q)", "kernel:vfs_open(s)"] {
            assert!(of(wrong).is_err(), "{wrong}");
        }
    }
}
