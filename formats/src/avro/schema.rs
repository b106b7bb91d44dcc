//! Schemas of Avro: the JSON of a header as a tree of types, with named records in a table.
//!
//! ```text
//!   "long"   ["null", T]   a.b.Name   {"type": "bytes", "logicalType": "decimal", ..}   {"type": "record", ..}
//! ```
//!
//! A record may refer to itself, so a node holds the number of a record, not the record. A logical type that does not
//! fit its type is ignored, as the standard says.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::Value;
use yunti_api::{Error, Result};

/// Depth of types within types, at most, where the schema does not refer to itself.
pub const DEPTH_MAX: usize = 64;
/// Precision of a decimal that has a type of numbers: wider ones stay bytes.
const PRECISION_MAX: u64 = 76;

/// Type with its meaning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    pub kind: Kind,
    pub logical: Logical,
}

/// Type of a value: how its bytes stand in a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    Null,
    Boolean,
    Int,
    Long,
    Float,
    Double,
    Bytes,
    String,
    Fixed(usize),
    Enum(Arc<Vec<String>>),
    /// Number of the record in the schema.
    Record(usize),
    Array(Box<Node>),
    Map(Box<Node>),
    Union(Vec<Node>),
}

/// Meaning of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Logical {
    None,
    Decimal {
        precision: u8,
        scale: i8,
    },
    Date,
    TimeMillis,
    TimeMicros,
    /// Time since 1970, in 10^-n seconds; `utc`: a moment, not a local time.
    Timestamp {
        digits: u8,
        utc: bool,
    },
    Uuid,
    Duration,
}

/// A record of the schema.
#[derive(Clone, Debug, Default)]
pub struct Record {
    pub fields: Vec<(String, Node)>,
}

/// Schema of a file.
#[derive(Clone, Debug)]
pub struct Schema {
    pub root: Node,
    pub records: Vec<Record>,
}

impl Schema {
    /// Parses the schema of a header. Fails for a schema that the standard does not allow.
    pub fn parse(text: &[u8]) -> Result<Schema> {
        let value: Value = serde_json::from_slice(text)
            .map_err(|e| wrong(&format!("it is no JSON ({})", crate::failure::line(&e.to_string()))))?;
        let mut parser = Parser { names: HashMap::new(), records: Vec::new() };
        let root = parser.node(&value, "", 0)?;
        Ok(Schema { root, records: parser.records })
    }

    /// Returns the columns of the file: the fields of its record, or one column `value` of another type.
    pub fn columns(&self) -> Vec<(String, Node)> {
        match &self.root.kind {
            Kind::Record(number) => self.records[*number].fields.clone(),
            _ => vec![("value".into(), self.root.clone())],
        }
    }
}

impl Node {
    fn plain(kind: Kind) -> Node {
        Node { kind, logical: Logical::None }
    }

    /// Returns the other branch and the number of the null's, for a union of null and one type.
    pub fn nullable(&self) -> Option<(&Node, u8)> {
        let Kind::Union(branches) = &self.kind else { return None };
        match &branches[..] {
            [Node { kind: Kind::Null, .. }, other] => Some((other, 0)),
            [other, Node { kind: Kind::Null, .. }] => Some((other, 1)),
            _ => None,
        }
    }
}

struct Parser {
    /// Named types by their full names.
    names: HashMap<String, Node>,
    records: Vec<Record>,
}

impl Parser {
    fn node(&mut self, value: &Value, space: &str, depth: usize) -> Result<Node> {
        if depth > DEPTH_MAX {
            return Err(wrong(&format!("its types are nested deeper than {DEPTH_MAX}")));
        }
        match value {
            Value::String(name) => self.by_name(name, space),
            Value::Array(branches) => {
                let branches = branches.iter().map(|branch| self.node(branch, space, depth + 1));
                let branches = branches.collect::<Result<Vec<_>>>()?;
                if branches.is_empty() || branches.len() > i8::MAX as usize + 1 {
                    return Err(wrong(&format!("a union has {} types", branches.len())));
                }
                if branches.iter().any(|branch| matches!(branch.kind, Kind::Union(_))) {
                    return Err(wrong("a union stands directly in a union"));
                }
                Ok(Node::plain(Kind::Union(branches)))
            }
            Value::Object(object) => match object.get("type") {
                Some(Value::String(name)) => self.complex(name, object, space, depth),
                // {"type": {"type": ..}} is allowed by every reader.
                Some(inner) => self.node(inner, space, depth + 1),
                None => Err(wrong("a type has no name")),
            },
            _ => Err(wrong("a type is neither a name, an object nor a list")),
        }
    }

    fn by_name(&self, name: &str, space: &str) -> Result<Node> {
        let kind = match name {
            "null" => Kind::Null,
            "boolean" => Kind::Boolean,
            "int" => Kind::Int,
            "long" => Kind::Long,
            "float" => Kind::Float,
            "double" => Kind::Double,
            "bytes" => Kind::Bytes,
            "string" => Kind::String,
            name => {
                let full = full_name(name, space);
                // A name without a space of its own may be of none.
                let found = self.names.get(&full).or_else(|| self.names.get(name));
                return found.cloned().ok_or_else(|| wrong(&format!("the type '{}' is not known", cut(name))));
            }
        };
        Ok(Node::plain(kind))
    }

    fn complex(
        &mut self,
        kind: &str,
        object: &serde_json::Map<String, Value>,
        space: &str,
        depth: usize,
    ) -> Result<Node> {
        let named = matches!(kind, "record" | "error" | "enum" | "fixed");
        let own_space = object.get("namespace").and_then(Value::as_str).unwrap_or(space);
        let full = match object.get("name").and_then(Value::as_str) {
            Some(name) => full_name(name, own_space),
            None if named => return Err(wrong(&format!("a type {kind} has no name"))),
            None => String::new(),
        };
        if named && self.names.contains_key(&full) {
            return Err(wrong(&format!("the type '{}' is defined twice", cut(&full))));
        }
        let within = full.rsplit_once('.').map_or("", |(space, _)| space).to_string();
        let member = |name: &str| object.get(name).ok_or_else(|| wrong(&format!("a type {kind} has no {name}")));
        let node = match kind {
            "record" | "error" => {
                let number = self.records.len();
                self.records.push(Record::default());
                let node = Node::plain(Kind::Record(number));
                // Known before its fields, which may refer to it.
                self.names.insert(full, node.clone());
                let fields = member("fields")?.as_array().ok_or_else(|| wrong("the fields of a record are no list"))?;
                let mut parsed: Vec<(String, Node)> = Vec::with_capacity(fields.len());
                let mut names = std::collections::HashSet::new();
                for field in fields {
                    let name = field.get("name").and_then(Value::as_str).ok_or_else(|| wrong("a field has no name"))?;
                    let kind = field.get("type").ok_or_else(|| wrong("a field has no type"))?;
                    if !names.insert(name) {
                        return Err(wrong(&format!("a record has two fields '{}'", cut(name))));
                    }
                    let mut node = self.node(kind, &within, depth + 1)?;
                    // Some writers put the logical type beside the name of the field.
                    if let (Value::String(_), Value::Object(field), Logical::None) = (kind, field, node.logical) {
                        node.logical = logical(&node.kind, field);
                    }
                    parsed.push((name.into(), node));
                }
                self.records[number].fields = parsed;
                return Ok(node);
            }
            "enum" => {
                let symbols =
                    member("symbols")?.as_array().ok_or_else(|| wrong("the symbols of an enum are no list"))?;
                let text =
                    |symbol: &Value| symbol.as_str().map(String::from).ok_or_else(|| wrong("a symbol is no string"));
                Node::plain(Kind::Enum(Arc::new(symbols.iter().map(text).collect::<Result<_>>()?)))
            }
            "fixed" => {
                let size = member("size")?.as_u64().filter(|&size| size <= i32::MAX as u64);
                let kind =
                    Kind::Fixed(size.ok_or_else(|| wrong("the size of a fixed type is no number of bytes"))? as usize);
                let logical = logical(&kind, object);
                Node { kind, logical }
            }
            "array" => Node::plain(Kind::Array(Box::new(self.node(member("items")?, space, depth + 1)?))),
            "map" => Node::plain(Kind::Map(Box::new(self.node(member("values")?, space, depth + 1)?))),
            name => {
                let mut node = self.by_name(name, space)?;
                if node.logical == Logical::None {
                    node.logical = logical(&node.kind, object);
                }
                return Ok(node);
            }
        };
        if named {
            self.names.insert(full, node.clone());
        }
        Ok(node)
    }
}

/// Returns the meaning that an object gives a type, if the type can have it.
fn logical(kind: &Kind, object: &serde_json::Map<String, Value>) -> Logical {
    let number = |name: &str| object.get(name).and_then(Value::as_u64);
    let timestamp = |digits, utc| if *kind == Kind::Long { Logical::Timestamp { digits, utc } } else { Logical::None };
    match (object.get("logicalType").and_then(Value::as_str).unwrap_or_default(), kind) {
        ("decimal", Kind::Bytes | Kind::Fixed(_)) => {
            let (precision, scale) = (number("precision").unwrap_or(0), number("scale").unwrap_or(0));
            match (1..=PRECISION_MAX).contains(&precision) && scale <= precision {
                true => Logical::Decimal { precision: precision as u8, scale: scale as i8 },
                false => Logical::None,
            }
        }
        ("date", Kind::Int) => Logical::Date,
        ("time-millis", Kind::Int) => Logical::TimeMillis,
        ("time-micros", Kind::Long) => Logical::TimeMicros,
        ("timestamp-millis", _) => timestamp(3, true),
        ("timestamp-micros", _) => timestamp(6, true),
        ("timestamp-nanos", _) => timestamp(9, true),
        ("local-timestamp-millis", _) => timestamp(3, false),
        ("local-timestamp-micros", _) => timestamp(6, false),
        ("local-timestamp-nanos", _) => timestamp(9, false),
        ("uuid", Kind::Fixed(16)) => Logical::Uuid,
        ("duration", Kind::Fixed(12)) => Logical::Duration,
        _ => Logical::None,
    }
}

fn full_name(name: &str, space: &str) -> String {
    if name.contains('.') || space.is_empty() { name.trim_start_matches('.').into() } else { format!("{space}.{name}") }
}

fn wrong(what: &str) -> Error {
    Error::damaged(format!("the Avro file is damaged: its schema is wrong: {what}"))
}

fn cut(name: &str) -> String {
    crate::failure::line(name).chars().take(60).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_the_space_of_their_record() {
        let text = br#"{"type": "record", "name": "R", "namespace": "a.b", "fields": [
            {"name": "e", "type": {"type": "enum", "name": "E", "symbols": ["X"]}},
            {"name": "again", "type": "a.b.E"},
            {"name": "self", "type": ["null", "R"]},
            {"name": "other", "type": {"type": "record", "name": "c.S", "fields": [
                {"name": "f", "type": {"type": "fixed", "name": "F", "size": 3}}, {"name": "g", "type": "F"}]}},
            {"name": "h", "type": {"type": "map", "values": "c.F"}},
            {"name": "t", "type": {"type": "long", "logicalType": "timestamp-micros"}},
            {"name": "u", "type": {"type": "int", "logicalType": "timestamp-micros"}}]}"#;
        let schema = Schema::parse(text).unwrap_or_else(|e| panic!("{e}"));
        let columns = schema.columns();
        assert_eq!(columns[0].1, columns[1].1);
        assert_eq!(columns[2].1.nullable(), Some((&schema.root, 0)));
        assert_eq!(columns[4].1.kind, Kind::Map(Box::new(Node::plain(Kind::Fixed(3)))));
        assert_eq!(columns[5].1.logical, Logical::Timestamp { digits: 6, utc: true });
        assert_eq!(columns[6].1.logical, Logical::None);
    }

    #[test]
    fn wrong_schemas_are_refused() {
        for (text, what) in [
            ("{", "no JSON"),
            ("\"x\"", "'x' is not known"),
            ("[]", "0 types"),
            ("[[\"null\"]]", "directly in a union"),
            ("{\"type\": \"record\", \"name\": \"R\"}", "no fields"),
            ("{\"type\": \"fixed\", \"name\": \"F\", \"size\": -1}", "no number of bytes"),
            ("{\"type\": \"enum\", \"symbols\": []}", "no name"),
        ] {
            let error = Schema::parse(text.as_bytes()).err().unwrap().to_string();
            assert!(error.contains(what), "{text}: {error}");
        }
        let deep = format!("{}\"int\"{}", "{\"type\":\"array\",\"items\":".repeat(100), "}".repeat(100));
        assert!(Schema::parse(deep.as_bytes()).is_err());
    }
}
