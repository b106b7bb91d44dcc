//! Reads a snapshot: one JSON object with arrays of numbers, whose fields its head describes.
//!
//! ```text
//!   {"snapshot": {"meta": {"node_fields": ["type", "name", ..], "node_types": [[..], ..], ..}, ..},
//!    "nodes": [type, name, id, self_size, edge_count, ..], "edges": [type, name_or_index, to_node, ..],
//!    "strings": [..]}
//! ```
//!
//! The arrays are never whole in memory: each number goes into the column of its field as it is read.

use std::fmt;
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use yunti_base::{Code, Error, Result};

/// Bytes read at once.
const BLOCK_BYTES: usize = 1 << 20;
/// Fields that a node or an edge may have.
const FIELDS_MAX: usize = 64;
/// Bytes of a name that are kept.
const NAME_BYTES_MAX: usize = 200;

/// Columns of a snapshot.
#[derive(Default, Debug)]
pub struct Columns {
    /// Names of the types of nodes.
    pub node_types: Vec<String>,
    /// Names of the types of edges.
    pub edge_types: Vec<String>,
    /// Type of each node.
    pub types: Vec<u8>,
    /// Name of each node.
    pub names: Vec<u32>,
    /// Identity of each node, the same in later snapshots.
    pub ids: Vec<u64>,
    /// Bytes of each node itself.
    pub sizes: Vec<u64>,
    /// First edge of each node, and the number of edges.
    pub first_edges: Vec<u32>,
    /// Type of each edge.
    pub edge_kinds: Vec<u8>,
    /// Name of each edge, or its index.
    pub edge_names: Vec<u32>,
    /// Node that each edge leads to.
    pub targets: Vec<u32>,
    /// Texts.
    pub strings: Vec<String>,
}

/// Returns true for the beginning of a snapshot.
pub fn is_snapshot(begin: &[u8]) -> bool {
    let text: Vec<u8> = begin.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).take(12).collect();
    text == b"{\"snapshot\":"
}

/// Reads a snapshot.
pub fn read(path: &Path) -> Result<Columns> {
    let failed =
        |e: &std::io::Error| Error::io(Code::Input, "cannot read the heap snapshot", e).at_path(path.to_string_lossy());
    let file = File::open(path).map_err(|e| failed(&e))?;
    columns(BufReader::with_capacity(BLOCK_BYTES, file)).map_err(|e| {
        if e.is_io() {
            return failed(&e.into());
        }
        let hint = if e.is_eof() { "the snapshot is cut: write it again" } else { "is it a snapshot of V8?" };
        Error::new(Code::Corrupt, format!("the heap snapshot is damaged: {e}"))
            .at_path(path.to_string_lossy())
            .hint(hint)
    })
}

fn columns(from: impl Read) -> std::result::Result<Columns, serde_json::Error> {
    let mut json = serde_json::Deserializer::from_reader(from);
    let columns = Whole.deserialize(&mut json)?;
    json.end()?;
    Ok(columns)
}

#[derive(Deserialize)]
struct Head {
    meta: Meta,
}

/// Names of fields, and of the types of those fields that have some.
#[derive(Deserialize)]
struct Meta {
    node_fields: Vec<String>,
    node_types: Vec<Types>,
    edge_fields: Vec<String>,
    edge_types: Vec<Types>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Types {
    Names(Vec<String>),
    #[expect(dead_code, reason = "a plain type, such as number")]
    Plain(String),
}

fn type_names(types: Vec<Types>) -> Vec<String> {
    types
        .into_iter()
        .find_map(|types| if let Types::Names(names) = types { Some(names) } else { None })
        .unwrap_or_default()
}

struct Whole;

impl<'de> DeserializeSeed<'de> for Whole {
    type Value = Columns;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> std::result::Result<Columns, D::Error> {
        from.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Whole {
    type Value = Columns;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a heap snapshot")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Columns, A::Error> {
        let mut columns = Columns::default();
        let mut fields: Option<(Vec<String>, Vec<String>)> = None;
        let mut node_fields = 0;
        while let Some(key) = map.next_key::<String>()? {
            match &*key {
                "snapshot" => {
                    let Meta { node_fields, node_types, edge_fields, edge_types } = map.next_value::<Head>()?.meta;
                    (columns.node_types, columns.edge_types) = (type_names(node_types), type_names(edge_types));
                    fields = Some((node_fields, edge_fields));
                }
                "nodes" => {
                    let (fields, _) =
                        fields.as_ref().ok_or_else(|| A::Error::custom("nodes before their description"))?;
                    node_fields = fields.len();
                    map.next_value_seed(Numbers { fields, each: NodeRows::of(fields, &mut columns)? })?;
                }
                "edges" => {
                    let (_, fields) =
                        fields.as_ref().ok_or_else(|| A::Error::custom("edges before their description"))?;
                    map.next_value_seed(Numbers { fields, each: EdgeRows::of(fields, node_fields, &mut columns)? })?;
                }
                "strings" => columns.strings = map.next_value_seed(Texts)?,
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        check(&columns).map_err(A::Error::custom)?;
        Ok(columns)
    }
}

/// Returns the reason why columns do not fit each other.
fn check(columns: &Columns) -> std::result::Result<(), String> {
    let (nodes, edges) = (columns.types.len(), columns.targets.len());
    if nodes == 0 {
        return Err("there are no nodes".to_owned());
    }
    if columns.first_edges.last().copied().unwrap_or(0) as usize != edges {
        return Err(format!("nodes have {} edges, and there are {edges}", columns.first_edges.last().unwrap_or(&0)));
    }
    match columns.targets.iter().position(|&target| target as usize >= nodes) {
        Some(edge) => Err(format!("edge {edge} leads to a node that is not there")),
        None => Ok(()),
    }
}

/// Receiver of rows of numbers.
trait Rows {
    /// Receives a row; returns the reason why it is wrong.
    fn row(&mut self, row: &[u64]) -> std::result::Result<(), &'static str>;
}

fn column<E: serde::de::Error>(fields: &[String], name: &str) -> std::result::Result<usize, E> {
    fields.iter().position(|field| field == name).ok_or_else(|| E::custom(format!("the field '{name}' is missing")))
}

struct NodeRows<'a> {
    /// Fields: type, name, id, size, count of edges.
    at: [usize; 5],
    columns: &'a mut Columns,
}

impl NodeRows<'_> {
    fn of<'a, E: serde::de::Error>(
        fields: &[String],
        columns: &'a mut Columns,
    ) -> std::result::Result<NodeRows<'a>, E> {
        let at = |name| column::<E>(fields, name);
        columns.first_edges = vec![0];
        Ok(NodeRows { at: [at("type")?, at("name")?, at("id")?, at("self_size")?, at("edge_count")?], columns })
    }
}

impl Rows for NodeRows<'_> {
    fn row(&mut self, row: &[u64]) -> std::result::Result<(), &'static str> {
        let [kind, name, id, size, edges] = self.at.map(|at| row[at]);
        let columns = &mut *self.columns;
        let next = columns.first_edges.last().copied().unwrap_or(0);
        let next = u32::try_from(edges).ok().and_then(|edges| next.checked_add(edges)).ok_or("too many edges")?;
        columns.types.push(kind.try_into().map_err(|_| "a node has an unknown type")?);
        columns.names.push(name.try_into().map_err(|_| "a node has an unknown name")?);
        columns.ids.push(id);
        columns.sizes.push(size);
        columns.first_edges.push(next);
        if columns.types.len() < u32::MAX as usize { Ok(()) } else { Err("too many nodes") }
    }
}

struct EdgeRows<'a> {
    /// Fields: type, name or index, node.
    at: [usize; 3],
    node_fields: u64,
    columns: &'a mut Columns,
}

impl EdgeRows<'_> {
    fn of<'a, E: serde::de::Error>(
        fields: &[String],
        node_fields: usize,
        columns: &'a mut Columns,
    ) -> std::result::Result<EdgeRows<'a>, E> {
        let at = |name| column::<E>(fields, name);
        let at = [at("type")?, at("name_or_index")?, at("to_node")?];
        Ok(EdgeRows { at, node_fields: node_fields.max(1) as u64, columns })
    }
}

impl Rows for EdgeRows<'_> {
    fn row(&mut self, row: &[u64]) -> std::result::Result<(), &'static str> {
        let [kind, name, to] = self.at.map(|at| row[at]);
        let columns = &mut *self.columns;
        columns.edge_kinds.push(kind.try_into().map_err(|_| "an edge has an unknown type")?);
        columns.edge_names.push(name.try_into().map_err(|_| "an edge has an unknown name")?);
        // The offset of a node in its array.
        columns.targets.push((to / self.node_fields).try_into().map_err(|_| "an edge leads to an unknown node")?);
        if columns.targets.len() < u32::MAX as usize { Ok(()) } else { Err("too many edges") }
    }
}

/// Array of numbers, which are rows of fields.
struct Numbers<'a, R> {
    fields: &'a [String],
    each: R,
}

impl<'de, R: Rows> DeserializeSeed<'de> for Numbers<'_, R> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> std::result::Result<(), D::Error> {
        from.deserialize_seq(self)
    }
}

impl<'de, R: Rows> Visitor<'de> for Numbers<'_, R> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("an array of numbers")
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut numbers: A) -> std::result::Result<(), A::Error> {
        let count = self.fields.len();
        if !(1..=FIELDS_MAX).contains(&count) {
            return Err(A::Error::custom("the description of fields is wrong"));
        }
        let mut row = [0_u64; FIELDS_MAX];
        let mut at = 0;
        while let Some(number) = numbers.next_element::<u64>()? {
            row[at] = number;
            at += 1;
            if at == count {
                self.each.row(&row[..count]).map_err(A::Error::custom)?;
                at = 0;
            }
        }
        if at == 0 { Ok(()) } else { Err(A::Error::custom("the last row is not whole")) }
    }
}

/// Array of texts, whose ends are cut off if they are long.
struct Texts;

impl<'de> DeserializeSeed<'de> for Texts {
    type Value = Vec<String>;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> std::result::Result<Vec<String>, D::Error> {
        from.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Texts {
    type Value = Vec<String>;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("an array of texts")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut texts: A) -> std::result::Result<Vec<String>, A::Error> {
        let mut all = Vec::new();
        while let Some(mut text) = texts.next_element::<String>()? {
            if text.len() > NAME_BYTES_MAX {
                text.truncate(beginning(&text, NAME_BYTES_MAX).len());
                text.shrink_to_fit();
            }
            all.push(text);
        }
        Ok(all)
    }
}

/// Returns the first characters of a text, at most some bytes.
pub fn beginning(text: &str, bytes: usize) -> &str {
    let end = (0..=bytes.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = r#"{"snapshot":{"meta":{"node_fields":["type","name","id","self_size","edge_count"],
        "node_types":[["hidden","object"],"string","number","number","number"],
        "edge_fields":["type","name_or_index","to_node"],"edge_types":[["context","weak"],"string_or_number","node"]},
        "node_count":2,"edge_count":1},"#;

    fn read(rest: &str) -> std::result::Result<Columns, String> {
        columns(format!("{HEAD}{rest}").as_bytes()).map_err(|e| e.to_string())
    }

    #[test]
    fn rows_become_columns() {
        let read =
            read(r#""nodes":[1,0,1,16,1,0,1,3,24,0],"edges":[1,1,5],"locations":[1,2],"strings":["a","b"]}"#).unwrap();
        assert_eq!((read.types, read.names, read.ids), (vec![1, 0], vec![0, 1], vec![1, 3]));
        assert_eq!((read.sizes, read.first_edges), (vec![16, 24], vec![0, 1, 1]));
        assert_eq!((read.edge_kinds, read.edge_names, read.targets), (vec![1], vec![1], vec![1]));
        assert_eq!((read.node_types[1].as_str(), read.edge_types[1].as_str()), ("object", "weak"));
        assert!(is_snapshot(HEAD.as_bytes()) && !is_snapshot(b"{\"other\": 1}"));
    }

    #[test]
    fn wrong_snapshots_have_a_reason() {
        for (rest, reason) in [
            (r#""nodes":[1,0,1,16,1],"edges":[],"strings":[]}"#, "nodes have 1 edges, and there are 0"),
            (r#""nodes":[1,0,1,16],"edges":[],"strings":[]}"#, "the last row is not whole"),
            (r#""nodes":[1,0,1,16,1],"edges":[0,0,5],"strings":[]}"#, "a node that is not there"),
            (r#""nodes":[1,0,1,-16,1],"edges":[0,0,5],"strings":[]}"#, "invalid value"),
            (r#""nodes":[],"edges":[],"strings":[]}"#, "no nodes"),
            (r#""nodes":[1,0,1,16,4294967296],"edges":[],"strings":[]}"#, "too many edges"),
            (r#""nodes":[1,0"#, "EOF"),
        ] {
            let error = read(rest).unwrap_err();
            assert!(error.contains(reason), "{error}");
        }
        assert!(columns(&b"{\"nodes\":[1]}"[..]).is_err());
    }
}
