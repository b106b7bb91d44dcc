//! Calls of machine code: what is passed is checked against the program, so that no call leaves the memory that it is
//! given.

use yunti_base::{Code as ErrorCode, Error, Result};
use yunti_sql_execute::code::{
    Accumulator, Column, Constant, Element, Given, Id, Input, Output, Program, Sink, Type, Values,
};

use crate::text::constant_words;

/// Rows of a call, at most: their numbers have 32 bits.
const ROWS_MAX: usize = u32::MAX as usize;

fn differs(what: &str) -> Error {
    Error::new(ErrorCode::Internal, format!("generated code was called with {what}"))
}

/// Needs of a program's calls: inputs, constants, and where results go.
#[derive(Debug)]
pub struct Signature {
    inputs: Vec<(Input, Needs)>,
    constants: Vec<Type>,
    has_condition: bool,
    sink: Sink,
    /// Types of the columns of a sink of columns.
    types: Vec<Type>,
}

/// Parts of an input that a program reads.
#[derive(Clone, Copy, Debug, Default)]
struct Needs {
    values: bool,
    nulls: bool,
}

impl Signature {
    pub fn of(program: &Program) -> Signature {
        let mut needs = vec![Needs::default(); program.inputs.len()];
        for (op, _) in &program.ops {
            use yunti_sql_execute::code::Op;
            match op {
                Op::Input(n) => needs[*n].values = true,
                Op::InputNull(n) => needs[*n].nulls = true,
                _ => {}
            }
        }
        let type_of = |&(id, _): &(Id, Option<Id>)| program.ops[id as usize].1;
        let types = match &program.sink {
            Sink::Columns(columns) => columns.iter().map(type_of).collect(),
            Sink::Accumulators { .. } => Vec::new(),
        };
        Signature {
            inputs: program.inputs.iter().copied().zip(needs).collect(),
            constants: program.constants.clone(),
            has_condition: program.keep.is_some(),
            sink: program.sink.clone(),
            types,
        }
    }

    /// Returns the block of a call, whose pointers are valid as long as inputs and output are, and are not changed.
    ///
    /// All inputs have `rows` values, codes or nulls, and codes number values that exist. Columns and rows of the
    /// output have room for `rows`, and accumulators for all places. Errors: `Internal` if the caller has not that.
    pub fn block(
        &self,
        rows: usize,
        inputs: &[Column<'_>],
        constants: &[Constant],
        output: &mut Output,
    ) -> Result<Vec<u64>> {
        if inputs.len() != self.inputs.len() || constants.len() != self.constants.len() || rows > ROWS_MAX {
            return Err(differs("another number of inputs, constants or rows"));
        }
        let mut block = Vec::with_capacity(3 * inputs.len() + 2 * constants.len() + 8);
        for (column, (shape, needs)) in inputs.iter().zip(&self.inputs) {
            put_input(column, *shape, *needs, rows, &mut block)?;
        }
        for (constant, of) in constants.iter().zip(&self.constants) {
            let words = match (constant, of) {
                (Constant::Bool(value), Type::Bool) => [u64::from(*value), 0],
                (Constant::Int(value), Type::I64) => [*value as u64, 0],
                (Constant::Float(value), Type::F64) => [value.to_bits(), 0],
                (Constant::Wide(value), Type::I128) => [*value as u64, (*value >> 64) as u64],
                _ => return Err(differs("a constant of another type")),
            };
            block.extend(&words[..constant_words(*of)]);
        }
        block.push(rows as u64);
        match &self.sink {
            Sink::Columns(columns) => {
                block.push(0);
                output.columns =
                    columns.iter().zip(&self.types).map(|((_, null), of)| given(*of, *null, rows)).collect();
                output.rows = if self.has_condition { vec![0; rows] } else { Vec::new() };
                for (values, nulls) in &mut output.columns {
                    block.push(match values {
                        Given::Bools(values) => values.as_mut_ptr() as u64,
                        Given::Ints(values) => values.as_mut_ptr() as u64,
                        Given::Wide(values) => values.as_mut_ptr() as u64,
                        Given::Floats(values) => values.as_mut_ptr() as u64,
                    });
                    block.push(nulls.as_mut().map_or(0, |nulls| nulls.as_mut_ptr() as u64));
                }
                block.push(output.rows.as_mut_ptr() as u64);
            }
            Sink::Accumulators { all, lanes, .. } => {
                let words: usize = all.iter().map(Accumulator::words).sum();
                let needed = output.places.checked_mul(*lanes).and_then(|n| n.checked_mul(words));
                if output.places == 0 || needed.is_none_or(|needed| output.accumulators.len() < needed) {
                    return Err(differs("too few accumulators"));
                }
                block.push(output.places as u64);
                block.push(output.accumulators.as_mut_ptr() as u64);
            }
        }
        Ok(block)
    }

    /// Cuts the columns of an output to the rows that are kept.
    pub fn cut(&self, output: &mut Output, kept: usize) {
        for (values, nulls) in &mut output.columns {
            match values {
                Given::Bools(values) => values.truncate(kept),
                Given::Ints(values) => values.truncate(kept),
                Given::Wide(values) => values.truncate(kept),
                Given::Floats(values) => values.truncate(kept),
            }
            nulls.iter_mut().for_each(|nulls| nulls.truncate(kept));
        }
        output.rows.truncate(kept);
    }
}

fn given(of: Type, null: Option<Id>, rows: usize) -> (Given, Option<Vec<u8>>) {
    let values = match of {
        Type::Bool => Given::Bools(vec![0; rows]),
        Type::I64 => Given::Ints(vec![0; rows]),
        Type::I128 => Given::Wide(vec![0; rows]),
        Type::F64 => Given::Floats(vec![0.0; rows]),
    };
    (values, null.map(|_| vec![0; rows]))
}

fn put_input(column: &Column<'_>, shape: Input, needs: Needs, rows: usize, block: &mut Vec<u64>) -> Result<()> {
    let (values, len) = match (column.values, shape.element) {
        (Values::Bools(values), Element::Bool) => (values.as_ptr() as u64, values.len()),
        (Values::Ints(values), Element::I64) => (values.as_ptr() as u64, values.len()),
        (Values::Wide(values), Element::I128) => (values.as_ptr() as u64, values.len()),
        (Values::Floats(values), Element::F64) => (values.as_ptr() as u64, values.len()),
        (Values::Texts(len), Element::Text) if !needs.values => (0, len),
        _ => return Err(differs("a column of another shape")),
    };
    let codes = match (column.codes, shape.is_coded) {
        (None, false) if len >= rows => 0,
        (Some(codes), true) if codes.len() >= rows => {
            // Without a branch: the loop takes many at a time.
            let most = codes[..rows].iter().fold(0, |most, &code| most.max(code));
            if rows > 0 && most as usize >= len {
                return Err(differs("a code without a value"));
            }
            codes.as_ptr() as u64
        }
        _ => return Err(differs("a column of another length, or other codes")),
    };
    let nulls = match column.nulls {
        Some(nulls) if nulls.len() >= rows => nulls.as_ptr() as u64,
        None if !needs.nulls => 0,
        _ => return Err(differs("other nulls")),
    };
    block.extend([values, codes, nulls]);
    Ok(())
}
