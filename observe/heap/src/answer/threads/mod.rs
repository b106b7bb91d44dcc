//! Threads: what each holds by its object and its local variables, with its stack.

pub mod held;
pub mod kinds;

use std::collections::HashMap;

use yunti_base::Result;

use crate::heap::{Dominator, Heap};
use crate::pass::locate::{Body, values};

/// Bytes of a name that are read.
const NAME_BYTES: u32 = 256;

/// Local variable that holds an object.
#[derive(Clone, Debug)]
pub struct HeldLocal {
    /// Name of the object.
    pub name: String,
    /// Bytes that the object retains.
    pub bytes: u64,
    /// Number of the frame.
    pub frame: u32,
}

/// Thread of the dump.
#[derive(Clone, Debug)]
pub struct HeldByThread {
    /// Name.
    pub name: String,
    /// Id of the thread object.
    pub id: u64,
    /// Bytes that the thread retains.
    pub bytes: u64,
    /// Frames, innermost first.
    pub frames: Vec<String>,
    /// Largest locals.
    pub locals: Vec<HeldLocal>,
}

/// Returns the threads, the one that retains most first.
pub fn threads(heap: &Heap, most: usize, locals_max: usize) -> Result<Vec<HeldByThread>> {
    let place = |number: u32| heap.forest.places[number as usize];
    let mut found: Vec<_> =
        heap.roots.threads.iter().map(|thread| (heap.retained(place(thread.object)), *thread)).collect();
    found.sort_by_key(|(bytes, thread)| (std::cmp::Reverse(*bytes), thread.object));
    found.dedup_by_key(|(_, thread)| thread.object);
    found.truncate(most);
    let mut ids = Vec::new();
    let mut locals = Vec::new();
    for (_, thread) in &found {
        let mut own = heap.roots.locals_of(thread.object).to_vec();
        own.dedup_by_key(|local| local.object);
        // What others refer to as well is not the thread's alone.
        let holder = Dominator::Place(place(thread.object));
        own.retain(|local| heap.dominator(place(local.object)) == holder);
        own.sort_by_key(|local| std::cmp::Reverse(heap.retained(place(local.object))));
        own.truncate(locals_max);
        ids.push(heap.ids.id(thread.object));
        ids.extend(own.iter().map(|local| heap.ids.id(local.object)));
        locals.push(own);
    }
    let bodies = heap.bodies(&ids)?;
    let mut threads = Vec::new();
    for ((bytes, thread), own) in found.into_iter().zip(locals) {
        let id = heap.ids.id(thread.object);
        let name = match bodies.get(&id) {
            Some(body) => thread_name(heap, body)?,
            None => None,
        };
        let locals = own.iter().map(|local| {
            let id = heap.ids.id(local.object);
            HeldLocal {
                name: heap.name_of(id, bodies.get(&id)),
                bytes: heap.retained(place(local.object)),
                frame: local.frame,
            }
        });
        threads.push(HeldByThread {
            name: name.unwrap_or_else(|| heap.name_of(id, bodies.get(&id))),
            id,
            bytes,
            locals: locals.collect(),
            frames: frames(heap, thread.trace)?,
        });
    }
    Ok(threads)
}

/// Returns the frames of a stack trace, innermost first.
pub fn frames(heap: &Heap, trace: u32) -> Result<Vec<String>> {
    let mut frames = Vec::new();
    for id in heap.map.traces.get(&trace).map_or(&[][..], |frames| frames) {
        let Some(frame) = heap.map.frames.get(id) else { continue };
        let class = heap.map.classes_by_serial.get(&frame.class).and_then(|&id| heap.classes.index(id));
        let class = class.map_or("?", |class| &heap.classes.list[class as usize].name);
        let line = if frame.line > 0 { format!(":{}", frame.line) } else { String::new() };
        frames.push(format!("{class}.{}{line}", heap.text(frame.method)?));
    }
    Ok(frames)
}

/// Returns the name of a thread: of its holder in newer JVMs, a string or an array of chars.
pub fn thread_name(heap: &Heap, body: &Body) -> Result<Option<String>> {
    let Some((2, id)) = heap.field(body, "name")? else { return Ok(None) };
    let Some(name) = heap.bodies(&[id])?.remove(&id) else { return Ok(None) };
    string(heap, &name)
}

/// Returns the text of a string, or of an array of chars.
pub fn string(heap: &Heap, body: &Body) -> Result<Option<String>> {
    if !matches!(body, Body::Instance { .. }) {
        return text_of(heap, 0, body);
    }
    let Some((2, id)) = heap.field(body, "value")? else { return Ok(None) };
    let coder = heap.field(body, "coder")?.map_or(0, |(_, coder)| coder);
    let bodies: HashMap<u64, Body> = heap.bodies(&[id])?;
    bodies.get(&id).map_or(Ok(None), |array| text_of(heap, coder, array))
}

/// Returns the text in the array of a string; `coder` is 1 for UTF-16 in bytes.
pub fn text_of(heap: &Heap, coder: u64, array: &Body) -> Result<Option<String>> {
    let Body::Primitive { kind: kind @ (5 | 8), length, values_at } = array else { return Ok(None) };
    let bytes = values(&heap.source, *kind, (*length).min(NAME_BYTES), *values_at)?;
    let twos = bytes.chunks_exact(2).map(|two| [two[0], two[1]]);
    let units: Vec<u16> = match (kind, coder) {
        (5, _) => twos.map(u16::from_be_bytes).collect(),
        (_, 0) => bytes.iter().map(|&byte| u16::from(byte)).collect(),
        // UTF-16 in the order of the machine that ran the JVM, which is nearly always little.
        _ => twos.map(u16::from_le_bytes).collect(),
    };
    Ok(Some(String::from_utf16_lossy(&units)))
}
