//! Columns for the types of a schema, as far as a scan wants them.

use std::sync::Arc;

use arrow_schema::{Field, Schema as ArrowSchema};
use yunti_api::{Error, Result};

use super::column::{self, Column, Slot, Texts};
use super::schema::{DEPTH_MAX, Kind, Node, Schema};
use crate::scan::Picked;

/// Types in all columns, at most: named types may be used many times.
const TYPES_MAX: usize = 100_000;

/// Returns the schema of the whole file, as its columns are built.
pub fn arrow_schema(schema: &Arc<Schema>) -> Result<ArrowSchema> {
    let mut builder = Builder { schema, types: 0 };
    let field = |(name, node): (String, Node)| Ok(Field::new(name, builder.top(&node, None)?.data_type(), true));
    Ok(ArrowSchema::new(schema.columns().into_iter().map(field).collect::<Result<Vec<_>>>()?))
}

/// Returns a column for the whole record: a struct of the wanted columns. Others are passed over.
pub fn columns(schema: &Arc<Schema>, picked: &Picked) -> Result<Column> {
    let mut builder = Builder { schema, types: 0 };
    let slots = schema.columns().into_iter().map(|(name, node)| {
        let wanted = below(picked.paths().map(|path| &path[..]), &name);
        builder.slot(name, &node, wanted)
    });
    Ok(Column::Struct(slots.collect::<Result<_>>()?, 0))
}

/// Paths below a name that are wanted: None for all of the column, an empty list for nothing.
type Wanted<'a> = Option<Vec<&'a [String]>>;

fn below<'a>(paths: impl Iterator<Item = &'a [String]>, name: &str) -> Wanted<'a> {
    let mut rest = Vec::new();
    for path in paths {
        match path.split_first() {
            Some((first, [])) if first == name => return None,
            Some((first, more)) if first == name => rest.push(more),
            _ => {}
        }
    }
    Some(rest)
}

struct Builder<'a> {
    schema: &'a Arc<Schema>,
    types: usize,
}

impl Builder<'_> {
    fn slot(&mut self, name: String, node: &Node, wanted: Wanted<'_>) -> Result<Slot> {
        match wanted {
            Some(paths) if paths.is_empty() => Ok(Slot::Skip(self.schema.clone(), node.clone())),
            wanted => Ok(Slot::Take(name, self.top(node, wanted)?)),
        }
    }

    /// Returns a column; JSON if its type contains itself.
    fn top(&mut self, node: &Node, wanted: Wanted<'_>) -> Result<Column> {
        if let Some(column) = self.column(node, wanted, &mut Vec::new(), 0)? {
            return Ok(column);
        }
        let json = |node: &Node| Column::Json(Texts::default(), self.schema.clone(), node.clone());
        Ok(match node.nullable() {
            Some((inner, null_branch)) => {
                Column::Nullable { valid: Vec::new(), null_branch, inner: Box::new(json(inner)) }
            }
            None => json(node),
        })
    }

    /// Returns a column; None for a type that contains itself. `within`: the records around it.
    fn column(
        &mut self,
        node: &Node,
        wanted: Wanted<'_>,
        within: &mut Vec<usize>,
        depth: usize,
    ) -> Result<Option<Column>> {
        self.types += 1;
        if self.types > TYPES_MAX || depth > DEPTH_MAX {
            return Err(Error::unsupported("the schema of the Avro file has too many types, or too deep ones"));
        }
        if let Some((inner, null_branch)) = node.nullable() {
            let inner = self.column(inner, wanted, within, depth + 1)?;
            return Ok(inner.map(|inner| Column::Nullable { valid: Vec::new(), null_branch, inner: Box::new(inner) }));
        }
        Ok(match &node.kind {
            Kind::Array(of) => {
                let items = self.column(of, None, within, depth + 1)?;
                items.map(|items| Column::List(vec![0], Box::new(items)))
            }
            Kind::Map(of) => {
                let values = self.column(of, None, within, depth + 1)?;
                values.map(|values| Column::Map(vec![0], Texts::default(), Box::new(values)))
            }
            Kind::Record(number) => {
                if within.contains(number) {
                    return Ok(None);
                }
                within.push(*number);
                let schema = self.schema.clone();
                let mut slots = Vec::new();
                for (name, node) in &schema.records[*number].fields {
                    let wanted = wanted.as_ref().and_then(|paths| below(paths.iter().copied(), name));
                    if wanted.as_ref().is_some_and(|paths| paths.is_empty()) {
                        slots.push(Slot::Skip(schema.clone(), node.clone()));
                        continue;
                    }
                    match self.column(node, wanted, within, depth + 1)? {
                        Some(column) => slots.push(Slot::Take(name.clone(), column)),
                        None => return Ok(None),
                    }
                }
                within.pop();
                Some(Column::Struct(slots, 0))
            }
            Kind::Union(branches) => {
                let mut columns = Vec::new();
                for branch in branches {
                    match self.column(branch, None, within, depth + 1)? {
                        Some(column) => columns.push(column),
                        None => return Ok(None),
                    }
                }
                Some(Column::Union { kinds: Vec::new(), offsets: Vec::new(), branches: columns })
            }
            _ => Some(column::leaf(node)?),
        })
    }
}
