//! Watches from the command line: `getaddrinfo`, `libc:malloc`, `sys:connect`, `trace:sched_switch`. Each may have
//! types of arguments: `open(s,x)`.

use std::str::FromStr;

use syscalls::Sysno;
use yunti_base::{Code, Error, Result};

use super::signature::Signature;
use yunti_probe::code;
use yunti_probe::kernel::{Hit, PROBES_MAX, Place, Probe};
use yunti_probe::target::Process;

/// A watched place, and the format of its hits.
pub struct Watch {
    pub name: String,
    pub probe: Probe,
    pub signature: Option<Signature>,
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
        match &self.probe.place {
            Place::Function(function) => function.has_end(),
            Place::SystemCall(_) => true,
            Place::Tracepoint(_) => false,
        }
    }
}

impl Watch {
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

pub fn watches(process: &Process, words: &[String]) -> Result<Vec<Watch>> {
    let mut all: Vec<Watch> = Vec::new();
    for word in words {
        for watch in watched(process, word)? {
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

fn watched(process: &Process, word: &str) -> Result<Vec<Watch>> {
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
        return Ok(vec![watch(name.to_owned(), Place::Tracepoint(tracepoint.to_owned()), signature)]);
    }
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
    Watch { name, probe: Probe { place, forms }, signature }
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
        let of = |word: &str| watched(&me, word).map(|w| (w[0].name.clone(), w[0].has_end()));
        assert_eq!(of("sys:connect").unwrap(), ("sys:connect".to_owned(), true));
        assert_eq!(of("trace:sched:sched_switch").unwrap(), ("trace:sched:sched_switch".to_owned(), false));
        assert!(of("libc:getaddrinfo").unwrap().0.ends_with(":getaddrinfo"));
        for wrong in ["sys:no_such_call", "no_such_function", "libc:open(q)"] {
            assert!(of(wrong).is_err(), "{wrong}");
        }
    }
}
