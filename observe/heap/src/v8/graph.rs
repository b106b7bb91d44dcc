//! Graph of a snapshot: dominators, retained sizes, and what keeps an object alive.

use std::collections::{HashMap, VecDeque};
use std::path::Path;

use yunti_base::Result;

use super::read::{Columns, beginning, read};
use crate::graph::dominators::{Graph, UNREACHED, dominators};

/// Node of the roots.
pub const ROOT: u32 = 0;
/// Bytes of a string's text in a name.
const TEXT_BYTES: usize = 40;

/// Snapshot with the dominators of its objects.
pub struct Snapshot {
    columns: Columns,
    /// Immediate dominator by node; `UNREACHED` for the root and for what nothing holds.
    above: Vec<u32>,
    /// Reached nodes, each behind its dominator.
    order: Vec<u32>,
    retained: Vec<u64>,
    /// Node and edge by which a shortest way from the roots reaches each node.
    way: Vec<(u32, u32)>,
}

/// Kinds of nodes and edges that the rules know, by their numbers in the snapshot.
struct Known {
    weak: Option<u8>,
    internal: Option<u8>,
}

impl Snapshot {
    /// Reads and analyses a snapshot.
    pub fn read(path: &Path) -> Result<Snapshot> {
        Ok(Snapshot::of(read(path)?))
    }

    fn of(columns: Columns) -> Snapshot {
        let nodes = columns.types.len();
        let kind = |name: &str| columns.edge_types.iter().position(|kind| kind == name).map(|at| at as u8);
        let known = Known { weak: kind("weak"), internal: kind("internal") };
        let tables = tables_by_name(&columns);
        let holds = |from: u32, edge: usize| holds(&columns, &known, &tables, from, edge);
        let graph = Graph::of(nodes, |add| {
            for from in 0..nodes as u32 {
                edges_of(&columns, from)
                    .filter(|&edge| holds(from, edge))
                    .for_each(|edge| add(from, columns.targets[edge]));
            }
        });
        let found = dominators(graph, ROOT);
        let mut retained = vec![0_u64; nodes];
        for &node in found.order.iter().rev() {
            retained[node as usize] = retained[node as usize].saturating_add(columns.sizes[node as usize]);
            let above = found.of[node as usize];
            if above != UNREACHED {
                retained[above as usize] = retained[above as usize].saturating_add(retained[node as usize]);
            }
        }
        let way = ways(&columns, holds);
        Snapshot { above: found.of, order: found.order, retained, way, columns }
    }

    /// Returns the reached nodes, each behind its dominator; the root is the first.
    pub fn reached(&self) -> &[u32] {
        &self.order
    }

    /// Returns the number of nodes that nothing holds, and their bytes.
    pub fn unreached(&self) -> (u64, u64) {
        let nodes = (1..self.columns.types.len()).filter(|&node| self.above[node] == UNREACHED);
        nodes.fold((0, 0), |(count, bytes), node| (count + 1, bytes + self.columns.sizes[node]))
    }

    /// Returns the dominator of a reached node other than the root.
    pub fn above(&self, node: u32) -> u32 {
        self.above[node as usize]
    }

    /// Returns the bytes that an object retains.
    pub fn retained(&self, node: u32) -> u64 {
        self.retained[node as usize]
    }

    /// Returns the bytes of an object itself.
    pub fn bytes(&self, node: u32) -> u64 {
        self.columns.sizes[node as usize]
    }

    /// Returns the identity of an object, the same in later snapshots of the process.
    pub fn id(&self, node: u32) -> u64 {
        self.columns.ids[node as usize]
    }

    /// Returns the type of an object: `object`, `closure`, `string`.
    pub fn kind(&self, node: u32) -> &str {
        kind(&self.columns, node)
    }

    /// Returns true for a heading of roots, such as `(GC roots)`.
    pub fn is_heading(&self, node: u32) -> bool {
        is_heading(&self.columns, node)
    }

    /// Returns true for a part of an object that programs do not see: its properties, elements and table.
    pub fn is_inner(&self, node: u32) -> bool {
        matches!(self.kind(node), "array" | "hidden" | "object shape")
            || self.kind(node) == "code"
            || self.text(node).starts_with("system / ")
    }

    fn text(&self, node: u32) -> &str {
        text(&self.columns, node)
    }

    /// Returns the class of an object: its constructor, or its type in brackets as Chrome's tools name it.
    pub fn class(&self, node: u32) -> String {
        match self.kind(node) {
            "object" | "native" if !self.text(node).is_empty() => self.text(node).to_owned(),
            "hidden" => "(system)".to_owned(),
            "closure" => "Function".to_owned(),
            "code" => "(compiled code)".to_owned(),
            kind => format!("({kind})"),
        }
    }

    /// Returns the name of an object with its identity: `Session @4711`.
    pub fn name(&self, node: u32) -> String {
        let (text, id) = (self.text(node), self.id(node));
        match self.kind(node) {
            "synthetic" => text.to_owned(),
            "closure" => format!("function {text}() @{id}"),
            "string" | "concatenated string" | "sliced string" => {
                let shown = beginning(text, TEXT_BYTES);
                let more = if shown.len() < text.len() { ".." } else { "" };
                format!("\"{shown}{more}\" @{id}")
            }
            "object" | "native" if !text.is_empty() => format!("{text} @{id}"),
            _ if text.is_empty() => format!("{} @{id}", self.class(node)),
            _ => format!("{text} @{id}"),
        }
    }

    /// Returns the edge by which the shortest way from the roots leads to an object: `.cache`, `[17]`.
    pub fn held_by(&self, node: u32) -> Option<(u32, String)> {
        let (from, edge) = self.way[node as usize];
        (from != UNREACHED).then(|| (from, self.edge(edge)))
    }

    fn edge(&self, edge: u32) -> String {
        let columns = &self.columns;
        let kind = columns.edge_types.get(usize::from(columns.edge_kinds[edge as usize])).map_or("?", String::as_str);
        let name = columns.edge_names[edge as usize];
        let text = || columns.strings.get(name as usize).map_or("?", String::as_str);
        match kind {
            "element" | "hidden" => format!("[{name}]"),
            "context" => format!(" variable {}", text()),
            "internal" => format!(" ({})", text()),
            _ => format!(".{}", text()),
        }
    }
}

fn edges_of(columns: &Columns, node: u32) -> std::ops::Range<usize> {
    columns.first_edges[node as usize] as usize..columns.first_edges[node as usize + 1] as usize
}

fn kind(columns: &Columns, node: u32) -> &str {
    columns.node_types.get(usize::from(columns.types[node as usize])).map_or("?", String::as_str)
}

fn is_heading(columns: &Columns, node: u32) -> bool {
    kind(columns, node) == "synthetic"
}

fn text(columns: &Columns, node: u32) -> &str {
    columns.strings.get(columns.names[node as usize] as usize).map_or("", String::as_str)
}

/// Identity of the table for each name of an edge from a key, or from the table, to a value of a `WeakMap`.
fn tables_by_name(columns: &Columns) -> HashMap<u32, u64> {
    let table = |name: &str| {
        let (_, rest) = name.split_once("pair in WeakMap (table @")?;
        rest.split(')').next()?.parse().ok()
    };
    let names = columns.strings.iter().enumerate();
    names.filter_map(|(at, name)| Some((at as u32, table(name)?))).collect()
}

/// Returns the node and the edge by which a shortest way from the roots leads to each node. Ways from global objects
/// come first, as in Chrome's tools: under headings such as `(Handle scope)` V8 holds objects for a moment, too.
fn ways(columns: &Columns, holds: impl Fn(u32, usize) -> bool) -> Vec<(u32, u32)> {
    let mut way = vec![(UNREACHED, UNREACHED); columns.types.len()];
    let (mut next, mut last) = (VecDeque::from([ROOT]), VecDeque::new());
    while let Some(from) = next.pop_front().or_else(|| last.pop_front()) {
        for edge in edges_of(columns, from).filter(|&edge| holds(from, edge)) {
            let to = columns.targets[edge];
            if to != ROOT && way[to as usize].0 == UNREACHED {
                way[to as usize] = (from, edge as u32);
                if is_heading(columns, to) { last.push_back(to) } else { next.push_back(to) }
            }
        }
    }
    way
}

/// Returns true for an edge that keeps its target alive. Of a value in a `WeakMap` its key decides, not the table.
fn holds(columns: &Columns, known: &Known, tables: &HashMap<u32, u64>, from: u32, edge: usize) -> bool {
    let kind = Some(columns.edge_kinds[edge]);
    if kind == known.weak {
        return false;
    }
    let is_of_table = || tables.get(&columns.edge_names[edge]) == Some(&columns.ids[from as usize]);
    !(kind == known.internal && !tables.is_empty() && is_of_table())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Node: name, bytes, and edges of kind, name and target.
    type Node<'a> = (&'a str, u64, &'a [(u8, u32, u32)]);

    fn snapshot(nodes: &[Node], strings: &[&str]) -> Snapshot {
        let mut columns = Columns {
            node_types: vec!["object".to_owned()],
            edge_types: ["property", "weak", "internal", "element"].map(str::to_owned).to_vec(),
            first_edges: vec![0],
            strings: strings
                .iter()
                .chain(&nodes.iter().map(|node| node.0).collect::<Vec<_>>())
                .map(|&s| s.to_owned())
                .collect(),
            ..Columns::default()
        };
        for (at, (_, bytes, edges)) in nodes.iter().enumerate() {
            columns.types.push(0);
            columns.names.push((strings.len() + at) as u32);
            columns.ids.push(at as u64 * 2 + 1);
            columns.sizes.push(*bytes);
            for &(kind, name, to) in *edges {
                columns.edge_kinds.push(kind);
                columns.edge_names.push(name);
                columns.targets.push(to);
            }
            columns.first_edges.push(columns.targets.len() as u32);
        }
        Snapshot::of(columns)
    }

    #[test]
    fn weak_edges_hold_nothing() {
        let found = snapshot(
            &[
                ("root", 0, &[(0, 0, 1), (0, 1, 2)]),
                ("A", 10, &[(3, 7, 3)]),
                ("B", 20, &[(1, 0, 3), (1, 1, 4)]),
                ("C", 5, &[]),
                ("D", 7, &[]),
            ],
            &["a", "b"],
        );
        assert_eq!((found.retained(ROOT), found.retained(1), found.retained(2)), (35, 15, 20));
        assert_eq!((found.above(3), found.unreached()), (1, (1, 7)));
        assert_eq!(found.held_by(3), Some((1, "[7]".to_owned())));
        assert_eq!((found.name(3), found.held_by(1)), ("C @7".to_owned(), Some((0, ".a".to_owned()))));
    }

    #[test]
    fn global_objects_come_before_headings() {
        let mut columns = snapshot(
            &[
                ("root", 0, &[(0, 0, 1), (0, 0, 2)]),
                ("(Handle scope)", 0, &[(0, 0, 4), (0, 0, 5)]),
                ("global", 1, &[(0, 1, 3)]),
                ("A", 1, &[(0, 0, 4)]),
                ("B", 1, &[]),
                ("C", 1, &[]),
            ],
            &["a", "b"],
        )
        .columns;
        columns.node_types.push("synthetic".to_owned());
        columns.types[1] = 1;
        let found = Snapshot::of(columns);
        assert_eq!(found.held_by(4), Some((3, ".a".to_owned())));
        assert_eq!(found.held_by(5), Some((1, ".a".to_owned())));
    }

    #[test]
    fn the_key_of_a_weak_map_holds_the_value() {
        let pair = "1 / part of key (K @5) -> value (V @7) pair in WeakMap (table @3)";
        let found = snapshot(
            &[
                ("root", 0, &[(0, 0, 1), (0, 0, 2)]),
                ("table", 10, &[(2, 1, 3)]),
                ("K", 20, &[(2, 1, 3)]),
                ("V", 100, &[]),
            ],
            &["a", pair],
        );
        assert_eq!((found.retained(1), found.retained(2), found.above(3)), (10, 120, 2));
    }
}
