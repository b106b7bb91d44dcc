//! Name space that a log implies: paths that its calls find without having made them.
//!
//! The first call that says something of a path decides. `open`, `listStatus`, `delete`, the source of a rename and
//! the like find a path: it exists before. `create`, `mkdirs` and the target of a rename make it: it does not.
//! `getfileinfo` has a line also for a missing path, so it decides only if no later call does.
//!
//! A path below the target of a rename existed below its source.
//!
//! Directories have mode 0777 and files 0666, since the log has no modes. A call that the NameNode refused finds a
//! directory or a file that only the superuser may use, unless another call of the log used it.

use std::collections::{HashMap, HashSet};

use super::name_space::{NO_PARENT, NOBODY, NameTree, Node, ROOT};
use crate::replay::command::Command;
use crate::replay::log::audit_log::{Event, Users};

const DIRECTORY_MODE: u16 = 0o777;
const FILE_MODE: u16 = 0o666;
const CLOSED_MODE: u16 = 0o700;
/// Renames of one path that are followed back, at most.
const RENAMES_MAX: usize = 64;

/// State of a path, from the calls up to now.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Guess {
    /// Does it exist before? None while only `getfileinfo` met it.
    exists: Option<bool>,
    is_directory: Option<bool>,
    owner: u32,
}

/// Paths of a log, and what its calls say of them.
#[derive(Debug, Default)]
pub struct Paths {
    guesses: HashMap<String, Guess>,
    /// Current path and earlier path of each rename.
    moved: HashMap<String, String>,
    /// Paths that an allowed call used, with all directories above them.
    used: HashSet<String>,
    /// Paths that must be closed for a call to be refused.
    closed: HashSet<String>,
}

impl Paths {
    /// Adds the next call.
    pub fn add(&mut self, event: &Event) {
        use Command::*;
        let src = self.before(&event.src);
        if !event.is_allowed {
            self.refuse(event, &src);
            return;
        }
        self.mark_used(&src);
        let owner = event.user;
        match event.command {
            GetFileInfo | IsFileClosed | CheckAccess => self.guess(src, None, None, owner),
            ListStatus | ContentSummary | QuotaUsage => self.guess(src, Some(true), None, owner),
            Open => self.guess(src, Some(true), Some(false), owner),
            Append => self.guess(src, Some(true), Some(false), owner),
            Create => self.guess(src, Some(false), Some(false), owner),
            Mkdirs => self.guess(src, Some(false), Some(true), owner),
            SetPermission | SetOwner | SetTimes => self.guess(src, Some(true), None, owner),
            Delete | SetReplication => self.guess(src, Some(true), None, owner),
            GetEzForPath | GetAclStatus | GetXAttrs | ListXAttrs | GetStoragePolicy | GetErasureCodingPolicy => {
                self.guess(src, Some(true), None, owner);
            }
            Rename => {
                self.guess(src.clone(), Some(true), None, owner);
                if let Some(dst) = &event.dst {
                    let target = self.before(dst);
                    self.mark_used(&target);
                    self.guess(target, Some(false), None, owner);
                    self.moved.insert(dst.clone(), src);
                }
            }
        }
    }

    /// Returns the path that a current path had at the begin.
    fn before(&self, path: &str) -> String {
        let mut path = path.to_owned();
        for _ in 0..RENAMES_MAX {
            let ends = path.char_indices().filter(|(at, letter)| *letter == '/' && *at > 0).map(|(at, _)| at);
            let ends: Vec<usize> = ends.chain([path.len()]).collect();
            let renamed = ends.iter().rev().find_map(|end| Some((*end, self.moved.get(&path[..*end])?)));
            match renamed {
                Some((end, earlier)) if *earlier != path[..end] => path = format!("{earlier}{}", &path[end..]),
                _ => break,
            }
        }
        path
    }

    fn mark_used(&mut self, path: &str) {
        let mut path = path;
        while !path.is_empty() && self.used.insert(path.to_owned()) {
            path = parent(path);
        }
    }

    /// Adds what a call says of a path; the paths above it are directories.
    fn guess(&mut self, path: String, exists: Option<bool>, is_directory: Option<bool>, owner: u32) {
        let mut above = parent(&path);
        while !above.is_empty() && self.guesses.get(above).is_none_or(|guess| guess.is_directory != Some(true)) {
            let none = Guess { exists: None, is_directory: None, owner: NOBODY };
            self.guesses.entry(above.to_owned()).or_insert(none).is_directory = Some(true);
            above = parent(above);
        }
        let guess = self.guesses.entry(path).or_insert(Guess { exists: None, is_directory: None, owner });
        guess.is_directory = guess.is_directory.or(is_directory);
        if guess.exists.is_none() && exists.is_some() {
            guess.exists = exists;
            guess.owner = owner;
        }
    }

    fn refuse(&mut self, event: &Event, src: &str) {
        use Command::*;
        let closed = match event.command {
            // The path itself cannot be read or written.
            Open | Append | ListStatus | ContentSummary | SetReplication | SetTimes | GetXAttrs | CheckAccess => src,
            // Only its owner may do this.
            SetPermission | SetOwner => "",
            _ => parent(src),
        };
        if !closed.is_empty() {
            self.closed.insert(closed.to_owned());
        }
        let is_directory = match event.command {
            Open | Append | SetReplication => Some(false),
            ListStatus | ContentSummary => Some(true),
            _ => None,
        };
        match event.command {
            Create | Mkdirs | GetFileInfo => {}
            _ => self.guess(src.to_owned(), Some(true), is_directory, NOBODY),
        }
    }

    /// Returns the name space.
    pub fn into_tree(self, users: &Users) -> NameTree {
        let mut tree = NameTree::new(DIRECTORY_MODE);
        tree.names.clone_from(&users.names);
        let mut numbers = HashMap::from([(String::new(), ROOT)]);
        let mut paths: Vec<(&String, &Guess)> =
            self.guesses.iter().filter(|(_, guess)| guess.exists != Some(false)).collect();
        // Parents come first, and the order of a hash map is random.
        paths.sort_unstable_by_key(|(path, _)| *path);
        for (path, guess) in paths {
            self.insert(&mut tree, &mut numbers, path, guess.is_directory.unwrap_or(false), guess.owner);
        }
        for path in &self.closed {
            if !self.used.contains(path) {
                let number = self.insert(&mut tree, &mut numbers, path, true, NOBODY);
                let node = &mut tree.nodes[number as usize];
                (node.mode, node.owner) = (CLOSED_MODE, NOBODY);
            }
        }
        tree
    }

    fn insert(
        &self,
        tree: &mut NameTree,
        numbers: &mut HashMap<String, u32>,
        path: &str,
        is_directory: bool,
        owner: u32,
    ) -> u32 {
        if let Some(number) = numbers.get(path) {
            return *number;
        }
        let above = self.insert(tree, numbers, parent(path), true, NOBODY);
        // A path with others below it is a directory.
        let above_node = &mut tree.nodes[above as usize];
        if !above_node.is_directory {
            (above_node.is_directory, above_node.mode) = (true, DIRECTORY_MODE);
        }
        let number = tree.nodes.len() as u32;
        let name = &path[parent(path).len() + 1..];
        debug_assert_ne!(above, NO_PARENT);
        tree.nodes.push(Node {
            parent: above,
            name: name.into(),
            is_directory,
            mode: if is_directory { DIRECTORY_MODE } else { FILE_MODE },
            owner,
            group: NOBODY,
            mtime_ms: 0,
            atime_ms: 0,
        });
        numbers.insert(path.to_owned(), number);
        number
    }
}

/// Returns the directory of a path; the root is empty.
fn parent(path: &str) -> &str {
    path.rfind('/').map_or("", |at| &path[..at])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the paths that exist before, with `/` after directories and `!` after closed ones.
    fn derived(calls: &[(Command, &str, &str, bool)]) -> Vec<String> {
        let (mut paths, mut users) = (Paths::default(), Users::default());
        for (command, src, dst, is_allowed) in calls {
            paths.add(&Event {
                at_ms: 0,
                is_allowed: *is_allowed,
                user: users.number("al"),
                command: *command,
                src: (*src).to_owned(),
                dst: (!dst.is_empty()).then(|| (*dst).to_owned()),
                is_overwriting: false,
                status: None,
            });
        }
        let tree = paths.into_tree(&users);
        let mut all: Vec<String> = tree
            .levels()
            .concat()
            .into_iter()
            .map(|number| {
                let node = &tree.nodes[number as usize];
                let closed = if node.mode == CLOSED_MODE { "!" } else { "" };
                format!("{}{}{closed}", tree.path(number), if node.is_directory { "/" } else { "" })
            })
            .collect();
        all.sort();
        all
    }

    #[test]
    fn paths_exist_that_calls_find() {
        use Command::*;
        assert_eq!(
            derived(&[
                (Open, "/a/b/f", "", true),
                (ListStatus, "/a/c", "", true),
                (Delete, "/a/d", "", true),
                (GetFileInfo, "/a/e", "", true),
            ]),
            ["/", "/a/", "/a/b/", "/a/b/f", "/a/c", "/a/d", "/a/e"]
        );
        // A listed path with files below it is a directory.
        assert_eq!(derived(&[(ListStatus, "/a", "", true), (Open, "/a/f", "", true)]), ["/", "/a/", "/a/f"]);
    }

    #[test]
    fn paths_do_not_exist_that_calls_make() {
        use Command::*;
        assert_eq!(
            derived(&[
                (GetFileInfo, "/f", "", true),
                (Create, "/f", "", true),
                (Open, "/f", "", true),
                (Mkdirs, "/d", "", true),
                (ListStatus, "/d", "", true),
                (Delete, "/f", "", true),
            ]),
            ["/"]
        );
        // A directory that only a create made, and that is deleted at the end.
        assert_eq!(derived(&[(Create, "/d/f", "", true), (Delete, "/d", "", true)]), ["/", "/d/"]);
        // After the delete it is made again, but it was there first.
        assert_eq!(derived(&[(Delete, "/f", "", true), (Create, "/f", "", true)]), ["/", "/f"]);
    }

    #[test]
    fn paths_are_followed_through_renames() {
        use Command::*;
        assert_eq!(
            derived(&[
                (Rename, "/a", "/b", true),
                (Open, "/b/f", "", true),
                (Rename, "/b", "/c", true),
                (Open, "/c/g", "", true),
                (Create, "/t/x", "", true),
                (Rename, "/t/x", "/c/x", true),
                (Open, "/c/x", "", true),
            ]),
            ["/", "/a/", "/a/f", "/a/g", "/t/"]
        );
        // There and back again.
        assert_eq!(
            derived(&[(Rename, "/a", "/b", true), (Rename, "/b", "/a", true), (Open, "/a/f", "", true)]),
            ["/", "/a/", "/a/f"]
        );
    }

    #[test]
    fn refused_calls_find_closed_paths() {
        use Command::*;
        assert_eq!(
            derived(&[
                (Open, "/p/secret", "", false),
                (GetFileInfo, "/q/x", "", false),
                (Create, "/r/x", "", false),
                (Open, "/r/y", "", true),
                (SetOwner, "/s/f", "", false),
            ]),
            ["/", "/p/", "/p/secret!", "/q/!", "/r/", "/r/y", "/s/", "/s/f"]
        );
    }
}
