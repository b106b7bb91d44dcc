//! Tree of stacks with common beginnings: a node is a call path from the outermost frame, with its cost and the cost
//! of its callees.

use std::collections::HashMap;
use std::rc::Rc;

use serde_json::{Value, json};

use super::{Frame, KINDS, Kind};

#[derive(Clone, Debug)]
struct Node {
    /// Frame, or `None` for the root.
    pub frame: Option<Frame>,
    /// Cost of this frame and its callees.
    pub total: u64,
    /// Cost of this frame itself, without its callees.
    pub own: u64,
    /// Callees, as indexes of nodes.
    pub children: Vec<usize>,
}

/// Tree of call paths with their costs.
#[derive(Clone, Debug)]
pub struct Tree {
    nodes: Vec<Node>,
    /// Child by node and frame.
    known: HashMap<(usize, Frame), usize>,
}

impl Default for Tree {
    fn default() -> Self {
        Tree { nodes: vec![Node { frame: None, total: 0, own: 0, children: Vec::new() }], known: HashMap::new() }
    }
}

impl Tree {
    /// Index of the root.
    pub const ROOT: usize = 0;

    /// Adds a stack, outermost frame first, with its cost.
    pub fn add<'a>(&mut self, frames: impl IntoIterator<Item = &'a Frame>, value: u64) {
        let mut at = Tree::ROOT;
        self.nodes[at].total += value;
        for frame in frames {
            let fresh = self.nodes.len();
            let next = *self.known.entry((at, frame.clone())).or_insert(fresh);
            if next == fresh {
                self.nodes.push(Node { frame: Some(frame.clone()), total: 0, own: 0, children: Vec::new() });
                self.nodes[at].children.push(next);
            }
            at = next;
            self.nodes[at].total += value;
        }
        self.nodes[at].own += value;
    }

    /// Adds the paths of another tree below the frames `above`.
    pub fn join(&mut self, above: &[Frame], other: &Tree) {
        for (value, frames) in other.dearest(usize::MAX) {
            self.add(above.iter().chain(&frames), value);
        }
    }

    #[cfg(test)]
    fn node(&self, index: usize) -> &Node {
        &self.nodes[index]
    }

    /// Returns the cost of all stacks.
    pub fn total(&self) -> u64 {
        self.nodes[Tree::ROOT].total
    }

    /// Returns the cost of each frame by itself and with its callees, over all callers, highest first. A recursive
    /// frame counts once.
    pub fn hottest(&self) -> Vec<Hot> {
        let mut sums: HashMap<&Frame, Hot> = HashMap::new();
        let mut above: HashMap<&Frame, u32> = HashMap::new();
        self.walk(Tree::ROOT, &mut above, &mut sums);
        let mut hot: Vec<Hot> = sums.into_values().collect();
        hot.sort_by(|a, b| b.own.cmp(&a.own).then(b.total.cmp(&a.total)).then_with(|| a.frame.name.cmp(&b.frame.name)));
        hot
    }

    /// Returns whole call paths, highest cost first.
    pub fn dearest(&self, most: usize) -> Vec<(u64, Vec<Frame>)> {
        let mut ends: Vec<(u64, usize)> = self.nodes.iter().enumerate().map(|(i, node)| (node.own, i)).collect();
        ends.retain(|(own, at)| *own > 0 && *at != Tree::ROOT);
        ends.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
        ends.truncate(most);
        let wanted: HashMap<usize, usize> = ends.iter().enumerate().map(|(rank, (_, at))| (*at, rank)).collect();
        let mut ways = vec![Vec::new(); ends.len()];
        let (mut above, mut todo) = (Vec::new(), vec![(Tree::ROOT, 0)]);
        while let Some((at, depth)) = todo.pop() {
            above.truncate(depth);
            above.extend(self.nodes[at].frame.clone());
            if let Some(rank) = wanted.get(&at) {
                ways[*rank] = above.clone();
            }
            todo.extend(self.nodes[at].children.iter().map(|child| (*child, above.len())));
        }
        ends.into_iter().map(|(own, _)| own).zip(ways).collect()
    }

    fn walk<'a>(&'a self, at: usize, above: &mut HashMap<&'a Frame, u32>, sums: &mut HashMap<&'a Frame, Hot>) {
        // An explicit stack of nodes, because the target's recursion may be deep.
        let mut todo = vec![(at, false)];
        while let Some((index, left)) = todo.pop() {
            let node = &self.nodes[index];
            if let Some(frame) = node.frame.as_ref().filter(|f| f.kind != Kind::Group) {
                let depth = above.entry(frame).or_default();
                if left {
                    *depth -= 1;
                    continue;
                }
                let hot = sums.entry(frame).or_insert_with(|| Hot { frame: frame.clone(), own: 0, total: 0 });
                hot.own += node.own;
                if *depth == 0 {
                    hot.total += node.total;
                }
                *depth += 1;
                todo.push((index, true));
            }
            todo.extend(node.children.iter().map(|child| (*child, false)));
        }
    }

    /// Returns the tree as JSON for pages and `--json`: names once each, and nodes as rows of (parent, name, kind,
    /// total, own), parents first. With an older tree, each row ends with its total there, scaled to this tree's
    /// total.
    pub fn to_json(&self, old: Option<&Tree>) -> Value {
        self.rows(old, old.map_or(0.0, |old| self.total() as f64 / old.total().max(1) as f64))
    }

    /// Returns the tree as JSON with an older tree, whose totals are multiplied by `scale`.
    pub fn to_json_of(&self, old: &Tree, scale: f64) -> Value {
        self.rows(Some(old), scale)
    }

    fn rows(&self, old: Option<&Tree>, scale: f64) -> Value {
        let mut names: Vec<&str> = Vec::new();
        let mut numbers: HashMap<&str, usize> = HashMap::new();
        let mut rows = Vec::with_capacity(self.nodes.len());
        let mut todo = vec![(Tree::ROOT, None, Some(Tree::ROOT))];
        while let Some((index, parent, before)) = todo.pop() {
            let node = &self.nodes[index];
            let row = rows.len();
            let (name, kind) = node.frame.as_ref().map_or(("all", Kind::Group), |f| (&*f.name, f.kind));
            let number = *numbers.entry(name).or_insert_with(|| {
                names.push(name);
                names.len() - 1
            });
            let mut cells = vec![json!(parent), json!(number), json!(kind as u8), json!(node.total), json!(node.own)];
            if let Some(old) = old {
                cells.push(json!(before.map_or(0.0, |at| (old.nodes[at].total as f64 * scale).round())));
            }
            rows.push(Value::Array(cells));
            todo.extend(node.children.iter().rev().map(|child| {
                let same = before.zip(old).and_then(|(at, old)| old.child(at, self.nodes[*child].frame.as_ref()?));
                (*child, Some(row), same)
            }));
        }
        json!({ "names": names, "nodes": rows })
    }

    /// Child by frame, else by name: code that is interpreted at first is compiled later.
    fn child(&self, at: usize, frame: &Frame) -> Option<usize> {
        let same = |i: &&usize| self.nodes[**i].frame.as_ref().is_some_and(|f| f.name == frame.name);
        self.known.get(&(at, frame.clone())).or_else(|| self.nodes[at].children.iter().find(same)).copied()
    }

    /// Parses the JSON of [`Tree::to_json`]; `None` for other JSON.
    pub fn from_json(json: &Value) -> Option<Tree> {
        let names: Vec<Rc<str>> =
            json["names"].as_array()?.iter().map(|n| n.as_str().map(Rc::from)).collect::<Option<_>>()?;
        let mut tree = Tree { nodes: Vec::new(), known: HashMap::new() };
        for (row, cells) in json["nodes"].as_array()?.iter().enumerate() {
            let number = |column: usize| cells[column].as_u64();
            let (total, own) = (number(3)?, number(4)?);
            if row == 0 {
                tree.nodes.push(Node { frame: None, total, own, children: Vec::new() });
                continue;
            }
            let parent = usize::try_from(number(0)?).ok().filter(|parent| *parent < row)?;
            let frame = Frame {
                name: names.get(usize::try_from(number(1)?).ok()?)?.clone(),
                kind: *KINDS.get(usize::try_from(number(2)?).ok()?)?,
            };
            tree.known.insert((parent, frame.clone()), row);
            tree.nodes.push(Node { frame: Some(frame), total, own, children: Vec::new() });
            tree.nodes[parent].children.push(row);
        }
        (!tree.nodes.is_empty()).then_some(tree)
    }

    /// Returns the change of each frame's own share between two trees, largest first.
    pub fn changes_since(&self, old: &Tree) -> Vec<Change> {
        let mut changes: HashMap<Rc<str>, Change> = HashMap::new();
        for (tree, is_new) in [(old, false), (self, true)] {
            let all = tree.total().max(1) as f64;
            for hot in tree.hottest() {
                let name = hot.frame.name.clone();
                let change = changes.entry(name.clone()).or_insert(Change { name, then: 0.0, now: 0.0 });
                let side = if is_new { &mut change.now } else { &mut change.then };
                *side += hot.own as f64 / all;
            }
        }
        let mut all: Vec<Change> = changes.into_values().collect();
        let size = |change: &Change| (change.now - change.then).abs();
        all.sort_by(|a, b| size(b).total_cmp(&size(a)).then_with(|| a.name.cmp(&b.name)));
        all
    }
}

/// Own share of a function, before and now.
#[derive(Clone, Debug)]
pub struct Change {
    /// Name of the function.
    pub name: Rc<str>,
    /// Earlier share, from 0 to 1.
    pub then: f64,
    /// Present share, from 0 to 1.
    pub now: f64,
}

/// Cost of a frame over all of its calls.
#[derive(Clone, Debug)]
pub struct Hot {
    /// Frame.
    pub frame: Frame,
    /// Cost of the frame itself.
    pub own: u64,
    /// Cost with its callees.
    pub total: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frames(text: &str) -> Vec<Frame> {
        text.split(' ').filter(|t| !t.is_empty()).map(|name| Frame { name: name.into(), kind: Kind::Native }).collect()
    }

    fn tree(stacks: &[(&str, u64)]) -> Tree {
        let mut tree = Tree::default();
        for (stack, value) in stacks {
            tree.add(&frames(stack), *value);
        }
        tree
    }

    #[test]
    fn merges_common_beginnings() {
        let tree = tree(&[("a b", 1), ("a b c", 2), ("a d", 4), ("", 8)]);
        assert_eq!((tree.total(), tree.node(Tree::ROOT).own), (15, 8));
        let a = tree.node(tree.node(Tree::ROOT).children[0]);
        assert_eq!((a.total, a.own, a.children.len()), (7, 0, 2));
    }

    #[test]
    fn joins_trees() {
        let (mut one, two) = (tree(&[("h a", 1)]), tree(&[("a", 2), ("b c", 4)]));
        one.join(&frames("h"), &two);
        assert_eq!(one.to_json(None), tree(&[("h a", 1), ("h b c", 4), ("h a", 2)]).to_json(None));
    }

    #[test]
    fn recursion_counts_once() {
        let hot = tree(&[("a b a b", 3), ("b", 1)]).hottest();
        let of = |name: &str| hot.iter().find(|h| &*h.frame.name == name).map(|h| (h.own, h.total));
        assert_eq!((of("a"), of("b")), (Some((0, 3)), Some((4, 4))));
    }

    #[test]
    fn returns_whole_paths() {
        let ways = tree(&[("a b", 1), ("a c d", 5), ("a", 3)]).dearest(2);
        let names = |frames: &[Frame]| frames.iter().map(|f| f.name.to_string()).collect::<Vec<_>>().join(" ");
        assert_eq!(
            ways.iter().map(|(own, f)| (*own, names(f))).collect::<Vec<_>>(),
            [(5, "a c d".into()), (3, "a".into())]
        );
    }

    #[test]
    fn handles_deep_stacks() {
        let deep = "f ".repeat(200_000);
        let tree = tree(&[(&deep, 1)]);
        assert_eq!(tree.hottest()[0].total, 1);
        assert_eq!(tree.to_json(None)["nodes"].as_array().map(Vec::len), Some(200_001));
    }

    #[test]
    fn json_round_trip() {
        let tree = tree(&[("a b", 1), ("a c", 2)]);
        let again = Tree::from_json(&tree.to_json(None)).unwrap();
        assert_eq!(again.to_json(None), tree.to_json(None));
        for wrong in [
            "{}",
            "[]",
            r#"{"names":["a"],"nodes":[[null,0,0,1,0],[1,0,0,1,0]]}"#,
            r#"{"names":[],"nodes":[[null,0,0,1,0],[0,0,0,1,0]]}"#,
        ] {
            assert!(Tree::from_json(&serde_json::from_str(wrong).unwrap()).is_none(), "{wrong}");
        }
    }

    #[test]
    fn compares_shares() {
        let (old, new) = (tree(&[("a", 1), ("b", 1)]), tree(&[("a", 30), ("b", 10)]));
        let changes = new.changes_since(&old);
        assert_eq!((&*changes[0].name, changes[0].then, changes[0].now), ("a", 0.5, 0.75));
        let json = new.to_json(Some(&old));
        assert!(json["nodes"].as_array().unwrap().iter().any(|row| row[3] == 30 && row[5] == 20.0), "{json}");
    }

    #[test]
    fn rows_name_their_parents() {
        let json = tree(&[("a b", 1), ("a c", 2)]).to_json(None);
        assert_eq!(json["nodes"][0], json!([null, 0, 0, 3, 0]));
        let parents: Vec<_> = (1..4).map(|i| json["nodes"][i][0].as_u64().unwrap()).collect();
        assert_eq!(parents, [0, 1, 1]);
    }
}
