//! Windows: calls, frames and their ends.

use yunti_base::Result;

use super::bytes::{Reader, Writer};
use super::expressions::{self, put_variant, take_variant};
use super::{Open, damaged, types};
use crate::node::{Node, Window};
use crate::window::{Frame, FrameEnd, FrameUnit, Interval, Offset, WindowCall, WindowFunction};

const UNITS: &[FrameUnit] = &[FrameUnit::Rows, FrameUnit::Range, FrameUnit::Groups];

/// Appends a window without its input.
pub fn put(window: &Window, to: &mut Writer) -> Result<()> {
    to.list(&window.partition, |to, of| expressions::put(of, to))?;
    to.list(&window.order, |to, of| expressions::put_key(of, to))?;
    to.list(&window.calls, |to, call| put_call(call, to))
}

/// Takes a window over an input.
pub fn take(input: Box<Node>, from: &mut Reader<'_>, open: &mut Open<'_>) -> Result<Window> {
    let columns = input.types().len();
    let partition = from.list(|from| expressions::take(from, columns, open))?;
    let order = from.list(|from| expressions::take_key(from, columns, open))?;
    let calls = from.list(|from| take_call(from, columns, open))?;
    Ok(Window { input, partition, order, calls })
}

fn put_call(call: &WindowCall, to: &mut Writer) -> Result<()> {
    to.byte(number_of(&call.function));
    match call.function {
        WindowFunction::Aggregate(function) => put_variant(expressions::AGGREGATES, &function, to)?,
        WindowFunction::Ntile(parts) => to.number(parts),
        WindowFunction::Lag(rows) | WindowFunction::NthValue(rows) => to.fixed(rows.to_le_bytes()),
        _ => {}
    }
    types::put(&call.data_type, to)?;
    to.list(&call.arguments, |to, of| expressions::put(of, to))?;
    to.option(call.condition.as_ref(), |to, of| expressions::put(of, to))?;
    to.flag(call.distinct);
    to.flag(call.ignores_nulls);
    put_variant(UNITS, &call.frame.unit, to)?;
    put_end(&call.frame.start, to);
    put_end(&call.frame.end, to);
    Ok(())
}

fn number_of(function: &WindowFunction) -> u8 {
    match function {
        WindowFunction::Aggregate(_) => 0,
        WindowFunction::RowNumber => 1,
        WindowFunction::Rank => 2,
        WindowFunction::DenseRank => 3,
        WindowFunction::PercentRank => 4,
        WindowFunction::CumeDist => 5,
        WindowFunction::Ntile(_) => 6,
        WindowFunction::Lag(_) => 7,
        WindowFunction::FirstValue => 8,
        WindowFunction::LastValue => 9,
        WindowFunction::NthValue(_) => 10,
    }
}

fn take_call(from: &mut Reader<'_>, columns: usize, open: &mut Open<'_>) -> Result<WindowCall> {
    let function = match from.byte()? {
        0 => WindowFunction::Aggregate(take_variant(expressions::AGGREGATES, from)?),
        1 => WindowFunction::RowNumber,
        2 => WindowFunction::Rank,
        3 => WindowFunction::DenseRank,
        4 => WindowFunction::PercentRank,
        5 => WindowFunction::CumeDist,
        6 => WindowFunction::Ntile(from.number()?),
        7 => WindowFunction::Lag(i64::from_le_bytes(from.fixed()?)),
        8 => WindowFunction::FirstValue,
        9 => WindowFunction::LastValue,
        10 => WindowFunction::NthValue(i64::from_le_bytes(from.fixed()?)),
        _ => return Err(damaged("there is no such function")),
    };
    let data_type = types::take(from)?;
    let arguments = from.list(|from| expressions::take(from, columns, open))?;
    let condition = from.option(|from| expressions::take(from, columns, open))?;
    let (distinct, ignores_nulls) = (from.flag()?, from.flag()?);
    let frame = Frame { unit: take_variant(UNITS, from)?, start: take_end(from)?, end: take_end(from)? };
    Ok(WindowCall { function, arguments, condition, distinct, ignores_nulls, frame, data_type })
}

fn put_end(end: &FrameEnd, to: &mut Writer) {
    match end {
        FrameEnd::UnboundedPreceding => to.byte(0),
        FrameEnd::Preceding(offset) => {
            to.byte(1);
            put_offset(offset, to);
        }
        FrameEnd::CurrentRow => to.byte(2),
        FrameEnd::Following(offset) => {
            to.byte(3);
            put_offset(offset, to);
        }
        FrameEnd::UnboundedFollowing => to.byte(4),
    }
}

fn take_end(from: &mut Reader<'_>) -> Result<FrameEnd> {
    Ok(match from.byte()? {
        0 => FrameEnd::UnboundedPreceding,
        1 => FrameEnd::Preceding(take_offset(from)?),
        2 => FrameEnd::CurrentRow,
        3 => FrameEnd::Following(take_offset(from)?),
        4 => FrameEnd::UnboundedFollowing,
        _ => return Err(damaged("there is no such end of a frame")),
    })
}

fn put_offset(offset: &Offset, to: &mut Writer) {
    match offset {
        Offset::Value(value) => {
            to.byte(0);
            types::put_value(value, to);
        }
        Offset::Interval(Interval { months, days, nanos }) => {
            to.byte(1);
            to.fixed(months.to_le_bytes());
            to.fixed(days.to_le_bytes());
            to.fixed(nanos.to_le_bytes());
        }
    }
}

fn take_offset(from: &mut Reader<'_>) -> Result<Offset> {
    Ok(match from.byte()? {
        0 => Offset::Value(types::take_value(from)?),
        1 => Offset::Interval(Interval {
            months: i32::from_le_bytes(from.fixed()?),
            days: i32::from_le_bytes(from.fixed()?),
            nanos: i64::from_le_bytes(from.fixed()?),
        }),
        _ => return Err(damaged("there is no such offset")),
    })
}
