//! Functions and aggregates of a class library: columns cross the boundary here where they stand.
//! One of the listed files with `unsafe`: it calls functions of class libraries, and one of them appends strings
//! through a `void *`.

use std::ffi::c_void;

use super::adapters::Instance;
use super::layout::{
    ARGUMENTS_MAX, AggregateTable, ClassTable, FLAG_EXACT, FLAG_SEES_NULLS, FunctionTable, RawColumn, RawResult,
    Status, read,
};
use crate::operator::cursor::{RawStr, STATUS_FAIL, STATUS_OK};
use crate::operator::function::{Aggregate, Column, Function, ResultColumn, Results, Signature, ValueType, Values};
use yunti_base::{Code, Error, Result};

/// Table of a function or an aggregate.
#[derive(Clone, Copy)]
pub enum QueryTable {
    Function(FunctionTable),
    Aggregate(AggregateTable),
}

impl QueryTable {
    /// Returns the table of a class and its types; None for a class of another kind. Fails with `Code::UserCode` for a
    /// table that is invalid.
    pub fn of(name: &str, class: &ClassTable) -> Result<Option<(QueryTable, Signature)>> {
        let wrong = |what: String| Error::new(Code::UserCode, format!("the class {name} {what}"));
        let (table, flags, types, result, state) = if !class.function.is_null() {
            // SAFETY: the ABI: a table with its size first, of the library.
            let table = unsafe { read(class.function) };
            if table.call.is_none() {
                return Err(wrong("is a function without its call".into()));
            }
            let types = (table.arguments, table.n_arguments);
            (QueryTable::Function(table), table.flags, types, table.result, 0)
        } else if !class.aggregate.is_null() {
            // SAFETY: as above.
            let table = unsafe { read(class.aggregate) };
            if table.init.is_none() || table.add.is_none() || table.merge.is_none() || table.finish.is_none() {
                return Err(wrong("is an aggregate without init, add, merge or finish".into()));
            }
            if !(1..=65_536).contains(&table.state_size) {
                return Err(wrong("declares a state of 0 or over 65536 bytes".into()));
            }
            if table.flags & FLAG_EXACT == 0 {
                return Err(wrong("is an aggregate that depends on the order of rows".into())
                    .hint("make its merge exact, and declare that"));
            }
            if table.n_arguments == 0 {
                return Err(wrong("is an aggregate without an argument".into()));
            }
            let types = (table.arguments, table.n_arguments);
            (QueryTable::Aggregate(table), table.flags, types, table.result, table.state_size as usize)
        } else {
            return Ok(None);
        };
        let (types, n) = types;
        if n > ARGUMENTS_MAX || (types.is_null() && n > 0) {
            return Err(wrong(format!("has an invalid list of {n} arguments")));
        }
        let type_of = |number: u32| {
            ValueType::from_abi(number)
                .ok_or_else(|| wrong(format!("has a value type {number}, which this engine does not know")))
        };
        let mut arguments = Vec::new();
        for number in 0..n as usize {
            // SAFETY: the ABI: n types.
            arguments.push(type_of(unsafe { types.add(number).read_unaligned() })?);
        }
        let sees_nulls = flags & FLAG_SEES_NULLS != 0;
        Ok(Some((table, Signature { arguments, result: type_of(result)?, sees_nulls, state_bytes: state })))
    }
}

/// Returns a column for one call. Fails with `Internal` if its values are not of the type.
fn raw(column: &Column<'_>, of: ValueType, rows: usize) -> Result<RawColumn> {
    let wrong = || Error::new(Code::Internal, "a function of a class library got another column than it takes");
    if column.values.len() != rows || column.nulls.is_some_and(|nulls| nulls.len() != rows) {
        return Err(wrong());
    }
    let mut raw = RawColumn {
        size: size_of::<RawColumn>() as u32,
        kind: of as u32,
        values: std::ptr::null(),
        nulls: column.nulls.map_or(std::ptr::null(), |nulls| nulls.as_ptr().cast()),
        bytes: std::ptr::null(),
        offsets: std::ptr::null(),
        codes: std::ptr::null(),
    };
    match (column.values, of) {
        (Values::Bools(values), ValueType::Bool) => raw.values = values.as_ptr().cast(),
        (Values::Ints(values), ValueType::I32 | ValueType::I64 | ValueType::Date | ValueType::Timestamp) => {
            raw.values = values.as_ptr().cast();
        }
        (Values::Floats(values), ValueType::F64) => raw.values = values.as_ptr().cast(),
        (Values::Strings { offsets, bytes, codes }, ValueType::Text | ValueType::Bytes) => {
            let strings = offsets.len().saturating_sub(1);
            let ends = offsets.last().is_none_or(|&end| end as usize <= bytes.len());
            if !ends || codes.is_some_and(|codes| codes.iter().any(|&code| code as usize >= strings)) {
                return Err(wrong());
            }
            (raw.bytes, raw.offsets) = (bytes.as_ptr(), offsets.as_ptr());
            raw.codes = codes.map_or(std::ptr::null(), |codes| codes.as_ptr());
        }
        _ => return Err(wrong()),
    }
    Ok(raw)
}

fn raw_all(columns: &[Column<'_>], signature: &Signature, rows: usize) -> Result<Vec<RawColumn>> {
    if columns.len() != signature.arguments.len() {
        return Err(Error::new(Code::Internal, "a function of a class library got another number of columns"));
    }
    columns.iter().zip(&signature.arguments).map(|(column, &of)| raw(column, of, rows)).collect()
}

/// Strings as a class appends them.
struct Strings {
    offsets: Vec<u32>,
    bytes: Vec<u8>,
    rows: usize,
    bytes_max: u64,
    failure: Option<String>,
}

unsafe extern "C" fn append(engine: *mut c_void, strings: *const RawStr, n: u32) -> Status {
    // SAFETY: `Output` made the pointer, which only this call uses; the ABI: n strings.
    unsafe {
        let to = &mut *engine.cast::<Strings>();
        for number in 0..n as usize {
            let string = strings.add(number).read_unaligned();
            if to.offsets.len() > to.rows {
                to.failure.get_or_insert_with(|| format!("gave more strings than the {} rows", to.rows));
                return STATUS_FAIL;
            }
            if (to.bytes.len() as u64).saturating_add(string.n) > to.bytes_max {
                to.failure.get_or_insert_with(|| {
                    format!("gave more than {} bytes of strings for {} rows", to.bytes_max, to.rows)
                });
                return STATUS_FAIL;
            }
            to.bytes.extend_from_slice(string.bytes());
            to.offsets.push(to.bytes.len() as u32);
        }
    }
    STATUS_OK
}

/// Room for the values that a call returns.
struct Output {
    of: ValueType,
    rows: usize,
    bools: Vec<u8>,
    ints: Vec<i64>,
    floats: Vec<f64>,
    nulls: Vec<u8>,
    strings: Box<Strings>,
}

impl Output {
    fn new(of: ValueType, rows: usize, string_bytes: u64) -> Output {
        let room = |is: bool| if is { rows } else { 0 };
        let is_int = matches!(of, ValueType::I32 | ValueType::I64 | ValueType::Date | ValueType::Timestamp);
        let strings = Strings {
            offsets: vec![0],
            bytes: Vec::new(),
            rows: room(of.is_string()),
            bytes_max: string_bytes.min(u32::MAX.into()),
            failure: None,
        };
        Output {
            of,
            rows,
            bools: vec![0; room(of == ValueType::Bool)],
            ints: vec![0; room(is_int)],
            floats: vec![0.0; room(of == ValueType::F64)],
            nulls: vec![0; rows],
            strings: Box::new(strings),
        }
    }

    /// Returns what a class fills; it leads to this value.
    fn raw(&mut self) -> RawResult {
        let values: *mut c_void = match self.of {
            ValueType::Bool => self.bools.as_mut_ptr().cast(),
            ValueType::F64 => self.floats.as_mut_ptr().cast(),
            ValueType::Text | ValueType::Bytes => std::ptr::null_mut(),
            _ => self.ints.as_mut_ptr().cast(),
        };
        let engine: *mut Strings = &mut *self.strings;
        RawResult {
            size: size_of::<RawResult>() as u32,
            kind: self.of as u32,
            values,
            nulls: self.nulls.as_mut_ptr(),
            engine: engine.cast(),
            append,
        }
    }

    /// Returns the values. Fails for a value that its type does not have.
    fn finish(self, name: &str) -> Result<ResultColumn> {
        let wrong = |what: String| Error::new(Code::UserCode, format!("{name} {what}"));
        let nulls: Vec<bool> = self.nulls.iter().map(|&null| null != 0).collect();
        let is_null = |row: usize| nulls[row];
        let fits = |value: i64| match self.of {
            ValueType::I32 | ValueType::Date => i32::try_from(value).is_ok(),
            _ => true,
        };
        if let Some(row) = (0..self.ints.len()).find(|&row| !is_null(row) && !fits(self.ints[row])) {
            return Err(wrong(format!("gave {}, which is no {}", self.ints[row], self.of.name())));
        }
        let values = match self.of {
            ValueType::Bool => Results::Bools(self.bools.iter().map(|&value| value != 0).collect()),
            ValueType::F64 => Results::Floats(self.floats),
            ValueType::Text | ValueType::Bytes => {
                let Strings { offsets, bytes, .. } = *self.strings;
                if offsets.len() != self.rows + 1 {
                    return Err(wrong(format!("gave {} strings for {} rows", offsets.len() - 1, self.rows)));
                }
                if self.of == ValueType::Text {
                    let mut ends = offsets.iter().map(|&end| end as usize);
                    let is_text =
                        std::str::from_utf8(&bytes).is_ok_and(|text| ends.all(|at| text.is_char_boundary(at)));
                    if !is_text {
                        return Err(wrong("gave a text that is no UTF-8".into()).hint("declare its result as bytes"));
                    }
                }
                Results::Strings { offsets, bytes }
            }
            _ => Results::Ints(self.ints),
        };
        let nulls = nulls.contains(&true).then_some(nulls);
        Ok(ResultColumn { values, nulls })
    }
}

/// Returns the error of a call: what the engine refused comes before what the class says of it.
fn check(instance: &mut Instance, name: &str, status: Status, output: &mut Output) -> Result<()> {
    match output.strings.failure.take() {
        Some(what) => Err(Error::new(Code::UserCode, format!("{name} {what}"))),
        None => instance.check(status),
    }
}

/// A function of a class library.
pub struct ForeignFunction {
    pub instance: Instance,
    pub name: std::sync::Arc<str>,
    pub table: FunctionTable,
    pub signature: Signature,
}

// SAFETY: the table is constant data of a library that is never closed; the rest is Send.
unsafe impl Send for ForeignFunction {}

impl Function for ForeignFunction {
    fn call(&mut self, arguments: &[Column<'_>], rows: usize, string_bytes: u64) -> Result<ResultColumn> {
        let Some(call) = self.table.call else { return Err(self.instance.lacks("call")) };
        let columns = raw_all(arguments, &self.signature, rows)?;
        let mut output = Output::new(self.signature.result, rows, string_bytes);
        let mut result = output.raw();
        // SAFETY: the ABI; the columns are slices of `rows` rows, and the result has room for them.
        let status = unsafe { call(self.instance.this, columns.as_ptr(), rows as u32, &mut result) };
        check(&mut self.instance, &self.name, status, &mut output)?;
        output.finish(&self.name)
    }
}

/// An aggregate of a class library.
pub struct ForeignAggregate {
    pub instance: Instance,
    pub name: std::sync::Arc<str>,
    pub table: AggregateTable,
    pub signature: Signature,
}

// SAFETY: as for the function.
unsafe impl Send for ForeignAggregate {}

impl ForeignAggregate {
    /// Returns the addresses of the states of groups.
    fn states(&self, states: &mut [u8], groups: impl Iterator<Item = usize>) -> Vec<*mut u8> {
        let (size, len) = (self.signature.state_bytes, states.len());
        let base = states.as_mut_ptr();
        groups
            .map(|group| {
                assert!((group + 1) * size <= len, "a group without a state");
                base.wrapping_add(group * size)
            })
            .collect()
    }

    fn states_of(&self, states: &[u8], groups: &[u32]) -> Vec<*const u8> {
        let size = self.signature.state_bytes;
        groups.iter().map(|&group| states[group as usize * size..][..size].as_ptr()).collect()
    }
}

impl Aggregate for ForeignAggregate {
    fn init(&mut self, states: &mut [u8]) -> Result<()> {
        let Some(init) = self.table.init else { return Err(self.instance.lacks("init")) };
        let n = states.len() / self.signature.state_bytes;
        let states = self.states(states, 0..n);
        // SAFETY: the ABI; the states are parts of one slice, which lives for the call.
        let status = unsafe { init(self.instance.this, states.as_ptr(), n as u32) };
        self.instance.check(status)
    }

    fn add(&mut self, states: &mut [u8], groups: &[u32], arguments: &[Column<'_>]) -> Result<()> {
        let Some(add) = self.table.add else { return Err(self.instance.lacks("add")) };
        let columns = raw_all(arguments, &self.signature, groups.len())?;
        let states = self.states(states, groups.iter().map(|&group| group as usize));
        // SAFETY: as in `init`; as many rows as states.
        let status = unsafe { add(self.instance.this, states.as_ptr(), columns.as_ptr(), groups.len() as u32) };
        self.instance.check(status)
    }

    fn merge(&mut self, states: &mut [u8], to: &[u32], from: &[u8], groups: &[u32]) -> Result<()> {
        let Some(merge) = self.table.merge else { return Err(self.instance.lacks("merge")) };
        assert!(to.len() == groups.len());
        let from = self.states_of(from, groups);
        let states = self.states(states, to.iter().map(|&group| group as usize));
        // SAFETY: as in `init`; the states of both sides are in different slices.
        let status = unsafe { merge(self.instance.this, states.as_ptr(), from.as_ptr(), to.len() as u32) };
        self.instance.check(status)
    }

    fn finish(&mut self, states: &[u8], groups: &[u32], string_bytes: u64) -> Result<ResultColumn> {
        let Some(finish) = self.table.finish else { return Err(self.instance.lacks("finish")) };
        let states = self.states_of(states, groups);
        let mut output = Output::new(self.signature.result, groups.len(), string_bytes);
        let mut result = output.raw();
        // SAFETY: as in `init`; the result has room for the groups.
        let status = unsafe { finish(self.instance.this, states.as_ptr(), groups.len() as u32, &mut result) };
        check(&mut self.instance, &self.name, status, &mut output)?;
        output.finish(&self.name)
    }
}
