//! Path from a root to an object: one way on which references keep it alive.

use yunti_base::Result;

use super::object::{Named, class_name};
use crate::file::records::RootKind;
use crate::graph::contract::{TOP, UNREACHED};
use crate::graph::forest::HEAD;
use crate::heap::Heap;

/// Steps kept at each end of a longer path.
const STEPS_KEPT: usize = 12;

/// Places from an object up to its root.
#[derive(Clone, Debug, Default)]
pub struct Way {
    /// Places, the object first. A place refers to the one before it.
    pub places: Vec<u32>,
    /// Index of the step behind which steps are left out, and their number.
    pub left_out: Option<(usize, usize)>,
}

/// Returns the way from an object up to a root.
pub fn way(heap: &Heap, place: u32) -> Way {
    let (mut first, mut last) = (Vec::new(), std::collections::VecDeque::new());
    let (mut at, mut left_out) = (place, 0);
    loop {
        if first.len() < STEPS_KEPT {
            first.push(at);
        } else {
            last.push_back(at);
            if last.len() > STEPS_KEPT {
                last.pop_front();
                left_out += 1;
            }
        }
        let above = heap.forest.above[at as usize];
        at = if above == HEAD { heap.heads.referrers[heap.forest.tree(at) as usize] } else { above };
        if at == TOP || at == UNREACHED {
            break;
        }
    }
    let middle = first.len();
    first.extend(last);
    Way { places: first, left_out: (left_out > 0).then_some((middle, left_out)) }
}

/// Returns the steps of a way as text, the object first: each object, and the reference by which the next one holds it.
pub fn steps(heap: &Heap, way: &Way, named: &Named) -> Result<Vec<String>> {
    let mut steps = Vec::new();
    for (i, &place) in way.places.iter().enumerate() {
        let id = named.id(place);
        let name = heap.name_of(id, named.bodies.get(&id));
        match way.left_out {
            Some((middle, count)) if middle == i => {
                steps.push(format!(".. {count} objects .."));
                steps.push(name);
            }
            _ if i == 0 => steps.push(name),
            _ => {
                let to = named.id(way.places[i - 1]);
                let reference = heap.reference_name(id, named.bodies.get(&id), to)?;
                steps.push(format!("{name}{reference}"));
                if reference.starts_with(" static ") && is_never_unloaded(heap, id)? {
                    steps.push("root: class that is never unloaded".to_owned());
                    return Ok(steps);
                }
            }
        }
    }
    if let Some(&root) = way.places.last()
        && let Some(number) = heap.ids.number(named.id(root))
    {
        let kind = heap.roots.kinds.get(&number).copied();
        steps.push(kind.map_or("no root", kind_name).to_owned());
    }
    Ok(steps)
}

/// Returns true for a class of the JVM's own loaders. What holds a loader of an application server is worth a look.
fn is_never_unloaded(heap: &Heap, class: u64) -> Result<bool> {
    let Some(index) = heap.classes.index(class) else { return Ok(false) };
    let loader = heap.classes.list[index as usize].record.loader;
    if loader == 0 {
        return Ok(true);
    }
    let bodies = heap.bodies(&[loader])?;
    let name = class_name(heap, heap.class_of(loader, bodies.get(&loader)));
    Ok(name.starts_with("jdk.internal.loader.ClassLoaders$") || name.starts_with("sun.misc.Launcher$"))
}

/// Returns the name of a kind of root.
pub fn kind_name(kind: RootKind) -> &'static str {
    match kind {
        RootKind::Unknown => "root of unknown kind",
        RootKind::JniGlobal => "root: global reference of native code",
        RootKind::JniLocal => "root: local reference of native code",
        RootKind::JavaFrame => "root: local variable",
        RootKind::NativeStack => "root: native stack",
        RootKind::StickyClass => "root: class of the JVM",
        RootKind::ThreadBlock => "root: object that a thread blocks on",
        RootKind::Monitor => "root: monitor in use",
        RootKind::Thread => "root: live thread",
    }
}
