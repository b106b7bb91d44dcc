//! Threads of one kind: the same name but for its numbers, waiting in the same method. Of a service these are its
//! requests, and what they hold while they wait for something is what each more of them would need.

use std::collections::{BTreeMap, HashMap};

use super::HeldByThread;
use crate::model::name::is_of_the_jdk;

/// Threads of one kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KindOfThreads {
    /// Name with `#` for each number: `http-nio-#-exec-#`.
    pub name: String,
    /// Number of threads.
    pub threads: u64,
    /// State: `waits for a socket`.
    pub state: &'static str,
    /// Innermost method that is not of the JDK.
    pub method: Option<String>,
    /// Bytes that they retain, together.
    pub bytes: u64,
    /// Class and bytes of the local variables that hold most of it.
    pub local: Option<(String, u64)>,
}

/// Name, method, state.
type Key = (String, Option<String>, &'static str);

/// Groups threads, the kind that retains most first; single threads are left out.
pub fn kinds_of_threads(threads: &[HeldByThread]) -> Vec<KindOfThreads> {
    let mut kinds: BTreeMap<Key, (KindOfThreads, HashMap<String, u64>)> = BTreeMap::new();
    for thread in threads {
        let (name, method, state) = (pattern(&thread.name), own_method(&thread.frames), state(&thread.frames));
        let key = (name.clone(), method.clone(), state);
        let (kind, locals) = kinds.entry(key).or_insert_with(|| {
            (KindOfThreads { name, threads: 0, state, method, bytes: 0, local: None }, HashMap::new())
        });
        kind.threads += 1;
        kind.bytes += thread.bytes;
        for local in &thread.locals {
            let class = local.name.split(" @").next().unwrap_or(&local.name);
            *locals.entry(class.to_owned()).or_default() += local.bytes;
        }
    }
    let mut kinds: Vec<KindOfThreads> = kinds
        .into_values()
        .filter(|(kind, _)| kind.threads > 1)
        .map(|(kind, locals)| {
            let local = locals.into_iter().max_by(|a, b| a.1.cmp(&b.1).then_with(|| b.0.cmp(&a.0)));
            KindOfThreads { local, ..kind }
        })
        .collect();
    kinds.sort_by(|a, b| b.bytes.cmp(&a.bytes).then_with(|| a.name.cmp(&b.name)));
    kinds
}

/// Returns a name with `#` for each number.
fn pattern(name: &str) -> String {
    // The address tells unnamed ones apart.
    let name = name.split(" @0x").next().unwrap_or(name);
    let mut text = String::new();
    for c in name.chars() {
        if !c.is_ascii_digit() {
            text.push(c);
        } else if !text.ends_with('#') {
            text.push('#');
        }
    }
    text
}

/// Returns the innermost method that is not of the JDK, without its line.
fn own_method(frames: &[String]) -> Option<String> {
    frames.iter().find(|frame| !is_of_the_jdk(frame)).map(|frame| method(frame).to_owned())
}

/// Returns a frame without its line.
pub fn method(frame: &str) -> &str {
    frame.rsplit_once(':').map_or(frame, |(method, _)| method)
}

/// State of a thread that waits for another machine.
pub const SOCKET: &str = "waits for a socket";

/// Returns what a thread with these frames does.
pub fn state(frames: &[String]) -> &'static str {
    let Some(first) = frames.first() else { return "has no Java frame" };
    let is_in = |texts: &[&str]| frames.iter().take(4).any(|frame| texts.iter().any(|text| frame.contains(text)));
    match &**first {
        frame if frame.contains("Object.wait") => "waits for a notification",
        frame if frame.contains("Thread.sleep") => "sleeps",
        _ if is_in(&["Socket", "sun.nio.ch.Net.", "sun.nio.ch.NioSocketImpl", "EPoll"]) => SOCKET,
        frame if frame.contains("Unsafe.park") || frame.contains("VirtualThread.park") => "is parked",
        _ if is_in(&["FileInputStream.read", "FileDispatcherImpl", "RandomAccessFile"]) => "reads or writes a file",
        _ => "runs, or waits for a monitor",
    }
}

#[cfg(test)]
mod tests {
    use super::super::HeldLocal;
    use super::*;

    fn thread(name: &str, bytes: u64, frames: &[&str]) -> HeldByThread {
        let local = HeldLocal { name: format!("byte[] @{bytes:#x}"), bytes: bytes / 2, frame: 1 };
        HeldByThread {
            name: name.to_owned(),
            id: bytes,
            bytes,
            frames: frames.iter().map(|&frame| frame.to_owned()).collect(),
            locals: vec![local],
        }
    }

    #[test]
    fn requests_that_wait_alike_are_one_kind() {
        let read =
            ["sun.nio.ch.Net.poll", "sun.nio.ch.NioSocketImpl.park:191", "shop.Tax.ask:17", "shop.Order.total:4"];
        let sleep = ["java.lang.Thread.sleep0", "java.lang.Thread.sleep:509", "shop.Retry.again:9"];
        let threads = [
            thread("http-nio-8080-exec-1", 3000, &read),
            thread("http-nio-8080-exec-22", 1000, &read),
            thread("http-nio-8080-exec-3", 900, &sleep),
            thread("main", 9000, &[]),
        ];
        let kinds = kinds_of_threads(&threads);
        let [kind] = &kinds[..] else { panic!("{kinds:?}") };
        assert_eq!((&*kind.name, kind.threads, kind.bytes), ("http-nio-#-exec-#", 2, 4000));
        assert_eq!((kind.method.as_deref(), kind.state), (Some("shop.Tax.ask"), "waits for a socket"));
        assert_eq!(kind.local, Some(("byte[]".to_owned(), 2000)));
    }
}
