//! Name space of an fsimage as XML, as `hdfs oiv -p XML` writes it.
//!
//! ```text
//!   fsimage/INodeSection/inode: id, type, name, mtime, atime, permission (owner:group:0755)
//!   fsimage/INodeDirectorySection/directory: parent, child, child, ..
//! ```
//!
//! The file is read as a stream; a node takes an estimated 150 bytes of memory. Blocks, quotas, ACLs, links and
//! snapshots are left out.

use std::collections::HashMap;
use std::io::BufRead;
use std::path::Path;

use quick_xml::Reader;
use quick_xml::events::Event;
use yunti_base::{Code, Error, Result};

use super::name_space::{NO_PARENT, NOBODY, NameTree, Node, ROOT};
use crate::replay::log::text_file;

/// Reads an image, plain or gzip.
///
/// # Errors
/// The file cannot be read, is not such XML, or is not complete.
pub fn read(path: &Path) -> Result<NameTree> {
    parse(text_file::open(path)?).map_err(|e| e.at_path(path.to_string_lossy()))
}

#[derive(Default)]
struct Builder {
    tree: Option<NameTree>,
    /// Numbers of nodes by their ids in the image.
    numbers: HashMap<u64, u32>,
    owners: HashMap<String, u32>,
    /// Fields of the current inode.
    id: u64,
    kind: String,
    name: String,
    permission: String,
    mtime_ms: u64,
    atime_ms: u64,
    /// Current directory of the directory section.
    parent: Option<u32>,
}

fn parse(file: impl BufRead) -> Result<NameTree> {
    let mut reader = Reader::from_reader(file);
    let (mut builder, mut bytes) = (Builder::default(), Vec::new());
    let (mut open, mut text) = (Vec::<String>::new(), String::new());
    loop {
        bytes.clear();
        let event = reader.read_event_into(&mut bytes);
        let at = reader.buffer_position();
        let damaged = |what: &str| {
            Error::new(Code::Corrupt, format!("the image is not the XML of an fsimage: {what}"))
                .at_offset(at)
                .hint("write it with hdfs oiv -p XML -i fsimage_N -o FILE")
        };
        match event.map_err(|e| damaged(&e.to_string()))? {
            Event::Start(start) => {
                open.push(start.name().as_ref().to_owned());
                if open.len() == 1 && open[0] != "fsimage" {
                    return Err(damaged("it begins with another element"));
                }
                text.clear();
                builder.begin(&open);
            }
            Event::Text(part) => text += &part,
            Event::GeneralRef(part) => {
                let code = part.resolve_char_ref().map_err(|e| damaged(&e.to_string()))?;
                match (code, &*part) {
                    (Some(letter), _) => text.push(letter),
                    (_, "amp") => text.push('&'),
                    (_, "lt") => text.push('<'),
                    (_, "gt") => text.push('>'),
                    (_, "quot") => text.push('"'),
                    (_, "apos") => text.push('\''),
                    _ => return Err(damaged("an unknown entity")),
                }
            }
            Event::End(_) => {
                builder.end(&open, &text).map_err(damaged)?;
                open.pop();
                text.clear();
            }
            Event::Eof if !open.is_empty() => return Err(damaged("it ends in the middle")),
            Event::Eof => return builder.tree.ok_or_else(|| damaged("it has no inode")),
            _ => {}
        }
    }
}

impl Builder {
    fn begin(&mut self, open: &[String]) {
        match *open.iter().map(String::as_str).collect::<Vec<_>>() {
            [_, "INodeSection", "inode"] => {
                self.name.clear();
                self.kind.clear();
                self.permission.clear();
                (self.mtime_ms, self.atime_ms) = (0, 0);
            }
            [_, "INodeDirectorySection", "directory"] => self.parent = None,
            _ => {}
        }
    }

    fn end(&mut self, open: &[String], text: &str) -> std::result::Result<(), &'static str> {
        let number = || text.trim().parse::<u64>().map_err(|_| "a number is not one");
        match *open.iter().map(String::as_str).collect::<Vec<_>>() {
            [_, "INodeSection", "inode", field] => match field {
                "id" => self.id = number()?,
                "type" => text.clone_into(&mut self.kind),
                "name" => self.name = unmangled(text),
                "permission" => text.clone_into(&mut self.permission),
                "mtime" => self.mtime_ms = number()?,
                "atime" => self.atime_ms = number()?,
                _ => {}
            },
            [_, "INodeSection", "inode"] => self.add()?,
            [_, "INodeDirectorySection", "directory", "parent"] => {
                self.parent = self.numbers.get(&number()?).copied();
            }
            // Hadoop 2 names a child `inode`.
            [_, "INodeDirectorySection", "directory", "child" | "inode"] => {
                let child = self.numbers.get(&number()?).copied();
                if let (Some(parent), Some(child), Some(tree)) = (self.parent, child, &mut self.tree) {
                    tree.nodes[child as usize].parent = if child == ROOT { NO_PARENT } else { parent };
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn add(&mut self) -> std::result::Result<(), &'static str> {
        let is_directory = match self.kind.as_str() {
            "DIRECTORY" => true,
            "FILE" => false,
            _ => return Ok(()),
        };
        let mut parts = self.permission.rsplitn(3, ':');
        let mode = parts.next().and_then(|mode| u16::from_str_radix(mode, 8).ok());
        let (Some(mode), Some(group), Some(owner)) = (mode, parts.next(), parts.next()) else {
            return Err("a permission is not owner:group:mode");
        };
        let tree = self.tree.get_or_insert_with(|| NameTree::new(0o755));
        let owners = &mut self.owners;
        let mut number = |name: &str| match (name, owners.get(name)) {
            ("", _) => NOBODY,
            (_, Some(number)) => *number,
            (_, None) => {
                let number = tree.names.len() as u32;
                tree.names.push(name.to_owned());
                owners.insert(name.to_owned(), number);
                number
            }
        };
        let (owner, group) = (number(owner), number(group));
        let node = Node {
            parent: NO_PARENT,
            name: self.name.as_str().into(),
            is_directory,
            mode,
            owner,
            group,
            mtime_ms: self.mtime_ms,
            atime_ms: self.atime_ms,
        };
        if self.name.is_empty() {
            tree.nodes[ROOT as usize] = node;
            self.numbers.insert(self.id, ROOT);
        } else {
            self.numbers.insert(self.id, tree.nodes.len() as u32);
            tree.nodes.push(node);
        }
        Ok(())
    }
}

/// Replaces `\0009;` by the character of this code: XML has no place for some.
fn unmangled(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\\') {
        plain += before;
        let code = after.split_once(';').filter(|(hex, _)| hex.len() == 4);
        let letter = code.and_then(|(hex, after)| Some((char::from_u32(u32::from_str_radix(hex, 16).ok()?)?, after)));
        match letter {
            Some((letter, after)) => {
                plain.push(letter);
                rest = after;
            }
            None => {
                plain.push('\\');
                rest = after;
            }
        }
    }
    plain + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    const IMAGE: &str = r#"<?xml version="1.0"?>
<fsimage><version><layoutVersion>-67</layoutVersion></version>
<INodeSection><lastInodeId>16390</lastInodeId><numInodes>6</numInodes>
<inode><id>16385</id><type>DIRECTORY</type><name></name><mtime>7</mtime><permission>hdfs:supergroup:0755</permission>
<nsquota>9223372036854775807</nsquota><dsquota>-1</dsquota></inode>
<inode><id>16387</id><type>FILE</type><name>x &amp; \0009;y\005c;</name><replication>3</replication><mtime>8</mtime>
<atime>9</atime><permission>al:staff:0640</permission><blocks><block><id>1</id><genstamp>2</genstamp></block></blocks>
</inode>
<inode><id>16386</id><type>DIRECTORY</type><name>a</name><mtime>5</mtime><permission>al:hdfs:1777</permission></inode>
<inode><id>16388</id><type>SYMLINK</type><name>link</name><permission>al:hdfs:0777</permission></inode>
<inode><id>16389</id><type>FILE</type><name>only in a snapshot</name><permission>al:hdfs:0644</permission></inode>
</INodeSection><SnapshotSection><snapshotCounter>0</snapshotCounter></SnapshotSection>
<INodeDirectorySection><directory><parent>16385</parent><child>16386</child><child>16388</child></directory>
<directory><parent>16386</parent><inode>16387</inode></directory></INodeDirectorySection></fsimage>
"#;

    #[test]
    fn reads_nodes_below_the_root() {
        let tree = parse(IMAGE.as_bytes()).unwrap();
        let row = |number: &u32| {
            let node = &tree.nodes[*number as usize];
            let (owner, group) = (tree.name(node.owner).unwrap(), tree.name(node.group).unwrap());
            (tree.path(*number), node.mode, owner.to_owned(), group.to_owned(), node.mtime_ms, node.atime_ms)
        };
        let expect = |path: &str, mode: u16, owner: &str, group: &str, mtime: u64, atime: u64| {
            (path.to_owned(), mode, owner.to_owned(), group.to_owned(), mtime, atime)
        };
        let levels: Vec<Vec<_>> = tree.levels().iter().map(|level| level.iter().map(row).collect()).collect();
        assert_eq!(
            levels,
            [
                vec![expect("", 0o755, "hdfs", "supergroup", 7, 0)],
                vec![expect("/a", 0o1777, "al", "hdfs", 5, 0)],
                vec![expect("/a/x & \ty\\", 0o640, "al", "staff", 8, 9)],
            ]
        );
    }

    #[test]
    fn refuses_damaged_images() {
        let check = |text: &str, expect: &str| {
            let error = parse(text.as_bytes()).unwrap_err();
            assert_eq!(error.code(), Code::Corrupt);
            assert!(error.to_string().contains(expect), "{error}");
        };
        for bytes in (1..IMAGE.trim_end().len()).step_by(7) {
            assert!(parse(&IMAGE.as_bytes()[..bytes]).is_err(), "{bytes}");
        }
        check("", "it has no inode");
        check("<html></html>", "it begins with another element");
        check("<fsimage></fsimage>", "it has no inode");
        check(&IMAGE.replace("<id>16387", "<id>x"), "a number is not one");
        check(&IMAGE.replace("al:staff:0640", "al"), "a permission is not owner:group:mode");
        check(&IMAGE.replace("&amp;", "&bogus;"), "an unknown entity");
    }
}
