//! Causes in processor time: one function that has most of it, or system calls.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use crate::why::account::waiting::{self, of_c_library, shown};
use crate::why::causes::finding::{
    COST_MIN, Finding, GIVING_BACK_FRAMES, PAGE_FAULT_FRAMES, has_frame, of_processor, percent,
};
use crate::why::causes::processor::saturated;
use crate::why::causes::runtimes::node;
use crate::why::facts::Facts;
use yunti_probe::stack::{Frame, Kind};

/// Share of processor time from which on one function counts as hot. Services of many functions stay far below it.
const HOT_MIN: f64 = 0.6;
/// Share of processor time in system calls of one kind from which on they are reported.
const CALLS_MIN: f64 = 0.5;

/// Utilisation of the processors from which on the process uses all of them.
const ALL_PROCESSORS: f64 = 0.9;
/// Beginning of the sentence about a process that computes on all of them.
const COMPUTES: &str = "It computes on all its processors, and nothing else holds it up";

/// The same for system calls that move data.
const DATA_CALLS_MIN: f64 = 0.7;

/// Function that has most of the processor time.
struct Hot {
    /// Innermost function that has it, which may be of a library.
    name: Rc<str>,
    share: f64,
    /// The program's own function that calls it, if it is another one.
    caller: Option<Rc<str>>,
}

/// Returns the program's own function with the most page faults.
pub fn faulting_function(facts: &Facts) -> Option<Rc<str>> {
    facts.own_function(|frames| has_frame(frames, &PAGE_FAULT_FRAMES)).map(|(name, _)| name)
}

/// Finds the innermost function that is on at least [`HOT_MIN`] of the stacks.
fn innermost(facts: &Facts) -> Option<Hot> {
    let (name, share) = innermost_of(&facts.on_cpu.iter().map(|(frames, n)| (&frames[..], *n)).collect::<Vec<_>>())?;
    Some(Hot { share, caller: caller(facts, &name), name })
}

/// Returns the innermost function that is on most stacks with a function on them.
///
/// @param least share of those stacks
pub fn innermost_within(facts: &Facts, name: &str, least: f64) -> Option<Rc<str>> {
    let within = |(frames, n): &'_ (Rc<[Frame]>, u64)| {
        let at = frames.iter().position(|frame| &*frame.name == name)?;
        Some((at, *n))
    };
    let stacks: Vec<(&[Frame], u64)> =
        facts.on_cpu.iter().filter_map(|stack| within(stack).map(|(at, n)| (&stack.0[at..], n))).collect();
    innermost_of(&stacks).filter(|(_, share)| *share >= least).map(|(name, _)| name)
}

/// Returns the innermost function of at least [`HOT_MIN`] of these stacks, with its share.
fn innermost_of(stacks: &[(&[Frame], u64)]) -> Option<(Rc<str>, f64)> {
    let all: u64 = stacks.iter().map(|(_, n)| n).sum();
    let mut functions: HashMap<&Rc<str>, (u64, f64)> = HashMap::new();
    for (frames, n) in stacks {
        let mut seen = HashSet::new();
        for (depth, frame) in frames.iter().enumerate().filter(|(_, frame)| is_code(frame)) {
            if seen.insert(&frame.name) {
                let sum = functions.entry(&frame.name).or_default();
                sum.0 += n;
                sum.1 += depth as f64 * *n as f64;
            }
        }
    }
    let often = functions.into_iter().filter(|(_, (n, _))| *n as f64 >= HOT_MIN * all as f64);
    let depth = |(n, depths): (u64, f64)| depths / n as f64;
    let (name, (n, _)) = often.max_by(|a, b| depth(a.1).total_cmp(&depth(b.1)).then_with(|| b.0.cmp(a.0)))?;
    Some((name.clone(), n as f64 / all.max(1) as f64))
}

/// Share of a function's samples that one caller has from which on the sentence names it, if both are the program's
/// own.
const CALLER_MIN: f64 = 0.6;

/// Returns the program's own function that calls a function most often.
fn caller(facts: &Facts, name: &str) -> Option<Rc<str>> {
    let (mut callers, mut all): (HashMap<Rc<str>, u64>, u64) = Default::default();
    for (frames, n) in &facts.on_cpu {
        let Some(at) = frames.iter().position(|frame| &*frame.name == name) else { continue };
        all += n;
        if let Some(user) = waiting::user_frame(&frames[..=at]) {
            *callers.entry(user.name.clone()).or_default() += n;
        }
    }
    let most = |sums: HashMap<Rc<str>, u64>| sums.into_iter().max_by(|a, b| a.1.cmp(&b.1).then_with(|| b.0.cmp(&a.0)));
    let (user, _) = most(callers)?;
    if &*user != name {
        return Some(user);
    }
    let mut callers: HashMap<Rc<str>, u64> = HashMap::new();
    for (frames, n) in &facts.on_cpu {
        let Some(at) = frames.iter().position(|frame| &*frame.name == name) else { continue };
        if let Some(own) = waiting::own_frame(&frames[..at]).filter(|own| !is_loop(&own.name)) {
            *callers.entry(own.name.clone()).or_default() += n;
        }
    }
    most(callers).filter(|(_, n)| *n as f64 >= CALLER_MIN * all as f64).map(|(own, _)| own)
}

/// Returns true for outermost functions, which say nothing about what is called from them.
fn is_loop(name: &str) -> bool {
    ["main", "main.main", "run", "start_thread"].contains(&name) || name.ends_with("::main")
}

fn is_code(frame: &Frame) -> bool {
    !matches!(frame.kind, Kind::Kernel | Kind::Jvm | Kind::Group)
        && !crate::why::causes::runtimes::python::is_state(&frame.name)
}

/// Returns the share of the samples whose innermost function is this one.
fn own_share(facts: &Facts, name: &str) -> f64 {
    facts.cpu_share(|frames| frames.iter().rfind(|frame| is_code(frame)).is_some_and(|frame| &*frame.name == name))
}

/// Shapes of hot code that are known, by parts of function names: what it is, and its cure.
const SHAPES: [(&[&str], &str, &str); 12] = [
    (
        &["gc_collect", "cyclic garbage collector"],
        "the garbage collector of Python runs all the time, by gc.collect() or its thresholds",
        "no gc.collect() in the loop; gc.freeze() after the start, and higher thresholds",
    ),
    (
        &["JsonParser", "JsonStringifier", "JsonParse"],
        "large values are read from or written as JSON",
        "smaller values, a cache of the text, a stream, or a worker thread for it",
    ),
    (
        &["HashMap$TreeNode.", "HashMap.getNode", "HashMap.putVal", "lookdict", "ConcurrentHashMap$TreeBin"],
        "many keys have the same hash",
        "a hashCode that spreads the keys",
    ),
    (
        &["java.util.regex.Pattern$", "re_exec", "sre_", "pcre", "onig", "regexp.(*", "RegExp"],
        "a regular expression backtracks or is matched too often",
        "an expression without nested repetition, possessive or atomic groups, or a match of plain text first",
    ),
    (
        &["fillInStackTrace", "Throwable.<init>", "_Unwind_RaiseException", "__cxa_throw"],
        "exceptions are thrown all the time",
        "no exceptions in the usual course: return a value, or reuse an exception without a stack trace",
    ),
    (
        &["ArrayList.contains", "ArrayList.indexOf", "LinkedList.", "list_contains", "ArrayList.remove"],
        "a list is searched from its beginning each time",
        "a hash set or a map instead of the list",
    ),
    (
        &["StringBuilder.insert", "StringConcatHelper", "String.concat", "StringLatin1.inflate", "unicode_concat"],
        "text is built anew for each part",
        "one StringBuilder for the whole text, appended to",
    ),
    (
        &["java.lang.reflect.", "jdk.internal.reflect.", "Class.getDeclared", "Class.getMethod", "Class.forName"],
        "reflection looks up the same members each time",
        "look them up once and keep them (MethodHandle, a cache by class)",
    ),
    (
        &["onSpinWait", "sched_yield", "Thread.yield", "spin_lock", "spin_loop"],
        "it spins while it waits",
        "a lock that sleeps, or a wait for a condition",
    ),
    (
        &[
            "memcpy",
            "memmove",
            "System.arraycopy",
            "Arrays.copyOf",
            "jbyte_disjoint",
            "jlong_disjoint",
            "runtime.memmove",
        ],
        "memory is copied, which grows with the square of the data if each step copies what is there already",
        "collect the pieces and join them once, grow buffers by a factor, pass views instead of copies",
    ),
    (
        &["java.util.zip.", "deflate", "inflate"],
        "it compresses or expands",
        "a lower level, a faster codec, or compress once and keep the result",
    ),
    (
        &["SecureRandom", "MessageDigest", "Cipher", "BCrypt", "PBKDF2", "pbkdf2", "scrypt"],
        "it computes a digest or encrypts",
        "fewer rounds where that is safe, a cache of verified tokens, or other threads for it",
    ),
];

/// Shapes that may be all that a program has to do.
const OF_WORK: [&str; 2] = ["it compresses or expands", "it computes a digest or encrypts"];

/// Returns the known shape of hot code, by the functions below the caller.
fn shape(facts: &Facts, hot: &Hot) -> Option<(&'static str, &'static str)> {
    let of = |signs: &[&str]| {
        facts.cpu_share(|frames| {
            frames.iter().any(|frame| frame.name == hot.name)
                && frames.iter().rev().take(6).any(|frame| signs.iter().any(|sign| frame.name.contains(sign)))
        })
    };
    SHAPES.iter().find(|(signs, ..)| of(signs) >= HOT_MIN * 0.8).map(|(_, what, cure)| (*what, *cure))
}

pub fn hot_method(facts: &Facts) -> Option<Finding> {
    let hot = innermost(facts)?;
    if system_calls(facts).is_some() {
        return None; // Its caller has no code of its own that is hot.
    }
    // V8's collector has causes of its own.
    if facts.cpu_share(node::collects) >= HOT_MIN {
        return None;
    }
    // Data that a call moves is the program's work.
    if DATA_CALLS.contains(&of_c_library(&hot.name)) {
        return None;
    }
    let (own, own_time) = facts.hottest()?;
    // The function's share of the time outside memory management.
    let memory =
        facts.cpu_share(|frames| has_frame(frames, &PAGE_FAULT_FRAMES) || has_frame(frames, &GIVING_BACK_FRAMES));
    // A function that only appears hot because it first touches pages is not a cause of its own.
    let faulting = faulting_function(facts);
    if memory > COST_MIN && faulting.is_some_and(|place| place == own || place == hot.name) {
        return None;
    }
    // A function around all work is on every stack, and is hot only if the work is its own or of one function.
    let share = own_time.max(own_share(facts, &hot.name));
    if share / (1.0 - memory).max(0.1) < HOT_MIN {
        return None;
    }
    let called = hot.caller.as_ref().map_or_else(String::new, |caller| format!(", called from {}", shown(caller)));
    let known = shape(facts, &hot);
    let thread = saturated::where_it_runs(facts);
    let is_work = known.is_none_or(|(what, _)| OF_WORK.contains(&what));
    let because = known.map_or_else(String::new, |(what, _)| format!(": {what}"));
    Some(Finding {
        cause: "hot-method",
        cost: share * of_processor(facts),
        // A computation on all processors may be all that there is to do. No measurement can tell.
        sentence: format!(
            "{}: {} takes {} of its processor time{called}{because}{thread}.",
            if facts.utilisation() >= ALL_PROCESSORS && is_work { COMPUTES } else { "One method bounds it" },
            shown(&hot.name),
            percent(hot.share)
        ),
        evidence: vec![format!(
            "{:.2} processors used of {:.2}",
            facts.cpu_seconds() / facts.seconds,
            facts.processors
        )],
        cure: format!(
            "{}; `yunti observe flame` shows who calls it",
            known.map_or("a better algorithm there, or calling it less", |(_, cure)| cure)
        ),
    })
}

/// Share of the processor time in calls that wake all waiting threads from which on they are too many.
const HERD_MIN: f64 = 0.3;

fn wakes_all(frames: &[Frame]) -> bool {
    const ALL: [&str; 4] = ["pthread_cond_broadcast", "notify_all", "notifyAll", "signalAll"];
    frames.iter().any(|frame| ALL.iter().any(|all| frame.name.contains(all)))
}

/// System calls that move the program's data, whose time is its work.
const DATA_CALLS: [&str; 12] = [
    "read", "write", "pread64", "pwrite64", "readv", "writev", "sendto", "recvfrom", "sendmsg", "recvmsg", "sendfile",
    "splice",
];

/// Finds system calls other than for data that take most of the processor time.
pub fn system_calls(facts: &Facts) -> Option<Finding> {
    // A tracer that stops each call makes the calls long.
    if facts.stops_of_tracer().per_second > 0.0 {
        return None;
    }
    let all: u64 = facts.on_cpu.iter().map(|(_, n)| n).sum();
    let mut calls: HashMap<&str, u64> = HashMap::new();
    for (frames, n) in &facts.on_cpu {
        if let Some(call) = system_call(frames) {
            *calls.entry(call).or_default() += n;
        }
    }
    let (call, n) = calls.into_iter().max_by(|a, b| a.1.cmp(&b.1).then_with(|| b.0.cmp(a.0)))?;
    let share = n as f64 / all.max(1) as f64;
    let memory = ["munmap", "madvise", "brk", "mmap", "mprotect", "mremap"];
    // The time of calls for data is the program's work, unless nothing but calls is left.
    let is_data = DATA_CALLS.contains(&call);
    if share < if is_data { DATA_CALLS_MIN } else { CALLS_MIN } || memory.contains(&call) {
        return None;
    }
    let place = facts.own_function(|frames| system_call(frames) == Some(call));
    let place = place.map_or_else(String::new, |(name, _)| format!(", called from {}", shown(&name)));
    let is_herd = call == "futex" && facts.cpu_share(wakes_all) >= HERD_MIN;
    let herd = if is_herd { "; it wakes all threads that wait there, for work of one (a thundering herd)" } else { "" };
    let each = bytes_each(facts, call).map_or_else(String::new, |n| {
        format!("; each call moves {n:.0} byte{} on average: there is no buffer", if n < 1.5 { "" } else { "s" })
    });
    Some(Finding {
        cause: "system-calls",
        cost: share * of_processor(facts),
        sentence: format!(
            "System calls bound it: {call}() takes {} of its processor time{place}{herd}{each}.",
            percent(share)
        ),
        evidence: vec![format!("{:.0} context switches per second", facts.switches / facts.seconds.max(0.001))],
        cure: if is_herd {
            "wake one (notify_one, pthread_cond_signal, notify) for each piece of work"
        } else if is_data {
            "larger pieces for each call: a buffer, readv, writev, sendmmsg"
        } else {
            "fewer of these calls: several at once, a cache of what they return, or a wait instead of asking again"
        }
        .to_owned(),
    })
}

/// Bytes of a call below which a buffer would bring more at once.
const SMALL_BYTES: f64 = 512.0;

/// Returns the bytes that calls of this kind move on average, if these are few.
fn bytes_each(facts: &Facts, call: &str) -> Option<f64> {
    let (calls, bytes) = match call {
        "read" | "pread64" | "readv" | "preadv" => (facts.io.reads, facts.io.read_bytes),
        "write" | "pwrite64" | "writev" | "pwritev" => (facts.io.writes, facts.io.written_bytes),
        _ => return None,
    };
    let each = (calls > facts.seconds * 100.0).then(|| bytes / calls)?;
    (each < SMALL_BYTES).then_some(each.max(1.0))
}

/// Returns the system call of a stack: the name behind `__x64_sys_` or `__arm64_sys_`. On the way into the kernel and
/// out of it, the function of the C library tells it.
fn system_call(frames: &[Frame]) -> Option<&str> {
    let mut kernel = frames.iter().filter(|frame| frame.kind == Kind::Kernel);
    let by_kernel = kernel.find_map(|frame| frame.name.split_once("64_sys_").map(|(_, name)| name));
    let by_library = || {
        let function = frames.iter().rfind(|frame| frame.kind != Kind::Kernel)?;
        DATA_CALLS.into_iter().find(|call| *call == of_c_library(&function.name))
    };
    by_kernel.or_else(by_library)
}
