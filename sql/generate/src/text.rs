//! A program in LLVM's language, as text.
//!
//! ```text
//!   run(block)           loads the pointers of the block, then calls `body`, whose pointers never overlap
//!   body:
//!     entry              constants, limits
//!     loop               what the condition of a row needs; failures of rows that a later condition removes
//!     keep               what the sink needs
//!     next               failures so far, number of rows that are kept
//! ```
//!
//! The block has words of 64 bits: values, codes and nulls of each input; constants; rows; then what the sink needs.
//! All operations are defined for all numbers: sums and products wrap, divisors are never 0 or -1, floats that become
//! whole numbers saturate, and nothing is poison. So what a row has that no one needs cannot harm.

use std::collections::HashSet;
use std::fmt::Write;

use yunti_sql_execute::code::program::{Number, Test};
use yunti_sql_execute::code::{Accumulator, AccumulatorKind, Element, Id, Op, Program, Sink, Type};

/// Words of the block for an input: values, codes, nulls.
pub const INPUT_WORDS: usize = 3;

/// Name of the function.
pub const NAME: &str = "run";

fn type_name(of: Type) -> &'static str {
    match of {
        Type::Bool => "i1",
        Type::I64 => "i64",
        Type::I128 => "i128",
        Type::F64 => "double",
    }
}

fn element_type(of: Element) -> Type {
    match of {
        Element::Bool => Type::Bool,
        Element::F64 => Type::F64,
        Element::I128 => Type::I128,
        Element::I64 | Element::Text => Type::I64,
    }
}

/// Returns the words of a constant in the block.
pub fn constant_words(of: Type) -> usize {
    if of == Type::I128 { 2 } else { 1 }
}

/// Returns the text of a program.
pub fn of(program: &Program) -> String {
    let mut text = Text { program, out: String::new(), done: HashSet::new(), names: 0 };
    text.head();
    text.body();
    text.run();
    text.tail();
    text.out
}

struct Text<'p> {
    program: &'p Program,
    out: String,
    /// Operations that stand above.
    done: HashSet<Id>,
    names: usize,
}

macro_rules! line {
    ($text:expr, $($part:tt)*) => {{
        // Writing to a string does not fail.
        let _ = writeln!($text.out, $($part)*);
    }};
}

impl Text<'_> {
    fn name(&mut self) -> String {
        self.names += 1;
        format!("%t{}", self.names)
    }

    fn head(&mut self) {
        // Programs of one text have inputs of one shape, also those of which they read no value.
        for (number, input) in self.program.inputs.iter().enumerate() {
            line!(self, "; input {number}: {:?}, coded {}, nulls {}", input.element, input.is_coded, input.has_nulls);
        }
        line!(self, "declare i64 @llvm.fptosi.sat.i64.f64(double)");
        line!(self, "declare double @llvm.trunc.f64(double)");
        for of in ["i64", "i128"] {
            line!(self, "declare {of} @llvm.smin.{of}({of}, {of})");
            line!(self, "declare {of} @llvm.smax.{of}({of}, {of})");
        }
        line!(self, "declare i64 @llvm.umin.i64(i64, i64)");
    }

    /// Returns the pointers of the body, in the order of the block, with their attributes.
    fn pointers(&self) -> Vec<(String, &'static str)> {
        let mut all = Vec::new();
        for number in 0..self.program.inputs.len() {
            for part in ["v", "c", "n"] {
                all.push((format!("{part}{number}"), "noalias nocapture readonly"));
            }
        }
        match &self.program.sink {
            Sink::Columns(columns) => {
                for number in 0..columns.len() {
                    all.push((format!("ov{number}"), "noalias nocapture writeonly"));
                    all.push((format!("on{number}"), "noalias nocapture writeonly"));
                }
                all.push(("rows".into(), "noalias nocapture writeonly"));
            }
            Sink::Accumulators { .. } => all.push(("sums".into(), "noalias nocapture")),
        }
        all
    }

    /// Returns the first word of the constants, of the number of rows, and of what the sink needs.
    fn places(&self) -> (usize, usize, usize) {
        let constants = self.program.inputs.len() * INPUT_WORDS;
        let rows = constants + self.program.constants.iter().map(|of| constant_words(*of)).sum::<usize>();
        (constants, rows, rows + 2)
    }

    fn run(&mut self) {
        let pointers = self.pointers();
        let (_, rows, sink) = self.places();
        line!(self, "define i64 @{NAME}(ptr noalias nocapture readonly %block) #0 {{");
        let mut arguments = Vec::new();
        for (number, (name, _)) in pointers.iter().enumerate() {
            let inputs = self.program.inputs.len() * INPUT_WORDS;
            let at = if number < inputs { number } else { sink + number - inputs };
            line!(self, "  %a{number} = getelementptr i64, ptr %block, i64 {at}");
            line!(self, "  %{name} = load ptr, ptr %a{number}");
            arguments.push(format!("ptr %{name}"));
        }
        for (name, at) in [("count", rows), ("places", rows + 1)] {
            line!(self, "  %w{name} = getelementptr i64, ptr %block, i64 {at}");
            line!(self, "  %{name} = load i64, ptr %w{name}");
            arguments.push(format!("i64 %{name}"));
        }
        arguments.push("ptr %block".into());
        line!(self, "  %kept = call i64 @body({})", arguments.join(", "));
        line!(self, "  ret i64 %kept");
        line!(self, "}}");
    }

    fn body(&mut self) {
        let pointers = self.pointers();
        let parameters = pointers.iter().map(|(name, attributes)| format!("ptr {attributes} %{name}"));
        let parameters: Vec<String> = parameters.collect();
        line!(
            self,
            "define internal i64 @body({}, i64 %count, i64 %places, ptr noalias nocapture readonly %block) #0 {{",
            parameters.join(", ")
        );
        line!(self, "entry:");
        self.constants();
        line!(self, "  %last = sub i64 %places, 1");
        line!(self, "  %none = icmp eq i64 %count, 0");
        line!(self, "  br i1 %none, label %end, label %loop");
        line!(self, "loop:");
        line!(self, "  %row = phi i64 [ 0, %entry ], [ %row.next, %next ]");
        line!(self, "  %kept = phi i64 [ 0, %entry ], [ %kept.next, %next ]");
        line!(self, "  %bad = phi i1 [ false, %entry ], [ %bad.next, %next ]");
        let failures = self.program.failures.clone();
        for &failure in &failures {
            self.need(failure);
        }
        let mut bad = "%bad".to_string();
        for failure in failures {
            let name = self.name();
            line!(self, "  {name} = or i1 {bad}, %x{failure}");
            bad = name;
        }
        match self.program.keep {
            Some(keep) => {
                self.need(keep);
                line!(self, "  br i1 %x{keep}, label %keep, label %next");
            }
            None => line!(self, "  br label %keep"),
        }
        line!(self, "keep:");
        match self.program.sink.clone() {
            Sink::Columns(columns) => self.columns(&columns),
            Sink::Accumulators { place, all, lanes } => self.accumulators(place, &all, lanes),
        }
        line!(self, "  %kept.more = add i64 %kept, 1");
        line!(self, "  br label %next");
        line!(self, "next:");
        match self.program.keep {
            Some(_) => line!(self, "  %kept.next = phi i64 [ %kept, %loop ], [ %kept.more, %keep ]"),
            None => line!(self, "  %kept.next = phi i64 [ %kept.more, %keep ]"),
        }
        line!(self, "  %bad.next = or i1 {bad}, false");
        line!(self, "  %row.next = add i64 %row, 1");
        line!(self, "  %is.end = icmp eq i64 %row.next, %count");
        line!(self, "  br i1 %is.end, label %end, label %loop");
        line!(self, "end:");
        line!(self, "  %kept.all = phi i64 [ 0, %entry ], [ %kept.next, %next ]");
        line!(self, "  %bad.all = phi i1 [ false, %entry ], [ %bad.next, %next ]");
        line!(self, "  %result = select i1 %bad.all, i64 -1, i64 %kept.all");
        line!(self, "  ret i64 %result");
        line!(self, "}}");
    }

    fn constants(&mut self) {
        let (mut at, _, _) = self.places();
        for (number, of) in self.program.constants.clone().into_iter().enumerate() {
            line!(self, "  %kp{number} = getelementptr i64, ptr %block, i64 {at}");
            match of {
                Type::Bool => {
                    line!(self, "  %kw{number} = load i64, ptr %kp{number}");
                    line!(self, "  %k{number} = icmp ne i64 %kw{number}, 0");
                }
                Type::I128 => {
                    line!(self, "  %k{number} = load i128, ptr %kp{number}, align 8");
                }
                of => line!(self, "  %k{number} = load {}, ptr %kp{number}", type_name(of)),
            }
            at += constant_words(of);
        }
    }

    /// Writes an operation with its operands, unless they stand above.
    fn need(&mut self, id: Id) {
        let mut open = vec![(id, false)];
        while let Some((id, is_ready)) = open.pop() {
            if self.done.contains(&id) {
                continue;
            }
            if is_ready {
                self.operation(id);
                self.done.insert(id);
            } else {
                open.push((id, true));
                open.extend(parts(self.program.ops[id as usize].0).into_iter().map(|part| (part, false)));
            }
        }
    }

    fn operation(&mut self, id: Id) {
        let (op, of) = self.program.ops[id as usize];
        let (x, name) = (format!("%x{id}"), type_name(of));
        match op {
            Op::Input(input) => self.input(&x, input),
            Op::InputNull(input) => {
                line!(self, "  {x}.p = getelementptr i8, ptr %n{input}, i64 %row");
                line!(self, "  {x}.b = load i8, ptr {x}.p");
                line!(self, "  {x} = icmp ne i8 {x}.b, 0");
            }
            Op::InputCode(input) => {
                line!(self, "  {x}.p = getelementptr i32, ptr %c{input}, i64 %row");
                line!(self, "  {x}.c = load i32, ptr {x}.p");
                line!(self, "  {x} = zext i32 {x}.c to i64");
            }
            Op::Constant(number) if of == Type::F64 => {
                line!(self, "  {x} = select i1 true, double %k{number}, double 0.0")
            }
            Op::Constant(number) if of == Type::Bool => line!(self, "  {x} = or i1 %k{number}, false"),
            Op::Constant(number) => line!(self, "  {x} = or {name} %k{number}, 0"),
            Op::Whole(number) => line!(self, "  {x} = or {name} {number}, 0"),
            Op::Float(bits) => line!(self, "  {x} = bitcast i64 {} to double", bits as i64),
            Op::Bool(value) => line!(self, "  {x} = or i1 {value}, false"),
            Op::Number(how, a, b) => self.number(&x, how, name, a, b),
            Op::FloatNumber(how, a, b) => {
                let how = match how {
                    Number::Add => "fadd",
                    Number::Subtract => "fsub",
                    Number::Multiply => "fmul",
                    Number::Divide => "fdiv",
                    Number::Remainder => "frem",
                };
                line!(self, "  {x} = {how} double %x{a}, %x{b}");
            }
            Op::Compare(test, a, b) => {
                let of = self.program.ops[a as usize].1;
                let test = match (test, of) {
                    (Test::Equal, _) => "eq",
                    (Test::NotEqual, _) => "ne",
                    // False is less than true: as numbers of one bit without a sign.
                    (Test::Less, Type::Bool) => "ult",
                    (Test::LessOrEqual, Type::Bool) => "ule",
                    (Test::Greater, Type::Bool) => "ugt",
                    (Test::GreaterOrEqual, Type::Bool) => "uge",
                    (Test::Less, _) => "slt",
                    (Test::LessOrEqual, _) => "sle",
                    (Test::Greater, _) => "sgt",
                    (Test::GreaterOrEqual, _) => "sge",
                };
                line!(self, "  {x} = icmp {test} {} %x{a}, %x{b}", type_name(of));
            }
            Op::And(a, b) => line!(self, "  {x} = and i1 %x{a}, %x{b}"),
            Op::Or(a, b) => line!(self, "  {x} = or i1 %x{a}, %x{b}"),
            Op::Not(a) => line!(self, "  {x} = xor i1 %x{a}, true"),
            Op::Choose(condition, a, b) => {
                line!(self, "  {x} = select i1 %x{condition}, {name} %x{a}, {name} %x{b}");
            }
            Op::Widen(a) => line!(self, "  {x} = sext i64 %x{a} to i128"),
            Op::Narrow(a) => line!(self, "  {x} = trunc i128 %x{a} to i64"),
            Op::Known(a, ..) => line!(self, "  {x} = or {name} %x{a}, 0"),
            Op::ToFloat(a) => line!(self, "  {x} = sitofp i64 %x{a} to double"),
            Op::BoolToWhole(a) => line!(self, "  {x} = zext i1 %x{a} to i64"),
            Op::ToWhole(a) => line!(self, "  {x} = call i64 @llvm.fptosi.sat.i64.f64(double %x{a})"),
            Op::ToSingle(a) => {
                line!(self, "  {x}.s = fptrunc double %x{a} to float");
                line!(self, "  {x} = fpext float {x}.s to double");
            }
            Op::FloatNegate(a) => line!(self, "  {x} = fneg double %x{a}"),
            Op::FloatTruncate(a) => line!(self, "  {x} = call double @llvm.trunc.f64(double %x{a})"),
            Op::Order(a) => {
                // -0 + 0 is 0; the bits of a negative float are inverted but for the sign; NaN is the largest.
                line!(self, "  {x}.z = fadd double %x{a}, 0.0");
                line!(self, "  {x}.b = bitcast double {x}.z to i64");
                line!(self, "  {x}.s = ashr i64 {x}.b, 63");
                line!(self, "  {x}.m = and i64 {x}.s, 9223372036854775807");
                line!(self, "  {x}.o = xor i64 {x}.b, {x}.m");
                line!(self, "  {x}.n = fcmp uno double %x{a}, 0.0");
                line!(self, "  {x} = select i1 {x}.n, i64 9221120237041090560, i64 {x}.o");
            }
        }
    }

    fn input(&mut self, x: &str, input: usize) {
        let shape = self.program.inputs[input];
        let (of, at) = (element_type(shape.element), if shape.is_coded { format!("{x}.i") } else { "%row".into() });
        if shape.is_coded {
            line!(self, "  {x}.p = getelementptr i32, ptr %c{input}, i64 %row");
            line!(self, "  {x}.c = load i32, ptr {x}.p");
            line!(self, "  {x}.i = zext i32 {x}.c to i64");
        }
        match of {
            Type::Bool => {
                line!(self, "  {x}.q = getelementptr i8, ptr %v{input}, i64 {at}");
                line!(self, "  {x}.b = load i8, ptr {x}.q");
                line!(self, "  {x} = icmp ne i8 {x}.b, 0");
            }
            of => {
                let name = type_name(of);
                line!(self, "  {x}.q = getelementptr {name}, ptr %v{input}, i64 {at}");
                line!(self, "  {x} = load {name}, ptr {x}.q, align 8");
            }
        }
    }

    fn number(&mut self, x: &str, how: Number, name: &str, a: Id, b: Id) {
        let how = match how {
            Number::Add => "add",
            Number::Subtract => "sub",
            Number::Multiply => "mul",
            // A divisor of 0 is replaced by 1: the row fails, or no one needs it. So is -1, and the result is negated.
            Number::Divide | Number::Remainder => {
                line!(self, "  {x}.z = icmp eq {name} %x{b}, 0");
                line!(self, "  {x}.m = icmp eq {name} %x{b}, -1");
                line!(self, "  {x}.o = or i1 {x}.z, {x}.m");
                line!(self, "  {x}.d = select i1 {x}.o, {name} 1, {name} %x{b}");
                if how == Number::Remainder {
                    line!(self, "  {x} = srem {name} %x{a}, {x}.d");
                    return;
                }
                line!(self, "  {x}.q = sdiv {name} %x{a}, {x}.d");
                line!(self, "  {x}.n = sub {name} 0, {x}.q");
                line!(self, "  {x} = select i1 {x}.m, {name} {x}.n, {name} {x}.q");
                return;
            }
        };
        line!(self, "  {x} = {how} {name} %x{a}, %x{b}");
    }

    fn columns(&mut self, columns: &[(Id, Option<Id>)]) {
        for (number, &(value, null)) in columns.iter().enumerate() {
            self.need(value);
            let of = self.program.ops[value as usize].1;
            let name = if of == Type::Bool { "i8" } else { type_name(of) };
            let stored = match of {
                Type::Bool => {
                    let stored = self.name();
                    line!(self, "  {stored} = zext i1 %x{value} to i8");
                    stored
                }
                _ => format!("%x{value}"),
            };
            line!(self, "  %op{number} = getelementptr {name}, ptr %ov{number}, i64 %kept");
            line!(self, "  store {name} {stored}, ptr %op{number}, align {}", if of == Type::Bool { 1 } else { 8 });
            if let Some(null) = null {
                self.need(null);
                line!(self, "  %oz{number} = zext i1 %x{null} to i8");
                line!(self, "  %oq{number} = getelementptr i8, ptr %on{number}, i64 %kept");
                line!(self, "  store i8 %oz{number}, ptr %oq{number}");
            }
        }
        if self.program.keep.is_some() {
            line!(self, "  %rp = getelementptr i32, ptr %rows, i64 %kept");
            line!(self, "  %rn = trunc i64 %row to i32");
            line!(self, "  store i32 %rn, ptr %rp");
        }
    }

    fn accumulators(&mut self, place: Option<Id>, all: &[Accumulator], lanes: usize) {
        let words: usize = all.iter().map(Accumulator::words).sum();
        let base = match place {
            None => "0".to_string(),
            Some(place) => {
                self.need(place);
                // Memory beyond the places is never touched, whatever the codes are.
                line!(self, "  %pl = call i64 @llvm.umin.i64(i64 %x{place}, i64 %last)");
                "%pl".into()
            }
        };
        line!(self, "  %lane = and i64 %row, {}", lanes - 1);
        line!(self, "  %pb = mul i64 {base}, {lanes}");
        line!(self, "  %pn = add i64 %pb, %lane");
        line!(self, "  %pw = mul i64 %pn, {words}");
        let mut at = 0;
        for (number, one) in all.iter().enumerate() {
            let (value, when) = (one.value, one.when);
            value.into_iter().chain(when).for_each(|id| self.need(id));
            let of = if one.is_wide { "i128" } else { "i64" };
            line!(self, "  %sw{number} = add i64 %pw, {at}");
            line!(self, "  %sp{number} = getelementptr i64, ptr %sums, i64 %sw{number}");
            line!(self, "  %so{number} = load {of}, ptr %sp{number}, align 8");
            let mut new = match value {
                None => "1".to_string(),
                Some(value) if one.is_wide && self.program.ops[value as usize].1 == Type::I64 => {
                    line!(self, "  %sv{number} = sext i64 %x{value} to i128");
                    format!("%sv{number}")
                }
                Some(value) => format!("%x{value}"),
            };
            let minmax = match one.kind {
                AccumulatorKind::Count | AccumulatorKind::Sum => None,
                AccumulatorKind::Least => Some("smin"),
                AccumulatorKind::Largest => Some("smax"),
            };
            match minmax {
                None => {
                    if let Some(when) = when {
                        line!(self, "  %sc{number} = select i1 %x{when}, {of} {new}, {of} 0");
                        new = format!("%sc{number}");
                    }
                    line!(self, "  %sn{number} = add {of} %so{number}, {new}");
                }
                Some(how) => {
                    if let Some(when) = when {
                        line!(self, "  %sc{number} = select i1 %x{when}, {of} {new}, {of} %so{number}");
                        new = format!("%sc{number}");
                    }
                    line!(self, "  %sn{number} = call {of} @llvm.{how}.{of}({of} %so{number}, {of} {new})");
                }
            }
            line!(self, "  store {of} %sn{number}, ptr %sp{number}, align 8");
            at += one.words();
        }
    }

    fn tail(&mut self) {
        line!(self, "attributes #0 = {{ nounwind \"no-builtins\" }}");
    }
}

/// Returns the operations whose values an operation takes.
fn parts(op: Op) -> Vec<Id> {
    match op {
        Op::Input(_) | Op::InputNull(_) | Op::InputCode(_) | Op::Constant(_) => Vec::new(),
        Op::Whole(_) | Op::Float(_) | Op::Bool(_) => Vec::new(),
        Op::Number(_, a, b) | Op::FloatNumber(_, a, b) | Op::Compare(_, a, b) | Op::And(a, b) | Op::Or(a, b) => {
            vec![a, b]
        }
        Op::Choose(condition, a, b) => vec![condition, a, b],
        Op::Not(a)
        | Op::Widen(a)
        | Op::Narrow(a)
        | Op::Known(a, ..)
        | Op::ToFloat(a)
        | Op::BoolToWhole(a)
        | Op::ToWhole(a)
        | Op::ToSingle(a)
        | Op::FloatNegate(a)
        | Op::FloatTruncate(a)
        | Op::Order(a) => vec![a],
    }
}
