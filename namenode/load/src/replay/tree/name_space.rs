//! Directories and files to create, each with its parent.

/// Number of the root.
pub const ROOT: u32 = 0;
/// Parent of the root, and of nodes that no directory contains.
pub const NO_PARENT: u32 = u32::MAX;
/// Owner and group of a node without one: the user who creates it.
pub const NOBODY: u32 = u32::MAX;

/// A directory or a file.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    pub parent: u32,
    pub name: Box<str>,
    pub is_directory: bool,
    pub mode: u16,
    /// Numbers in [`NameTree::names`].
    pub owner: u32,
    pub group: u32,
    /// Milliseconds since 1970; 0 leaves the time of the creation.
    pub mtime_ms: u64,
    pub atime_ms: u64,
}

/// Nodes of a name space; the first is the root.
#[derive(Debug)]
pub struct NameTree {
    pub nodes: Vec<Node>,
    /// Names of owners and groups.
    pub names: Vec<String>,
}

impl NameTree {
    /// Returns a tree with a root alone.
    pub fn new(root_mode: u16) -> NameTree {
        let root = Node {
            parent: NO_PARENT,
            name: "".into(),
            is_directory: true,
            mode: root_mode,
            owner: NOBODY,
            group: NOBODY,
            mtime_ms: 0,
            atime_ms: 0,
        };
        NameTree { nodes: vec![root], names: Vec::new() }
    }

    /// Returns the path of a node; the root is empty.
    pub fn path(&self, mut number: u32) -> String {
        let mut parts = Vec::new();
        while number != ROOT {
            let node = &self.nodes[number as usize];
            parts.push(&*node.name);
            number = node.parent;
        }
        parts.iter().rev().flat_map(|part| ["/", part]).collect()
    }

    /// Returns the directories level by level, the root first, and then the files. Nodes that the root does not reach
    /// are left out.
    pub fn levels(&self) -> Vec<Vec<u32>> {
        let mut children: Vec<Vec<u32>> = vec![Vec::new(); self.nodes.len()];
        for (number, node) in self.nodes.iter().enumerate().skip(1) {
            if let Some(of) = children.get_mut(node.parent as usize) {
                of.push(number as u32);
            }
        }
        let (mut levels, mut files, mut level) = (Vec::new(), Vec::new(), vec![ROOT]);
        while !level.is_empty() {
            let mut next = Vec::new();
            for directory in &level {
                for child in std::mem::take(&mut children[*directory as usize]) {
                    let to = if self.nodes[child as usize].is_directory { &mut next } else { &mut files };
                    to.push(child);
                }
            }
            levels.push(std::mem::replace(&mut level, next));
        }
        levels.push(files);
        levels
    }

    /// Returns the name of an owner or a group.
    pub fn name(&self, number: u32) -> Option<&str> {
        self.names.get(number as usize).map(String::as_str)
    }
}
