//! Largest part of the dominator tree, to walk down from what holds most to what that holds.

use std::collections::BinaryHeap;

use yunti_base::Result;

use super::object::Named;
use crate::heap::{Dominator, Heap};
use crate::pass::locate::Body;

/// Objects of the tree.
const OBJECTS_MAX: usize = 2000;
/// Objects below each other. A list goes on for as long as it has elements.
const DEPTH_MAX: usize = 48;
/// Objects with a share of the heap below 1 in this number are left out.
const SHARE_MIN: u64 = 2000;
/// Large objects that are sorted.
const LARGE_MAX: usize = 1 << 20;

/// Object with what it holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Branch {
    /// Name, with the field of the object above: `.table java.util.HashMap$Node[] @0x740e36cc0`.
    pub name: String,
    /// Retained bytes.
    pub bytes: u64,
    /// Large objects that it dominates, the largest first.
    pub below: Vec<Branch>,
}

/// Object in the tree: its place, the index of the object above, and the objects above it.
struct Shown {
    place: u32,
    above: Option<usize>,
    depth: usize,
}

/// Returns the largest objects below the roots, with the large objects below each.
pub fn tree(heap: &Heap) -> Result<Vec<Branch>> {
    let least = (heap.total().bytes / SHARE_MIN).max(1);
    // The order is by dominators, the roots last.
    let mut large: Vec<(u32, u32)> = (0..heap.ids.count() as u32)
        .filter(|&place| heap.retained(place) >= least)
        .filter_map(|place| match heap.dominator(place) {
            Dominator::Place(above) => Some((above, place)),
            Dominator::Roots => Some((u32::MAX, place)),
            Dominator::Garbage => None,
        })
        .take(LARGE_MAX)
        .collect();
    large.sort_unstable();
    let below = |above: u32| {
        let begin = large.partition_point(|&(of, _)| of < above);
        large[begin..].iter().take_while(move |&&(of, _)| of == above).map(|&(_, place)| place)
    };
    let mut shown: Vec<Shown> = Vec::new();
    let mut open = BinaryHeap::new();
    open.extend(below(u32::MAX).map(|place| (heap.retained(place), place, None::<usize>)));
    while shown.len() < OBJECTS_MAX
        && let Some((_, place, above)) = open.pop()
    {
        let depth = above.map_or(0, |above| shown[above].depth + 1);
        let own = shown.len();
        shown.push(Shown { place, above, depth });
        if depth + 1 < DEPTH_MAX {
            open.extend(below(place).map(|place| (heap.retained(place), place, Some(own))));
        }
    }
    let places: Vec<u32> = shown.iter().map(|one| one.place).collect();
    let named = Named::of(heap, &places)?;
    let mut branches: Vec<Branch> = Vec::new();
    for one in &shown {
        let id = named.id(one.place);
        let name = heap.name_of(id, named.bodies.get(&id));
        let field = match one.above.map(|above| named.id(shown[above].place)) {
            Some(above) => field_of(heap, above, named.bodies.get(&above), id)?,
            None => String::new(),
        };
        branches.push(Branch { name: format!("{field}{name}"), bytes: heap.retained(one.place), below: Vec::new() });
    }
    // The last ones first, so that each has all that is below it before it goes into the one above.
    let mut tops = Vec::new();
    while let (Some(mut branch), Some(one)) = (branches.pop(), shown.pop()) {
        branch.below.reverse();
        one.above.map_or(&mut tops, |above| &mut branches[above].below).push(branch);
    }
    tops.reverse();
    Ok(tops)
}

/// Returns the field by which an object refers to another one, with a blank behind it; elements have none.
fn field_of(heap: &Heap, from: u64, body: Option<&Body>, to: u64) -> Result<String> {
    if matches!(body, Some(Body::Array { .. } | Body::Primitive { .. })) {
        return Ok(String::new());
    }
    let name = heap.reference_name(from, body, to)?;
    // What the object reaches by several ways has no field of it.
    Ok(if name.ends_with('?') { String::new() } else { format!("{} ", name.trim()) })
}
