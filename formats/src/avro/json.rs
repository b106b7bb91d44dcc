//! Values passed over, and values of types that contain themselves as JSON: both walk a type along the block.

use yunti_api::{Error, Result};

use super::input::{Input, damaged};
use super::schema::{Kind, Node, Schema};
use crate::cells::put_string;

/// Depth of values within values, at most, for types that contain themselves.
const DEPTH_MAX: usize = 256;

fn check(depth: usize) -> Result<()> {
    match depth > DEPTH_MAX {
        true => Err(Error::unsupported(format!("a value of the Avro file is nested deeper than {DEPTH_MAX}"))),
        false => Ok(()),
    }
}

/// Passes over a value.
pub fn skip(schema: &Schema, node: &Node, input: &mut Input<'_>, depth: usize) -> Result<()> {
    check(depth)?;
    match &node.kind {
        Kind::Null => input.idle(),
        Kind::Boolean => input.skip(1),
        Kind::Int | Kind::Long | Kind::Enum(_) => input.long().map(|_| ()),
        Kind::Float => input.skip(4),
        Kind::Double => input.skip(8),
        Kind::Bytes | Kind::String => input.bytes().map(|_| ()),
        Kind::Fixed(0) => input.idle(),
        Kind::Fixed(n) => input.skip(*n as u64),
        Kind::Record(number) => {
            input.idle()?;
            let fields = &schema.records[*number].fields;
            fields.iter().try_for_each(|(_, node)| skip(schema, node, input, depth + 1))
        }
        Kind::Array(of) => parts(input, |input| skip(schema, of, input, depth + 1)),
        Kind::Map(of) => parts(input, |input| {
            input.bytes()?;
            skip(schema, of, input, depth + 1)
        }),
        Kind::Union(branches) => skip(schema, branch(branches, input)?, input, depth + 1),
    }
}

/// Passes over the items of an array or map; parts that declare their bytes are not walked.
fn parts<'a>(input: &mut Input<'a>, mut item: impl FnMut(&mut Input<'a>) -> Result<()>) -> Result<()> {
    loop {
        match input.part()? {
            (0, _) => return Ok(()),
            (_, Some(bytes)) => input.skip(bytes)?,
            (count, None) => (0..count).try_for_each(|_| item(input))?,
        }
    }
}

fn branch<'a>(branches: &'a [Node], input: &mut Input<'_>) -> Result<&'a Node> {
    let number = usize::try_from(input.long()?).ok();
    number.and_then(|number| branches.get(number)).ok_or_else(|| damaged("a type that its union does not have"))
}

/// Function that appends a value without others in it.
pub type Leaf = fn(&Node, &mut Input<'_>, &mut String) -> Result<()>;

/// Appends a value as JSON, as nested columns have it.
pub fn put(
    schema: &Schema,
    node: &Node,
    input: &mut Input<'_>,
    leaf: Leaf,
    depth: usize,
    to: &mut String,
) -> Result<()> {
    check(depth)?;
    input.spend(8)?;
    let mut between = false;
    let mut comma = |to: &mut String| {
        if std::mem::replace(&mut between, true) {
            to.push(',');
        }
    };
    match &node.kind {
        Kind::Record(number) => {
            to.push('{');
            for (name, node) in &schema.records[*number].fields {
                comma(to);
                put_string(name, to);
                to.push(':');
                put(schema, node, input, leaf, depth + 1, to)?;
            }
            to.push('}');
        }
        Kind::Array(of) => {
            to.push('[');
            input.items(|input| {
                comma(to);
                put(schema, of, input, leaf, depth + 1, to)
            })?;
            to.push(']');
        }
        Kind::Map(of) => {
            to.push('{');
            input.items(|input| {
                comma(to);
                let key = input.bytes()?;
                let key = std::str::from_utf8(key).map_err(|_| damaged("a string that is not UTF-8"))?;
                put_string(key, to);
                to.push(':');
                put(schema, of, input, leaf, depth + 1, to)
            })?;
            to.push('}');
        }
        Kind::Union(branches) => {
            let branch = branch(branches, input)?;
            put(schema, branch, input, leaf, depth + 1, to)?
        }
        Kind::Null => {
            input.idle()?;
            to.push_str("null")
        }
        _ => leaf(node, input, to)?,
    }
    Ok(())
}
