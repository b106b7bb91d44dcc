//! Roots by the rules of Eclipse MAT: locals of a known thread hang below its object, all else is a root.
//!
//! A root without an object in the dump does not count. Some dumps mark no class as a root; then all classes of the
//! boot loader are roots.

use std::collections::HashMap;

use super::class::Classes;
use crate::file::records::{Root, RootKind};

/// Local variable of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Local {
    /// Number of the thread object.
    pub thread: u32,
    /// Number of the object that the variable refers to.
    pub object: u32,
    /// Kind of the local.
    pub kind: RootKind,
    /// Number of the frame, innermost 0; `u32::MAX` if it is not on the stack.
    pub frame: u32,
}

/// Live thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thread {
    /// Number of the thread object.
    pub object: u32,
    /// Serial number of its stack trace.
    pub trace: u32,
}

/// Roots of the heap.
#[derive(Default)]
pub struct Roots {
    /// First kind of each root, by number.
    pub kinds: HashMap<u32, RootKind>,
    /// Locals, by thread.
    pub locals: Vec<Local>,
    /// Threads.
    pub threads: Vec<Thread>,
}

impl Roots {
    /// Sorts the roots, which come in the order of the file. `number` returns the number of an object.
    pub fn build(found: &[Root], classes: &Classes, number: impl Fn(u64) -> Option<u32>) -> Roots {
        let mut roots = Roots::default();
        let mut threads: HashMap<u32, u64> = HashMap::new();
        let mut has_system_classes = false;
        for root in found {
            has_system_classes |= root.kind == RootKind::StickyClass;
            let thread = match root.kind {
                RootKind::Thread => {
                    threads.insert(root.thread, root.id);
                    0
                }
                RootKind::JniLocal | RootKind::JavaFrame | RootKind::NativeStack | RootKind::ThreadBlock => {
                    threads.get(&root.thread).copied().unwrap_or(0)
                }
                _ => 0,
            };
            let Some(object) = number(root.id) else { continue };
            if thread != 0 {
                let is_framed = matches!(root.kind, RootKind::JniLocal | RootKind::JavaFrame);
                let frame = if is_framed { root.frame } else { u32::MAX };
                roots.locals.extend(number(thread).map(|thread| Local { thread, object, kind: root.kind, frame }));
                continue;
            }
            roots.kinds.entry(object).or_insert(root.kind);
            if root.kind == RootKind::Thread {
                roots.threads.push(Thread { object, trace: root.frame });
            }
        }
        if !has_system_classes {
            for class in &classes.list {
                let is_boot = class.record.loader == 0 || number(class.record.loader).is_none();
                if let Some(object) = number(class.record.id).filter(|_| is_boot && !class.is_array()) {
                    roots.kinds.entry(object).or_insert(RootKind::StickyClass);
                }
            }
        }
        roots.locals.sort_unstable_by_key(|local| (local.thread, local.object));
        roots
    }

    /// Returns the locals of a thread.
    pub fn locals_of(&self, thread: u32) -> &[Local] {
        let begin = self.locals.partition_point(|local| local.thread < thread);
        let end = self.locals.partition_point(|local| local.thread <= thread);
        &self.locals[begin..end]
    }
}
