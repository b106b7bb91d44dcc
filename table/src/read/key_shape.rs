//! How a key is compared with a row.

use crate::format::row::Layout;
use crate::format::schema::{Kind, Schema};

/// How a key is compared with a row.
#[derive(Clone, Copy, Debug)]
pub enum KeyShape {
    /// One integer of 8 bytes, at this offset.
    Eight(usize),
    /// One column of text or bytes, the only one of different lengths: where its length is.
    OnlyText(usize),
    /// One column of text or bytes.
    Text(usize),
    /// Anything else.
    Columns,
}

impl KeyShape {
    pub fn of(schema: &Schema, layout: &Layout) -> KeyShape {
        let &[column] = schema.keys.as_slice() else { return KeyShape::Columns };
        match (schema.columns[column].kind, layout.offset(column)) {
            (Kind::I64 | Kind::U64, Some(offset)) => KeyShape::Eight(offset),
            (_, None) => layout.only_text(column).map_or(KeyShape::Text(column), KeyShape::OnlyText),
            _ => KeyShape::Columns,
        }
    }
}
