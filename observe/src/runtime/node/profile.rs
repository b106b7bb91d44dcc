//! Profile of V8: samples of one thread's JavaScript stack at known times.
//!
//! The profile is of wall time: it has samples of JavaScript that waits in a system call, and of the idle loop. Samples
//! from the kernel's clock are of processor time and show native code and the kernel, but no JavaScript. Both use
//! CLOCK_MONOTONIC, so each native stack gets the JavaScript of the nearest sample of V8:
//!
//! ```text
//!   native      main  node::Start  uv_run  [code without a name]  ..  v8::internal::JsonParser  memcpy
//!   V8                                     handle server.js:10    parse server.js:44
//!   joined                                 handle server.js:10    parse server.js:44  v8::..  memcpy
//! ```

use std::collections::HashMap;
use std::rc::Rc;

use serde_json::Value;

use yunti_probe::native::NativeSample;
use yunti_probe::stack::{Frame, Kind};

/// Distance in time between a native sample and one of V8 above which they are not joined. On a busy machine V8's
/// sampler is late.
const NEAR_US: u64 = 50_000;
/// Samples of V8 on each side of a time that are compared.
const AROUND: usize = 25;
/// Stacks deeper than this are cut at the outer end.
const DEPTH_MAX: usize = 400;

/// Activity of V8 in a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    JavaScript,
    Collecting,
    Idle,
    /// Native code without JavaScript, or the wait for events.
    Program,
}

/// Stack of V8 at a time.
#[derive(Clone, Debug)]
pub struct V8Sample {
    /// Microseconds on CLOCK_MONOTONIC.
    pub at_us: u64,
    /// Microseconds until the next sample.
    pub for_us: u64,
    pub state: State,
    /// JavaScript, the outermost first.
    pub frames: Rc<[Frame]>,
}

/// Samples in the order of time.
#[derive(Clone, Debug, Default)]
pub struct Profile {
    pub samples: Vec<V8Sample>,
}

impl Profile {
    /// Reads the result of `Profiler.stop`.
    pub fn of(profile: &Value) -> Profile {
        let nodes = profile["nodes"].as_array().map_or(&[][..], |nodes| nodes);
        let mut parents: HashMap<u64, u64> = HashMap::new();
        let mut calls: HashMap<u64, &Value> = HashMap::new();
        for node in nodes {
            let Some(id) = node["id"].as_u64() else { continue };
            calls.insert(id, &node["callFrame"]);
            for child in node["children"].as_array().into_iter().flatten().filter_map(Value::as_u64) {
                parents.insert(child, id);
            }
        }
        let mut stacks: HashMap<u64, (State, Rc<[Frame]>)> = HashMap::new();
        let mut at_us = profile["startTime"].as_u64().unwrap_or(0);
        let ids = profile["samples"].as_array().into_iter().flatten().filter_map(Value::as_u64);
        let deltas = profile["timeDeltas"].as_array().into_iter().flatten().filter_map(Value::as_i64);
        let mut samples: Vec<V8Sample> = Vec::new();
        for (id, delta) in ids.zip(deltas) {
            at_us = at_us.saturating_add_signed(delta);
            let (state, frames) = stacks.entry(id).or_insert_with(|| stack(id, &parents, &calls)).clone();
            samples.push(V8Sample { at_us, for_us: 0, state, frames });
        }
        // V8 does not promise the order.
        samples.sort_by_key(|sample| sample.at_us);
        let end = profile["endTime"].as_u64().unwrap_or(at_us);
        for n in 0..samples.len() {
            let next = samples.get(n + 1).map_or(end, |next| next.at_us);
            samples[n].for_us = next.saturating_sub(samples[n].at_us);
        }
        Profile { samples }
    }

    /// Returns the sample with JavaScript that is nearest to a time.
    fn at(&self, us: u64) -> Option<&V8Sample> {
        let next = self.samples.partition_point(|sample| sample.at_us < us);
        let around = &self.samples[next.saturating_sub(AROUND)..(next + AROUND).min(self.samples.len())];
        let near = |sample: &&V8Sample| sample.at_us.abs_diff(us);
        around.iter().filter(|v8| !v8.frames.is_empty()).min_by_key(near).filter(|sample| near(sample) <= NEAR_US)
    }

    /// Puts JavaScript into the native stacks of a thread.
    pub fn join(&self, tid: u32, samples: &mut [NativeSample]) {
        for sample in samples.iter_mut().filter(|sample| sample.tid == tid) {
            // Without code of the JIT compiler or its entry, no JavaScript is on the stack.
            let Some(last) = sample.frames.iter().rposition(is_of_javascript) else { continue };
            let Some(v8) = self.at(sample.time_ns / 1000) else { continue };
            let first = first_native(&mut sample.frames, last);
            let native = sample.frames.split_off(first);
            let is_collecting = native.iter().any(|frame| is_of_collector(&frame.name));
            let collector = is_collecting.then(collector);
            sample.frames = v8.frames.iter().cloned().chain(collector).chain(native).collect();
        }
    }

    /// Returns the stacks of JavaScript and of the collector, in samples of a number of microseconds.
    pub fn stacks(&self, period_us: u64) -> Vec<(Rc<[Frame]>, u64)> {
        let mut sums: HashMap<*const Frame, (Rc<[Frame]>, State, u64)> = HashMap::new();
        let active = self.samples.iter().filter(|v8| matches!(v8.state, State::JavaScript | State::Collecting));
        for v8 in active {
            sums.entry(v8.frames.as_ptr()).or_insert_with(|| (v8.frames.clone(), v8.state, 0)).2 += v8.for_us;
        }
        let stack = |(frames, state, us): (Rc<[Frame]>, State, u64)| {
            let collector = (state == State::Collecting).then(collector);
            (frames.iter().cloned().chain(collector).collect(), us.div_ceil(period_us.max(1)))
        };
        sums.into_values().map(stack).collect()
    }

    /// Returns the share of the time that passes a test.
    pub fn share(&self, test: impl Fn(&V8Sample) -> bool) -> f64 {
        let sum = |test: &dyn Fn(&V8Sample) -> bool| -> u64 {
            self.samples.iter().filter(|sample| test(sample)).map(|sample| sample.for_us).sum()
        };
        sum(&test) as f64 / sum(&|_| true).max(1) as f64
    }

    /// Returns the longest time in a row, in microseconds, in which samples pass a test.
    pub fn longest_us(&self, test: impl Fn(&V8Sample) -> bool) -> u64 {
        let (mut longest, mut now) = (0, 0);
        for sample in &self.samples {
            now = if test(sample) { now + sample.for_us } else { 0 };
            longest = longest.max(now);
        }
        longest
    }
}

fn collector() -> Frame {
    Frame { name: COLLECTOR.into(), kind: Kind::Native }
}

/// Name of V8's garbage collector as a frame.
pub const COLLECTOR: &str = "(garbage collector)";

fn stack(id: u64, parents: &HashMap<u64, u64>, calls: &HashMap<u64, &Value>) -> (State, Rc<[Frame]>) {
    let (mut frames, mut state, mut next) = (Vec::new(), State::JavaScript, Some(id));
    while let Some(id) = next.filter(|_| frames.len() < DEPTH_MAX) {
        if let Some(call) = calls.get(&id) {
            match call["functionName"].as_str().unwrap_or_default() {
                "(root)" => {}
                "(program)" => state = State::Program,
                "(idle)" => state = State::Idle,
                COLLECTOR => state = State::Collecting,
                name => frames.push(frame(name, call)),
            }
        }
        next = parents.get(&id).copied();
    }
    frames.reverse();
    (state, frames.into())
}

/// Returns the frame of a call: `total cart.js:12`, `handle express/router.js:47`, `readFileSync node:fs:451`.
fn frame(name: &str, call: &Value) -> Frame {
    let url = call["url"].as_str().unwrap_or_default();
    let line = call["lineNumber"].as_i64().unwrap_or(-1) + 1;
    let name = if name.is_empty() { "(anonymous)" } else { name };
    match url {
        // A function of C++.
        "" if line <= 0 => return Frame { name: name.into(), kind: Kind::Native },
        // Code made of text: eval, new Function.
        "" => return Frame { name: format!("{name} eval:{line}").into(), kind: Kind::JavaScript },
        _ => {}
    }
    Frame { name: format!("{name} {}:{line}", place(url)).into(), kind: Kind::JavaScript }
}

/// Returns the name of a script without its folders. Scripts of packages keep the package, those of Node.js their whole
/// name.
pub fn place(url: &str) -> String {
    let file = |path: &str| path.rsplit('/').next().unwrap_or(path).to_owned();
    if url.starts_with("node:") {
        return url.to_owned();
    }
    if !url.starts_with('/') && !url.contains("://") {
        // Node.js before 16 names its own scripts without a scheme.
        return if url.starts_with("evalmachine") {
            url.to_owned()
        } else {
            format!("node:{}", url.trim_end_matches(".js"))
        };
    }
    match url.rsplit_once("/node_modules/") {
        None => file(url),
        Some((_, path)) => {
            let parts = if path.starts_with('@') { 2 } else { 1 };
            let package: Vec<&str> = path.split('/').take(parts).collect();
            format!("{}/{}", package.join("/"), file(path))
        }
    }
}

/// Returns true for code of V8's compilers and interpreter.
fn is_of_javascript(frame: &Frame) -> bool {
    let name = &*frame.name;
    frame.kind == Kind::Native && (name == "[code without a name]" || name.starts_with("Builtins_"))
}

/// Returns true for a built-in function that does work of its own, such as the sorting of an array.
fn is_named_builtin(frame: &Frame) -> bool {
    const PASSAGES: [&str; 9] =
        ["Trampoline", "JSEntry", "CEntry", "Call", "Interpreter", "Handler", "Construct", "Adaptor", "Bytecode"];
    frame.name.starts_with("Builtins_") && !PASSAGES.iter().any(|passage| frame.name.contains(passage))
}

/// Returns the place in a stack from which on it is native code, called from JavaScript.
///
/// @param last the innermost frame of V8's code
fn first_native(frames: &mut [Frame], last: usize) -> usize {
    // Regular expressions are compiled too, and no profile of V8 has them.
    if last > 0 && !frames[last].name.starts_with("Builtins_") && frames[last - 1].name.contains("RegExp") {
        frames[last].name = COMPILED_EXPRESSION.into();
        return last - 1;
    }
    if is_named_builtin(&frames[last]) { last } else { last + 1 }
}

const COMPILED_EXPRESSION: &str = "RegExp (compiled)";

/// Returns true for V8's functions that collect garbage.
pub fn is_of_collector(name: &str) -> bool {
    const COLLECTORS: [&str; 5] = [
        "Heap::CollectGarbage",
        "MarkCompactCollector",
        "ScavengerCollector",
        "Heap::PerformGarbage",
        "IncrementalMarking",
    ];
    COLLECTORS.iter().any(|collector| name.contains(collector))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn profile() -> Profile {
        let node = |id: u64, name: &str, url: &str, line: i64, children: &[u64]| json!({"id": id, "callFrame": {"functionName": name, "url": url, "lineNumber": line}, "children": children});
        Profile::of(&json!({
            "nodes": [
                node(1, "(root)", "", -1, &[2, 3, 4]),
                node(2, "(program)", "", -1, &[]),
                node(3, "(idle)", "", -1, &[]),
                node(4, "", "file:///srv/shop/server.js", 9, &[5, 6]),
                node(5, "(garbage collector)", "", -1, &[]),
                node(6, "handle", "/srv/shop/node_modules/@acme/router/lib/index.js", 41, &[7]),
                node(7, "readFileSync", "node:fs", 450, &[]),
            ],
            "startTime": 1000, "endTime": 9000,
            "samples": [3, 4, 5, 7, 7, 2],
            "timeDeltas": [1000, 1000, 1000, 1000, 1000, 1000],
        }))
    }

    #[test]
    fn stacks_with_names_and_times() {
        let profile = profile();
        let names: Vec<_> = profile.samples[3].frames.iter().map(|frame| &*frame.name).collect();
        assert_eq!(names, ["(anonymous) server.js:10", "handle @acme/router/index.js:42", "readFileSync node:fs:451"]);
        let states: Vec<State> = profile.samples.iter().map(|sample| sample.state).collect();
        use State::{Collecting, Idle, JavaScript, Program};
        assert_eq!(states, [Idle, JavaScript, Collecting, JavaScript, JavaScript, Program]);
        assert_eq!((profile.samples[0].at_us, profile.samples[5].for_us), (2000, 2000));
        assert!((profile.share(|v8| v8.state == Collecting) - 1.0 / 7.0).abs() < 1e-9);
        assert_eq!(profile.longest_us(|v8| v8.frames.len() == 3), 2000);
        let mut stacks = profile.stacks(1000);
        stacks.sort_by_key(|(frames, _)| frames.len());
        let shapes: Vec<_> = stacks.iter().map(|(frames, n)| (frames.len(), *n)).collect();
        assert_eq!(shapes, [(1, 1), (2, 1), (3, 2)]);
        assert_eq!(place("internal/process/task_queues.js"), "node:internal/process/task_queues");
    }

    #[test]
    fn native_stacks_get_javascript() {
        let native = |names: &[&str], time_us: u64| NativeSample {
            frames: names.iter().map(|name| Frame { name: (*name).into(), kind: Kind::Native }).collect(),
            thread: "node 7".into(),
            tid: 7,
            time_ns: time_us * 1000,
            value: 1,
        };
        let code = "[code without a name]";
        let mut samples = [
            native(&["main", "uv_run", "Builtins_JSEntry", code, "node::fs::Read", "read"], 5200),
            native(&["main", "uv_run", "epoll_wait"], 5200),
            native(&["main", "Builtins_JSEntry", code, "v8::internal::Heap::CollectGarbage(int)"], 3900),
            native(&["main", code], 90_000),
            native(&["main", "Builtins_JSEntry", code, "Builtins_RegExpPrototypeTest", code], 3900),
        ];
        profile().join(7, &mut samples);
        let names = |n: usize| samples[n].frames.iter().map(|frame| &*frame.name).collect::<Vec<_>>();
        assert_eq!(names(0)[2..], ["readFileSync node:fs:451", "node::fs::Read", "read"]);
        assert_eq!(names(1), ["main", "uv_run", "epoll_wait"]);
        assert_eq!(names(2), ["(anonymous) server.js:10", COLLECTOR, "v8::internal::Heap::CollectGarbage(int)"]);
        assert_eq!(names(3), ["main", code]);
        assert_eq!(names(4), ["(anonymous) server.js:10", "Builtins_RegExpPrototypeTest", COMPILED_EXPRESSION]);
    }
}
