//! Types of a file: a tree whose columns are numbered from the top down.

use std::sync::Arc;

use arrow_schema::{DataType, Field, Fields as ArrowFields, Schema, TimeUnit};
use yunti_api::Result;

use super::failure::{damaged, unsupported};
use super::proto::Fields;

/// Types in each other, at most.
const DEPTH_MAX: usize = 64;
/// Types of a union, at most: one number is left for null.
const UNION_MAX: usize = 126;
/// Name of the only column of a file whose top is no struct.
const ONLY: &str = "value";

/// Kind of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Boolean,
    Byte,
    Short,
    Int,
    Long,
    Float,
    Double,
    String,
    Binary,
    Timestamp,
    /// A timestamp that counts from UTC.
    Instant,
    List,
    Map,
    Struct,
    Union,
    /// With digits and digits after the point. None: each value has its own (Hive 0.11).
    Decimal(Option<(u8, i8)>),
    Date,
    Varchar(u32),
    Char(u32),
}

/// A column.
#[derive(Clone, Debug)]
pub struct Type {
    pub kind: Kind,
    /// Number of the column in streams, encodings and statistics.
    pub number: u32,
    /// Names of a struct's members.
    pub names: Vec<String>,
    pub below: Vec<Type>,
}

/// Type as the footer has it.
#[derive(Default)]
struct Flat {
    kind: u64,
    below: Vec<u32>,
    names: Vec<String>,
    length: u32,
    precision: u32,
    scale: u32,
}

impl Type {
    /// Returns the top of the tree of the footer's types: always a struct.
    pub fn parse(messages: &[&[u8]]) -> Result<Type> {
        let mut flat = messages.iter().map(|message| Flat::parse(message)).collect::<Result<Vec<_>>>()?;
        let mut next = 0;
        let top = build(&mut flat, &mut next, 0)?;
        if next as usize != messages.len() {
            return Err(damaged("its types are no tree"));
        }
        if top.kind == Kind::Struct {
            return Ok(top);
        }
        Ok(Type { kind: Kind::Struct, number: u32::MAX, names: vec![ONLY.into()], below: vec![top] })
    }

    /// Returns true for a list, a map, a struct or a union.
    pub fn is_nested(&self) -> bool {
        matches!(self.kind, Kind::List | Kind::Map | Kind::Struct | Kind::Union)
    }

    /// Returns the number of the last column in this one.
    pub fn last(&self) -> u32 {
        self.below.last().map_or(self.number, Type::last)
    }

    /// Returns the type as Arrow's columns have it.
    pub fn arrow(&self) -> DataType {
        let item = |name: &str, of: &Type| Arc::new(Field::new(name, of.arrow(), true));
        match self.kind {
            Kind::Boolean => DataType::Boolean,
            Kind::Byte => DataType::Int8,
            Kind::Short => DataType::Int16,
            Kind::Int => DataType::Int32,
            Kind::Long => DataType::Int64,
            Kind::Float => DataType::Float32,
            Kind::Double => DataType::Float64,
            Kind::String | Kind::Varchar(_) | Kind::Char(_) => DataType::Utf8,
            Kind::Binary => DataType::Binary,
            Kind::Timestamp => DataType::Timestamp(TimeUnit::Nanosecond, None),
            Kind::Instant => DataType::Timestamp(TimeUnit::Nanosecond, Some("+00:00".into())),
            Kind::Decimal(Some((precision, scale))) => DataType::Decimal128(precision, scale),
            Kind::Decimal(None) => DataType::Utf8,
            Kind::Date => DataType::Date32,
            Kind::List => DataType::List(item("item", &self.below[0])),
            Kind::Map => {
                let key = Arc::new(Field::new("key", self.below[0].arrow(), false));
                let entries = ArrowFields::from(vec![key, item("value", &self.below[1])]);
                DataType::Map(Arc::new(Field::new("entries", DataType::Struct(entries), false)), false)
            }
            Kind::Struct => {
                let members = self.names.iter().zip(&self.below).map(|(name, of)| item(name, of));
                DataType::Struct(members.collect())
            }
            // Its members have no names: a condition or a path cannot enter it.
            Kind::Union => {
                let members = self.below.iter().enumerate().map(|(tag, of)| item(&tag.to_string(), of));
                DataType::Union(
                    members.enumerate().map(|(tag, field)| (tag as i8, field)).collect(),
                    arrow_schema::UnionMode::Dense,
                )
            }
        }
    }

    /// Returns the top-level columns as a schema.
    pub fn schema(&self) -> Schema {
        let fields = self.names.iter().zip(&self.below).map(|(name, of)| Field::new(name, of.arrow(), true));
        Schema::new(fields.collect::<Vec<_>>())
    }

    /// Returns the type as Hive writes it: `struct<a:int,b:array<string>>`.
    pub fn text(&self) -> String {
        let below = || self.below.iter().map(Type::text).collect::<Vec<_>>().join(",");
        match self.kind {
            Kind::Boolean => "boolean".into(),
            Kind::Byte => "tinyint".into(),
            Kind::Short => "smallint".into(),
            Kind::Int => "int".into(),
            Kind::Long => "bigint".into(),
            Kind::Float => "float".into(),
            Kind::Double => "double".into(),
            Kind::String => "string".into(),
            Kind::Binary => "binary".into(),
            Kind::Timestamp => "timestamp".into(),
            Kind::Instant => "timestamp with local time zone".into(),
            Kind::Decimal(Some((precision, scale))) => format!("decimal({precision},{scale})"),
            Kind::Decimal(None) => "decimal".into(),
            Kind::Date => "date".into(),
            Kind::Varchar(n) => format!("varchar({n})"),
            Kind::Char(n) => format!("char({n})"),
            Kind::List => format!("array<{}>", below()),
            Kind::Map => format!("map<{}>", below()),
            Kind::Union => format!("uniontype<{}>", below()),
            Kind::Struct => {
                let members = self.names.iter().zip(&self.below);
                let members: Vec<String> = members.map(|(name, of)| format!("{name}:{}", of.text())).collect();
                format!("struct<{}>", members.join(","))
            }
        }
    }
}

impl Flat {
    fn parse(message: &[u8]) -> Result<Flat> {
        let mut flat = Flat::default();
        for field in Fields::of(message) {
            let (number, value) = field?;
            let small = || u32::try_from(value.number()).map_err(|_| damaged("a type has a number that is too large"));
            match number {
                1 => flat.kind = value.number(),
                2 => value.put_numbers(&mut flat.below)?,
                3 => flat.names.push(value.text()),
                4 => flat.length = small()?,
                5 => flat.precision = small()?,
                6 => flat.scale = small()?,
                _ => {}
            }
        }
        Ok(flat)
    }

    fn kind(&self) -> Result<Kind> {
        Ok(match self.kind {
            0 => Kind::Boolean,
            1 => Kind::Byte,
            2 => Kind::Short,
            3 => Kind::Int,
            4 => Kind::Long,
            5 => Kind::Float,
            6 => Kind::Double,
            7 => Kind::String,
            8 => Kind::Binary,
            9 => Kind::Timestamp,
            10 => Kind::List,
            11 => Kind::Map,
            12 => Kind::Struct,
            13 => Kind::Union,
            14 if self.precision == 0 => Kind::Decimal(None),
            14 if self.precision <= 38 && self.scale <= self.precision => {
                Kind::Decimal(Some((self.precision as u8, self.scale as i8)))
            }
            14 => {
                return Err(damaged(format!("a decimal of {} digits, {} after the point", self.precision, self.scale)));
            }
            15 => Kind::Date,
            16 => Kind::Varchar(self.length),
            17 => Kind::Char(self.length),
            18 => Kind::Instant,
            n => return Err(unsupported(format!("a column has the type {n}, which is not known"))),
        })
    }
}

/// Builds the type number `next` and all below it. Numbers follow each other from the top down.
fn build(flat: &mut [Flat], next: &mut u32, depth: usize) -> Result<Type> {
    let number = *next;
    let not_a_tree = || damaged("its types are no tree");
    let this = std::mem::take(flat.get_mut(number as usize).ok_or_else(not_a_tree)?);
    *next += 1;
    if depth == DEPTH_MAX {
        return Err(unsupported(format!("its types are nested deeper than {DEPTH_MAX}")));
    }
    let kind = this.kind()?;
    let fits = match kind {
        Kind::List => this.below.len() == 1,
        Kind::Map => this.below.len() == 2,
        Kind::Struct => this.below.len() == this.names.len(),
        Kind::Union if this.below.len() > UNION_MAX => {
            return Err(unsupported(format!("a union has more than {UNION_MAX} types")));
        }
        Kind::Union => true,
        _ => this.below.is_empty(),
    };
    if !fits {
        return Err(damaged("a type has another number of members than names"));
    }
    let mut below = Vec::with_capacity(this.below.len());
    for &member in &this.below {
        if member != *next {
            return Err(not_a_tree());
        }
        below.push(build(flat, next, depth + 1)?);
    }
    Ok(Type { kind, number, names: this.names, below })
}
