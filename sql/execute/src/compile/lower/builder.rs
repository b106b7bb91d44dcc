//! Operations of a program as they are made: each of them once, folded where its value is known.

use std::collections::HashMap;

use yunti_engine::columns::kind::Kind;

use super::super::interval::Interval;
use super::{Lowered, interval_of};
use crate::code::Constant;
use crate::code::program::{Accumulator, AccumulatorKind, Element, Id, Input, Number, Op, Program, Sink, Test, Type};

/// Operations, at most.
const OPS_MAX: usize = 2_000;

/// A program that is not finished.
#[derive(Debug)]
pub struct Builder {
    /// Shapes of the columns; None for one that no program takes.
    columns: Vec<Option<Input>>,
    /// Numbers of the columns that it takes.
    used: Vec<usize>,
    constants: Vec<Constant>,
    ops: Vec<(Op, Type)>,
    intervals: Vec<Interval>,
    known: HashMap<(Op, Type), Id>,
    failures: Vec<Id>,
    keep: Option<Id>,
}

/// A program with the constants and columns of its calls.
#[derive(Debug)]
pub struct Built {
    pub program: Program,
    pub constants: Vec<Constant>,
    /// For each input of the program, the number of its column.
    pub columns: Vec<usize>,
    /// Notes of what made the program.
    pub notes: Vec<(usize, usize)>,
}

impl Builder {
    pub fn new(columns: Vec<Option<Input>>) -> Builder {
        Builder {
            columns,
            used: Vec::new(),
            constants: Vec::new(),
            ops: Vec::new(),
            intervals: Vec::new(),
            known: HashMap::new(),
            failures: Vec::new(),
            keep: None,
        }
    }

    /// Adds an operation whose number has an interval.
    fn add_number(&mut self, op: Op, of: Type, interval: Interval) -> Id {
        if let Some(&id) = self.known.get(&(op, of)) {
            return id;
        }
        self.ops.push((op, of));
        self.intervals.push(interval);
        let id = self.ops.len() as Id - 1;
        self.known.insert((op, of), id);
        id
    }

    pub fn add(&mut self, op: Op, of: Type) -> Id {
        self.add_number(op, of, Interval::of(0))
    }

    fn op(&self, id: Id) -> Op {
        self.ops[id as usize].0
    }

    pub fn type_of(&self, id: Id) -> Type {
        self.ops[id as usize].1
    }

    /// Returns the interval of a whole number.
    pub fn interval(&self, id: Id) -> Interval {
        self.intervals[id as usize]
    }

    /// Returns true if there are more operations than a program should have.
    pub fn is_large(&self) -> bool {
        self.ops.len() > OPS_MAX
    }

    fn input(&mut self, column: usize) -> Option<(usize, Input)> {
        let shape = (*self.columns.get(column)?)?;
        let number = self.used.iter().position(|used| *used == column).unwrap_or_else(|| {
            self.used.push(column);
            self.used.len() - 1
        });
        Some((number, shape))
    }

    /// Returns the value of a column; None if programs do not take it.
    pub fn column(&mut self, column: usize, kind: Kind) -> Option<Lowered> {
        let (number, shape) = self.input(column)?;
        let fits = match shape.element {
            Element::Bool => kind == Kind::Boolean,
            Element::F64 => matches!(kind, Kind::Float | Kind::Float32),
            Element::I128 => matches!(kind, Kind::Decimal { .. }),
            Element::I64 => !matches!(kind, Kind::Boolean | Kind::Float | Kind::Float32 | Kind::Text),
            Element::Text => false,
        };
        if !fits {
            return None;
        }
        let interval = Interval::of_bits(shape.bits);
        let id = match shape.element {
            Element::Bool => self.add(Op::Input(number), Type::Bool),
            Element::F64 => self.add(Op::Input(number), Type::F64),
            Element::Text => return None,
            Element::I64 => self.add_number(Op::Input(number), Type::I64, interval),
            Element::I128 => {
                let wide = self.add_number(Op::Input(number), Type::I128, interval);
                self.narrow(wide, interval)
            }
        };
        let null = shape.has_nulls.then(|| self.add(Op::InputNull(number), Type::Bool));
        Some(Lowered { id, null })
    }

    /// Returns the code of a column's value, and true for a null; None if the column has no codes.
    pub fn code(&mut self, column: usize) -> Option<Lowered> {
        let (number, shape) = self.input(column)?;
        if !shape.is_coded {
            return None;
        }
        let id = self.add_number(Op::InputCode(number), Type::I64, Interval::of_bits(32));
        let null = shape.has_nulls.then(|| self.add(Op::InputNull(number), Type::Bool));
        Some(Lowered { id, null })
    }

    /// Returns a constant of the call. Each has a place of its own, whatever its value.
    pub fn constant(&mut self, value: Constant) -> Id {
        let number = self.constants.len();
        self.constants.push(value);
        match value {
            Constant::Bool(_) => self.add(Op::Constant(number), Type::Bool),
            Constant::Float(_) => self.add(Op::Constant(number), Type::F64),
            Constant::Int(value) => self.add_number(Op::Constant(number), Type::I64, interval_of(value.into())),
            Constant::Wide(value) => self.add_number(Op::Constant(number), Type::I128, interval_of(value)),
        }
    }

    /// Returns a constant that each call sets, of a number of bits.
    pub fn constant_of(&mut self, bits: u32) -> Id {
        let number = self.constants.len();
        self.constants.push(Constant::Int(0));
        self.add_number(Op::Constant(number), Type::I64, Interval::of_bits(bits))
    }

    /// Returns the nulls of a column, whatever its values are.
    pub fn nulls(&mut self, column: usize) -> Option<Lowered> {
        let (number, shape) = self.input(column)?;
        let null = shape.has_nulls.then(|| self.add(Op::InputNull(number), Type::Bool));
        Some(Lowered { id: self.bool(false), null })
    }

    /// Returns a number that is part of the program.
    pub fn whole(&mut self, number: i128) -> Id {
        let of = if i64::try_from(number).is_ok() { Type::I64 } else { Type::I128 };
        self.add_number(Op::Whole(number), of, Interval::of(number))
    }

    pub fn bool(&mut self, value: bool) -> Id {
        self.add(Op::Bool(value), Type::Bool)
    }

    pub fn not(&mut self, of: Id) -> Id {
        match self.op(of) {
            Op::Bool(value) => self.bool(!value),
            Op::Not(within) => within,
            _ => self.add(Op::Not(of), Type::Bool),
        }
    }

    pub fn and(&mut self, a: Id, b: Id) -> Id {
        match (self.op(a), self.op(b)) {
            (Op::Bool(true), _) => b,
            (_, Op::Bool(true)) => a,
            (Op::Bool(false), _) => a,
            (_, Op::Bool(false)) => b,
            _ if a == b => a,
            _ => self.add(Op::And(a.min(b), a.max(b)), Type::Bool),
        }
    }

    /// Returns `b`, or `a and b`.
    pub fn and_if(&mut self, a: Option<Id>, b: Id) -> Id {
        a.map_or(b, |a| self.and(a, b))
    }

    pub fn or(&mut self, a: Id, b: Id) -> Id {
        match (self.op(a), self.op(b)) {
            (Op::Bool(false), _) => b,
            (_, Op::Bool(false)) => a,
            (Op::Bool(true), _) => a,
            (_, Op::Bool(true)) => b,
            _ if a == b => a,
            _ => self.add(Op::Or(a.min(b), a.max(b)), Type::Bool),
        }
    }

    /// Returns two whole numbers in the same type.
    pub fn matched(&mut self, a: Id, b: Id) -> (Id, Id) {
        match (self.type_of(a), self.type_of(b)) {
            (Type::I64, Type::I128) => (self.widen(a), b),
            (Type::I128, Type::I64) => (a, self.widen(b)),
            _ => (a, b),
        }
    }

    pub fn compare(&mut self, test: Test, a: Id, b: Id) -> Id {
        let (a, b) = self.matched(a, b);
        self.add(Op::Compare(test, a, b), Type::Bool)
    }

    pub fn choose(&mut self, condition: Id, a: Id, b: Id) -> Id {
        match self.op(condition) {
            Op::Bool(true) => return a,
            Op::Bool(false) => return b,
            _ if a == b => return a,
            _ => {}
        }
        let (a, b) = self.matched(a, b);
        let interval = self.interval(a).or(self.interval(b));
        self.add_number(Op::Choose(condition, a, b), self.type_of(a), interval)
    }

    /// Returns a number that has the order of floats.
    pub fn order(&mut self, float: Id) -> Id {
        self.add_number(Op::Order(float), Type::I64, Interval::of_bits(63))
    }

    pub fn widen(&mut self, of: Id) -> Id {
        match self.type_of(of) {
            Type::I64 => self.add_number(Op::Widen(of), Type::I128, self.interval(of)),
            _ => of,
        }
    }

    /// Returns a number that is known to be within an interval in all rows that need it, in 64 bits if that fits them.
    pub fn narrow(&mut self, of: Id, interval: Interval) -> Id {
        let id = match self.type_of(of) {
            Type::I128 if interval.fits_64() => self.add_number(Op::Narrow(of), Type::I64, Interval::of_bits(63)),
            _ => of,
        };
        // Another use of the number, which other rows need, may have a wider interval.
        match self.interval(id).is_within(interval.low, interval.high) {
            true => id,
            false => self.add_number(Op::Known(id, interval.low, interval.high), self.type_of(id), interval),
        }
    }

    /// Returns the result of an operation of whole numbers, in 64 bits if they hold it; None if 128 bits may not.
    pub fn number(&mut self, how: Number, a: Id, b: Id) -> Option<Id> {
        let interval = self.interval(a).compute(how, self.interval(b))?;
        let is_small = interval.fits_64() && self.type_of(a) == Type::I64 && self.type_of(b) == Type::I64;
        if matches!(how, Number::Divide | Number::Remainder) && !is_small {
            return None;
        }
        if is_small {
            return Some(self.add_number(Op::Number(how, a, b), Type::I64, interval));
        }
        let (a, b) = (self.widen(a), self.widen(b));
        let id = self.add_number(Op::Number(how, a, b), Type::I128, interval);
        Some(self.narrow(id, interval))
    }

    /// Makes a call fail if any row has `id` true.
    pub fn fail(&mut self, id: Id) {
        if self.op(id) != Op::Bool(false) && !self.failures.contains(&id) {
            self.failures.push(id);
        }
    }

    /// Keeps the rows for which a condition is true, among the rows that are kept so far.
    pub fn keep(&mut self, condition: Id) {
        self.keep = Some(self.and_if(self.keep, condition));
    }

    /// Keeps all rows, and returns the condition that was on them.
    pub fn take_keep(&mut self) -> Option<Id> {
        self.keep.take()
    }

    /// Returns true for rows that are kept so far; None: all.
    pub fn kept(&self) -> Option<Id> {
        self.keep
    }

    /// Returns the program.
    pub fn finish(self, sink: Sink) -> Built {
        let Builder { columns, used, constants, ops, failures, keep, .. } = self;
        let of = |constant: &Constant| match constant {
            Constant::Bool(_) => Type::Bool,
            Constant::Int(_) => Type::I64,
            Constant::Wide(_) => Type::I128,
            Constant::Float(_) => Type::F64,
        };
        let program = Program {
            inputs: used.iter().filter_map(|&column| columns[column]).collect(),
            constants: constants.iter().map(of).collect(),
            ops,
            keep,
            failures,
            sink,
        };
        Built { program, constants, columns: used, notes: Vec::new() }
    }

    /// Returns an accumulator of a whole number, of rows for which `when` is true; None if a batch of some bits of rows
    /// may leave 128 bits.
    pub fn accumulator(&self, kind: AccumulatorKind, value: Id, when: Option<Id>, bits: u32) -> Option<Accumulator> {
        let is_wide = match kind {
            AccumulatorKind::Count => false,
            AccumulatorKind::Sum => match self.interval(value).bits() + bits {
                0..=63 => false,
                64..=126 => true,
                _ => return None,
            },
            AccumulatorKind::Least | AccumulatorKind::Largest => self.type_of(value) == Type::I128,
        };
        // A sum of 64 bits whose numbers were computed in 128 has intervals that prove the numbers small.
        if kind == AccumulatorKind::Sum && !is_wide && self.type_of(value) == Type::I128 {
            return None;
        }
        Some(Accumulator { kind, value: Some(value), when, is_wide })
    }
}
