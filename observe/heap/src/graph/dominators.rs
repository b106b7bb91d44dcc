//! Dominators of a graph by the semi-NCA algorithm, without recursion.
//!
//! Georgiadis, Tarjan, Werneck: Finding Dominators in Practice, 2006. Lengauer and Tarjan's algorithm has a better
//! bound, but more passes over memory.

/// Node without a dominator: unreached.
pub const UNREACHED: u32 = u32::MAX;

/// Successors of each node, in one array.
pub struct Graph {
    begins: Vec<u32>,
    targets: Vec<u32>,
}

impl Graph {
    /// Returns the graph of some edges. `edges` calls the function with the ends of each edge, twice the same.
    pub fn of(nodes: usize, edges: impl Fn(&mut dyn FnMut(u32, u32))) -> Graph {
        let mut begins = vec![0_u32; nodes + 1];
        edges(&mut |from, _| begins[from as usize] += 1);
        // From here on the end of each node's targets, which moves to their begin.
        (1..=nodes).for_each(|node| begins[node] += begins[node - 1]);
        let mut targets = vec![0; begins[nodes] as usize];
        edges(&mut |from, to| {
            begins[from as usize] -= 1;
            targets[begins[from as usize] as usize] = to;
        });
        Graph { begins, targets }
    }

    fn successors(&self, node: u32) -> &[u32] {
        &self.targets[self.begins[node as usize] as usize..self.begins[node as usize + 1] as usize]
    }

    fn nodes(&self) -> usize {
        self.begins.len() - 1
    }
}

/// Dominators by node, and the reached nodes in the order of a depth-first search.
pub struct Dominators {
    /// Immediate dominator of each node; `UNREACHED` for the root and for unreached nodes.
    pub of: Vec<u32>,
    /// Reached nodes, each behind its dominator. The root is first.
    pub order: Vec<u32>,
}

/// Returns the dominators of the nodes that `root` reaches.
pub fn dominators(graph: Graph, root: u32) -> Dominators {
    let nodes = graph.nodes();
    let Search { order, numbers, parents } = Search::of(&graph, root);
    let count = order.len();
    // From here on nodes are their numbers in the search.
    let before = Graph::of(count, |edge| {
        for (number, &node) in order.iter().enumerate() {
            graph.successors(node).iter().for_each(|&to| edge(numbers[to as usize], number as u32));
        }
    });
    drop((graph, numbers));
    let mut semi: Vec<u32> = (0..count as u32).collect();
    let mut labels = semi.clone();
    let mut ancestors = vec![UNREACHED; count];
    let mut path = Vec::new();
    for node in (1..count).rev() {
        let mut least = parents[node];
        for &from in before.successors(node as u32) {
            let label = evaluate(from, &semi, &mut labels, &mut ancestors, &mut path);
            least = least.min(semi[label as usize]);
        }
        semi[node] = least;
        ancestors[node] = parents[node];
    }
    let mut idoms = parents;
    for node in 1..count {
        let mut idom = idoms[node];
        while idom > semi[node] {
            idom = idoms[idom as usize];
        }
        idoms[node] = idom;
    }
    drop((before, semi, labels, ancestors));
    let mut of = vec![UNREACHED; nodes];
    (1..count).for_each(|node| of[order[node] as usize] = order[idoms[node] as usize]);
    Dominators { of, order }
}

/// Returns the node of least semidominator above `node` in the linked forest; shortens the path.
fn evaluate(node: u32, semi: &[u32], labels: &mut [u32], ancestors: &mut [u32], path: &mut Vec<u32>) -> u32 {
    if ancestors[node as usize] == UNREACHED {
        return node;
    }
    let mut top = node;
    while ancestors[ancestors[top as usize] as usize] != UNREACHED {
        path.push(top);
        top = ancestors[top as usize];
    }
    while let Some(node) = path.pop() {
        let above = ancestors[node as usize] as usize;
        if semi[labels[above] as usize] < semi[labels[node as usize] as usize] {
            labels[node as usize] = labels[above];
        }
        ancestors[node as usize] = ancestors[above];
    }
    labels[node as usize]
}

/// Depth-first search.
struct Search {
    order: Vec<u32>,
    /// Number of each node; `UNREACHED` without one.
    numbers: Vec<u32>,
    /// Number of the node before each, by number.
    parents: Vec<u32>,
}

impl Search {
    fn of(graph: &Graph, root: u32) -> Search {
        let mut search = Search { order: Vec::new(), numbers: vec![UNREACHED; graph.nodes()], parents: Vec::new() };
        let mut stack = vec![(root, graph.begins[root as usize])];
        search.reach(root, 0);
        while let Some((node, next)) = stack.last_mut() {
            if *next == graph.begins[*node as usize + 1] {
                stack.pop();
                continue;
            }
            let to = graph.targets[*next as usize];
            *next += 1;
            if search.numbers[to as usize] == UNREACHED {
                let from = search.numbers[*node as usize];
                search.reach(to, from);
                stack.push((to, graph.begins[to as usize]));
            }
        }
        search
    }

    fn reach(&mut self, node: u32, from: u32) {
        self.numbers[node as usize] = self.order.len() as u32;
        self.order.push(node);
        self.parents.push(from);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_dominators_of_the_paper() {
        // Lengauer and Tarjan, 1979: R, A .. L.
        let edges = "RA RB RC AD BA BD BE CF CG DL EH FI GI GJ HE HK IK JI KI KR LH";
        let node = |name: u8| if name == b'R' { 0 } else { u32::from(name - b'A') + 1 };
        let edges: Vec<(u32, u32)> = edges.split(' ').map(|e| (node(e.as_bytes()[0]), node(e.as_bytes()[1]))).collect();
        let graph = Graph::of(14, |edge| edges.iter().for_each(|&(from, to)| edge(from, to)));
        let found = dominators(graph, 0);
        for (nodes, idom) in [("ABCDEHIK", b'R'), ("FG", b'C'), ("L", b'D'), ("J", b'G')] {
            for name in nodes.bytes() {
                assert_eq!(found.of[node(name) as usize], node(idom), "{}", name as char);
            }
        }
        assert_eq!((found.of[0], found.of[13]), (UNREACHED, UNREACHED));
        assert_eq!(found.order.len(), 13);
    }
}
