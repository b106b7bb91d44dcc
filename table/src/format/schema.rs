//! Columns of a table.

use yunti_base::{Code, Error, Result};

/// Type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Bool,
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    F32,
    F64,
    Utf8,
    Bytes,
    /// Text that is in the file once. A row has its number, of 4 bytes.
    Dict,
    /// A row of its fields.
    Record,
    /// Values of one type.
    List,
}

const NAMES: [(&str, Kind); 16] = [
    ("bool", Kind::Bool),
    ("i8", Kind::I8),
    ("i16", Kind::I16),
    ("i32", Kind::I32),
    ("i64", Kind::I64),
    ("u8", Kind::U8),
    ("u16", Kind::U16),
    ("u32", Kind::U32),
    ("u64", Kind::U64),
    ("f32", Kind::F32),
    ("f64", Kind::F64),
    ("utf8", Kind::Utf8),
    ("bytes", Kind::Bytes),
    ("dict", Kind::Dict),
    ("record", Kind::Record),
    ("list", Kind::List),
];
/// Deepest nesting of columns.
const DEEPEST: usize = 16;

impl Kind {
    pub fn named(name: &str) -> Option<Kind> {
        NAMES.iter().find(|(known, _)| *known == name).map(|(_, kind)| *kind)
    }

    pub fn name(self) -> &'static str {
        NAMES.iter().find(|(_, kind)| *kind == self).map_or("?", |(name, _)| name)
    }

    /// Returns the number of the type in files: its place among the names.
    pub fn number(self) -> u8 {
        NAMES.iter().position(|(_, kind)| *kind == self).unwrap_or(NAMES.len()) as u8
    }

    /// Returns the type of a number in files.
    pub fn of_number(number: u8) -> Option<Kind> {
        NAMES.get(usize::from(number)).map(|(_, kind)| *kind)
    }

    /// Returns the names of all types.
    pub fn all() -> String {
        NAMES.map(|(name, _)| name).join(", ")
    }

    /// Returns the bytes in a row; `None` for a variable number.
    pub fn width(self) -> Option<usize> {
        Some(match self {
            Kind::Bool | Kind::I8 | Kind::U8 => 1,
            Kind::I16 | Kind::U16 => 2,
            Kind::I32 | Kind::U32 | Kind::F32 | Kind::Dict => 4,
            Kind::I64 | Kind::U64 | Kind::F64 => 8,
            Kind::Utf8 | Kind::Bytes | Kind::Record | Kind::List => return None,
        })
    }

    /// Returns true for a type whose values can be keys. Floats cannot: 0.0 equals -0.0, and NaN nothing.
    pub fn can_be_key(self) -> bool {
        !matches!(self, Kind::F32 | Kind::F64 | Kind::Dict | Kind::Record | Kind::List)
    }

    /// Returns true for integers with a sign.
    pub fn is_signed(self) -> bool {
        matches!(self, Kind::I8 | Kind::I16 | Kind::I32 | Kind::I64)
    }
}

/// Column of a table, field of a record or element of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    pub name: String,
    pub kind: Kind,
    pub is_nullable: bool,
    /// Fields of a record; the element of a list.
    pub inner: Vec<Column>,
}

impl Column {
    pub fn new(name: &str, kind: Kind, is_nullable: bool) -> Column {
        Column { name: name.to_owned(), kind, is_nullable, inner: Vec::new() }
    }

    /// Returns a column with these fields, or with this element.
    pub fn with(self, inner: Vec<Column>) -> Column {
        Column { inner, ..self }
    }

    /// Returns the type as `yunti table build` takes it: `record<zip:i32,city?>`, `list<utf8>`.
    pub fn type_name(&self) -> String {
        let question = |column: &Column| if column.is_nullable { "?" } else { "" };
        let inner = |column: &Column| match self.kind {
            Kind::List => format!("{}{}", column.type_name(), question(column)),
            _ => format!("{}:{}{}", column.name, column.type_name(), question(column)),
        };
        match self.kind {
            Kind::Record | Kind::List => {
                format!("{}<{}>", self.kind.name(), self.inner.iter().map(inner).collect::<Vec<_>>().join(","))
            }
            kind => kind.name().to_owned(),
        }
    }

    /// Returns what is wrong with the fields or the element.
    fn wrong(&self, depth: usize) -> Option<String> {
        let (name, kind) = (&self.name, self.kind.name());
        let own = match self.kind {
            _ if depth > DEEPEST => format!("column {name} is nested more than {DEEPEST} deep"),
            Kind::Record if self.inner.is_empty() => format!("column {name}: a record needs fields"),
            Kind::List if self.inner.len() != 1 => format!("column {name}: a list needs one type of its elements"),
            Kind::Dict if depth > 0 => format!("column {name}: only a column of the table can be dict"),
            Kind::Record | Kind::List => return self.wrong_inner(depth),
            _ if !self.inner.is_empty() => format!("column {name}: {kind} has no fields"),
            _ => return None,
        };
        Some(own)
    }

    fn wrong_inner(&self, depth: usize) -> Option<String> {
        same_name(&self.inner).or_else(|| self.inner.iter().find_map(|column| column.wrong(depth + 1)))
    }
}

/// Returns what is wrong if two columns have one name, or if there are too many.
fn same_name(columns: &[Column]) -> Option<String> {
    const MOST: usize = u16::MAX as usize;
    if columns.len() > MOST || columns.iter().any(|column| column.name.len() > MOST) {
        return Some(format!("a table has at most {MOST} columns, and names of at most {MOST} bytes"));
    }
    let mut names: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
    names.sort_unstable();
    let twice = names.windows(2).find(|two| two[0] == two[1])?;
    Some(format!("two columns have the name {}", twice[0]))
}

/// Columns of a table, and which of them are its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schema {
    pub columns: Vec<Column>,
    /// Numbers of columns, in the order of the key.
    pub keys: Vec<usize>,
}

impl Schema {
    /// Checks names, keys and their types.
    pub fn new(columns: Vec<Column>, keys: Vec<usize>) -> Result<Schema> {
        let wrong = |what: String| Err(Error::new(Code::Usage, what));
        if let Some(what) = same_name(&columns).or_else(|| columns.iter().find_map(|column| column.wrong(0))) {
            return wrong(what);
        }
        for (at, key) in keys.iter().enumerate() {
            let Some(column) = columns.get(*key).filter(|_| !keys[..at].contains(key)) else {
                return wrong("a column of the key is no column, or is named twice".to_owned());
            };
            if !column.kind.can_be_key() || column.is_nullable {
                let why = if column.is_nullable { "has missing values" } else { column.kind.name() };
                return wrong(format!("column {} cannot be a key: {why}", column.name));
            }
        }
        if keys.is_empty() {
            return wrong("a table needs a key".to_owned());
        }
        Ok(Schema { columns, keys })
    }

    /// Returns the number of a column.
    pub fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.name == name)
    }

    /// Returns the bytes of each row; `None` if they differ.
    pub fn row_bytes(&self) -> Option<usize> {
        let widths = self.columns.iter().map(|column| column.kind.width());
        widths.sum::<Option<usize>>().map(|bytes| bytes + null_bytes(&self.columns))
    }

    /// Appends columns as a schema has them.
    pub fn encode_columns(columns: &[Column], out: &mut Vec<u8>) {
        encode_columns(columns, out);
    }

    /// Reads columns as a schema has them, and moves behind them; `None` if they are none.
    pub fn decode_columns(bytes: &mut &[u8]) -> Option<Vec<Column>> {
        let columns = decode_columns(bytes, 0)?;
        let is_wrong = same_name(&columns).is_some() || columns.iter().any(|column| column.wrong(0).is_some());
        (!is_wrong).then_some(columns)
    }

    /// Returns the bytes of the schema: docs/formats/ytab.md.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        encode_columns(&self.columns, &mut out);
        out.extend_from_slice(&(self.keys.len() as u16).to_le_bytes());
        self.keys.iter().for_each(|key| out.extend_from_slice(&(*key as u16).to_le_bytes()));
        out
    }

    pub fn decode(bytes: &[u8]) -> Result<Schema> {
        let damaged = || Error::new(Code::Corrupt, "the table is damaged: its schema is none");
        Schema::read(bytes).and_then(|(columns, keys)| Schema::new(columns, keys).ok()).ok_or_else(damaged)
    }

    fn read(mut bytes: &[u8]) -> Option<(Vec<Column>, Vec<usize>)> {
        let columns = decode_columns(&mut bytes, 0)?;
        let keys = (0..number(&mut bytes)?).map(|_| number(&mut bytes)).collect::<Option<_>>()?;
        Some((columns, keys))
    }
}

/// Returns the bytes of a row's bits for missing values.
pub fn null_bytes(columns: &[Column]) -> usize {
    columns.iter().filter(|column| column.is_nullable).count().div_ceil(8)
}

fn encode_columns(columns: &[Column], out: &mut Vec<u8>) {
    out.extend_from_slice(&(columns.len() as u16).to_le_bytes());
    columns.iter().for_each(|column| encode_column(column, out));
}

fn encode_column(column: &Column, out: &mut Vec<u8>) {
    out.extend_from_slice(&[column.kind.number(), u8::from(column.is_nullable)]);
    out.extend_from_slice(&(column.name.len() as u16).to_le_bytes());
    out.extend_from_slice(column.name.as_bytes());
    match column.kind {
        Kind::Record => encode_columns(&column.inner, out),
        Kind::List => column.inner.iter().for_each(|element| encode_column(element, out)),
        _ => {}
    }
}

fn number(bytes: &mut &[u8]) -> Option<usize> {
    Some(usize::from(u16::from_le_bytes(bytes.split_off(..2)?.try_into().ok()?)))
}

fn decode_columns(bytes: &mut &[u8], depth: usize) -> Option<Vec<Column>> {
    (0..number(bytes)?).map(|_| decode_column(bytes, depth)).collect()
}

fn decode_column(bytes: &mut &[u8], depth: usize) -> Option<Column> {
    let (kind, flags) = (Kind::of_number(*bytes.split_off_first()?)?, *bytes.split_off_first()?);
    let length = number(bytes)?;
    let name = String::from_utf8(bytes.split_off(..length)?.to_vec()).ok()?;
    let inner = match kind {
        // Not deeper than a schema can be: a hostile one would end the stack.
        Kind::Record | Kind::List if depth > DEEPEST => return None,
        Kind::Record => decode_columns(bytes, depth + 1)?,
        Kind::List => vec![decode_column(bytes, depth + 1)?],
        _ => Vec::new(),
    };
    Some(Column { name, kind, is_nullable: flags & 1 == 1, inner })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let columns = vec![Column::new("id", Kind::I64, false), Column::new("a \"name\"", Kind::Utf8, true)];
        let schema = Schema::new(columns, vec![0]).unwrap();
        assert_eq!(Schema::decode(&schema.encode()).unwrap(), schema);
        assert_eq!((schema.row_bytes(), schema.column("id")), (None, Some(0)));
        for (name, kind) in NAMES {
            assert_eq!((Kind::named(name), kind.name()), (Some(kind), name));
        }
    }

    #[test]
    fn nested_columns() {
        let list = Column::new("tags", Kind::List, false).with(vec![Column::new("", Kind::Utf8, true)]);
        let fields = vec![Column::new("zip", Kind::I32, false), list];
        let nested = Column::new("home", Kind::Record, true).with(fields);
        assert_eq!(nested.type_name(), "record<zip:i32,tags:list<utf8?>>");
        let schema = Schema::new(vec![Column::new("id", Kind::I64, false), nested], vec![0]).unwrap();
        assert_eq!(Schema::decode(&schema.encode()).unwrap(), schema);
        let mut deep = Column::new("", Kind::Bool, false);
        for _ in 0..40 {
            deep = Column::new("x", Kind::List, false).with(vec![deep]);
        }
        let deep = Schema { columns: vec![Column::new("id", Kind::I64, false), deep], keys: vec![0] };
        assert!(Schema::decode(&deep.encode()).is_err());
    }

    #[test]
    fn wrong_schemas() {
        let id = || Column::new("id", Kind::I64, false);
        for (columns, keys, what) in [
            (vec![id()], vec![], "needs a key"),
            (vec![id()], vec![1], "no column"),
            (vec![id(), id()], vec![0], "two columns"),
            (vec![Column::new("x", Kind::F64, false)], vec![0], "cannot be a key: f64"),
            (vec![Column::new("x", Kind::I64, true)], vec![0], "missing values"),
            (vec![id()], vec![0, 0], "named twice"),
            (vec![id(), Column::new("x", Kind::Record, false)], vec![0], "needs fields"),
            (
                vec![id(), Column::new("x", Kind::List, false).with(vec![Column::new("", Kind::Dict, false)])],
                vec![0],
                "only a",
            ),
        ] {
            let error = Schema::new(columns, keys).unwrap_err();
            assert!(error.what().contains(what), "{what}: {}", error.what());
        }
        let whole = Schema::new(vec![id()], vec![0]).unwrap().encode();
        for length in 0..whole.len() {
            assert!(Schema::decode(&whole[..length]).unwrap_err().what().contains("damaged"));
        }
    }
}
