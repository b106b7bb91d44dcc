//! Operators, and tables by their places.

use std::sync::Arc;

use yunti_base::Result;

use super::bytes::{Reader, Writer};
use super::expressions::{self, put_variant, take_variant};
use super::{Open, TableName, damaged, stays, types, windows};
use crate::node::{Join, JoinKind, Node, Scan};
use crate::table::{Field, Table, TablePlace};

const KINDS: &[JoinKind] = &[
    JoinKind::Inner,
    JoinKind::Left,
    JoinKind::Right,
    JoinKind::Full,
    JoinKind::LeftSemi,
    JoinKind::LeftAnti,
    JoinKind::RightSemi,
    JoinKind::RightAnti,
    JoinKind::LeftMark,
];

/// Numbers of operators.
mod number {
    pub const SCAN: u8 = 0;
    pub const VALUES: u8 = 1;
    pub const FILTER: u8 = 2;
    pub const PROJECT: u8 = 3;
    pub const AGGREGATE: u8 = 4;
    pub const JOIN: u8 = 5;
    pub const SORT: u8 = 6;
    pub const LIMIT: u8 = 7;
    pub const UNION: u8 = 8;
    pub const WINDOW: u8 = 9;
}

/// Appends fields: names and types.
pub fn put_fields(fields: &[Field], to: &mut Writer) -> Result<()> {
    to.list(fields, |to, field| {
        to.text(&field.name);
        to.flag(field.nullable);
        types::put(&field.data_type, to)
    })
}

/// Takes fields.
pub fn take_fields(from: &mut Reader<'_>) -> Result<Vec<Field>> {
    from.list(|from| {
        let (name, nullable) = (from.text()?, from.flag()?);
        Ok(Field { name, nullable, data_type: types::take(from)? })
    })
}

fn put_table(table: &Table, to: &mut Writer) -> Result<()> {
    let place = table.source.place().ok_or_else(|| stays(&format!("a way to read the table {}", table.name)))?;
    to.text(&table.name);
    match place {
        TablePlace::Input(number) => {
            to.byte(0);
            to.number(number.into());
        }
        TablePlace::Files { format, paths } => {
            to.byte(1);
            to.text(&format);
            to.list(&paths, |to, path| {
                to.text(&path.to_string_lossy());
                Ok(())
            })?;
        }
    }
    to.option(table.statistics.rows.as_ref(), |to, rows| {
        to.number(*rows);
        Ok(())
    })?;
    put_fields(&table.fields, to)
}

fn take_table(from: &mut Reader<'_>, open: &mut Open<'_>) -> Result<Arc<Table>> {
    let name = from.text()?;
    let place = match from.byte()? {
        0 => TablePlace::Input(from.small()?),
        1 => TablePlace::Files { format: from.text()?, paths: from.list(|from| Ok(from.text()?.into()))? },
        _ => return Err(damaged("a table has no place")),
    };
    let rows = from.option(Reader::number)?;
    let fields = take_fields(from)?;
    let count = fields.len();
    let table = open(TableName { name, place, fields, rows })?;
    if table.fields.len() == count { Ok(table) } else { Err(damaged("a table has other columns")) }
}

/// Appends a node with all below it.
pub fn put(node: &Node, to: &mut Writer) -> Result<()> {
    match node {
        Node::Scan(scan) => {
            to.byte(number::SCAN);
            put_table(&scan.table, to)?;
            to.list(&scan.columns, |to, &column| {
                to.len(column);
                Ok(())
            })?;
            to.list(&scan.conditions, |to, of| expressions::put(of, to))?;
            put_count(scan.limit, to)
        }
        Node::Values { types, rows } => {
            to.byte(number::VALUES);
            to.list(types, |to, of| types::put(of, to))?;
            to.len(rows.len());
            // A row without columns takes no byte, and its reader believes no length beyond the bytes.
            rows.iter().try_for_each(|row| {
                to.byte(row.len().min(1) as u8);
                row.iter().for_each(|value| types::put_value(value, to));
                Ok(())
            })
        }
        Node::Filter { input, condition } => {
            to.byte(number::FILTER);
            put(input, to)?;
            expressions::put(condition, to)
        }
        Node::Project { input, expressions } => {
            to.byte(number::PROJECT);
            put(input, to)?;
            to.list(expressions, |to, of| expressions::put(of, to))
        }
        Node::Aggregate { input, keys, sets, aggregates } => {
            to.byte(number::AGGREGATE);
            put(input, to)?;
            to.list(keys, |to, of| expressions::put(of, to))?;
            to.list(sets, |to, set| {
                to.list(set, |to, &key| {
                    to.len(key);
                    Ok(())
                })
            })?;
            to.list(aggregates, |to, of| expressions::put_aggregate(of, to))
        }
        Node::Join(join) => {
            to.byte(number::JOIN);
            put(&join.left, to)?;
            put(&join.right, to)?;
            put_variant(KINDS, &join.kind, to)?;
            to.list(&join.keys, |to, (left, right)| {
                expressions::put(left, to)?;
                expressions::put(right, to)
            })?;
            to.flag(join.nulls_equal);
            to.option(join.condition.as_ref(), |to, of| expressions::put(of, to))?;
            to.flag(join.build_left);
            Ok(())
        }
        Node::Sort { input, keys, limit } => {
            to.byte(number::SORT);
            put(input, to)?;
            to.list(keys, |to, of| expressions::put_key(of, to))?;
            put_count(*limit, to)
        }
        Node::Limit { input, skip, count } => {
            to.byte(number::LIMIT);
            put(input, to)?;
            to.len(*skip);
            put_count(*count, to)
        }
        Node::Union { inputs } => {
            to.byte(number::UNION);
            to.list(inputs, |to, input| put(input, to))
        }
        Node::Window(window) => {
            to.byte(number::WINDOW);
            put(&window.input, to)?;
            windows::put(window, to)
        }
        Node::Recursive(_) | Node::Work { .. } => Err(stays("a recursive query")),
    }
}

fn put_count(count: Option<usize>, to: &mut Writer) -> Result<()> {
    to.option(count.as_ref(), |to, count| {
        to.len(*count);
        Ok(())
    })
}

fn take_count(from: &mut Reader<'_>) -> Result<Option<usize>> {
    from.option(take_size)
}

fn take_size(from: &mut Reader<'_>) -> Result<usize> {
    usize::try_from(from.number()?).map_err(|_| damaged("a number is too large"))
}

/// Takes a node with all below it.
pub fn take(from: &mut Reader<'_>, open: &mut Open<'_>) -> Result<Node> {
    from.within(|from| take_node(from, open))
}

fn take_node(from: &mut Reader<'_>, open: &mut Open<'_>) -> Result<Node> {
    let number = from.byte()?;
    match number {
        number::SCAN => return take_scan(from, open).map(Node::Scan),
        number::VALUES => return take_values(from),
        number::UNION => {
            let inputs = from.list(|from| take(from, open))?;
            let types = inputs.first().map(Node::types);
            let same = inputs.iter().all(|input| Some(input.types().len()) == types.as_ref().map(Vec::len));
            return if same { Ok(Node::Union { inputs }) } else { Err(damaged("branches have other columns")) };
        }
        number::JOIN => return take_join(from, open).map(Node::Join),
        _ => {}
    }
    let input = Box::new(take(from, open)?);
    let columns = input.types().len();
    Ok(match number {
        number::FILTER => Node::Filter { condition: expressions::take(from, columns, open)?, input },
        number::PROJECT => {
            let expressions = from.list(|from| expressions::take(from, columns, open))?;
            Node::Project { input, expressions }
        }
        number::AGGREGATE => {
            let keys = from.list(|from| expressions::take(from, columns, open))?;
            let key = |from: &mut Reader<'_>| {
                let key = take_size(from)?;
                if key < keys.len() { Ok(key) } else { Err(damaged("there is no such key")) }
            };
            let sets = from.list(|from| from.list(key))?;
            let aggregates = from.list(|from| expressions::take_aggregate(from, columns, open))?;
            Node::Aggregate { input, keys, sets, aggregates }
        }
        number::SORT => {
            let keys = from.list(|from| expressions::take_key(from, columns, open))?;
            Node::Sort { input, keys, limit: take_count(from)? }
        }
        number::LIMIT => Node::Limit { input, skip: take_size(from)?, count: take_count(from)? },
        number::WINDOW => Node::Window(windows::take(input, from, open)?),
        _ => return Err(damaged("there is no such operator")),
    })
}

fn take_scan(from: &mut Reader<'_>, open: &mut Open<'_>) -> Result<Scan> {
    let table = take_table(from, open)?;
    let fields = table.fields.len();
    let columns = from.list(|from| {
        let column = take_size(from)?;
        if column < fields { Ok(column) } else { Err(damaged("there is no such column")) }
    })?;
    let conditions = from.list(|from| expressions::take(from, fields, open))?;
    Ok(Scan { table, columns, conditions, limit: take_count(from)? })
}

fn take_values(from: &mut Reader<'_>) -> Result<Node> {
    let types = from.list(types::take)?;
    let rows = from.list(|from| {
        let has_values = from.flag()?;
        if has_values != !types.is_empty() {
            return Err(damaged("a row has other columns"));
        }
        types.iter().map(|_| types::take_value(from)).collect::<Result<Vec<_>>>()
    })?;
    Ok(Node::Values { types, rows })
}

fn take_join(from: &mut Reader<'_>, open: &mut Open<'_>) -> Result<Join> {
    let (left, right) = (Box::new(take(from, open)?), Box::new(take(from, open)?));
    let sides = (left.types().len(), right.types().len());
    let kind = take_variant(KINDS, from)?;
    let keys =
        from.list(|from| Ok((expressions::take(from, sides.0, open)?, expressions::take(from, sides.1, open)?)))?;
    let nulls_equal = from.flag()?;
    let condition = from.option(|from| expressions::take(from, sides.0 + sides.1, open))?;
    Ok(Join { left, right, kind, keys, nulls_equal, condition, build_left: from.flag()? })
}
