//! Expressions over the arguments of a call: parsed, with their signs, and evaluated as a reference.
//!
//! ```text
//!   or    = and { "||" and }            values are 64 bits wide and wrap
//!   ..      && | ^ & ==,!= <,<=,>,>= <<,>> +,- *,/,%   bind as in C
//!   unary = ( - ! ~ ) unary | "*(" type "*)" unary | primary
//!   primary = number | name | type "(" or ")" | "log2(" or ")" | "(" or ")"
//!   type  = u8 u16 u32 u64 s8 s16 s32 s64
//! ```
//!
//! An operation is signed if one of its operands is. A division by zero gives 0, a remainder by zero the dividend, and
//! a shift uses the lowest six bits of its count, so that each expression has one value everywhere.

use yunti_base::{Code, Error, Result};

/// Values of a call, and their number in [`Values`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variable {
    /// Argument by its number.
    Argument(u8),
    Return,
    /// Nanoseconds that the call took.
    Time,
    Pid,
    Tid,
    Cpu,
    Uid,
}

/// Number of variables.
pub const VARIABLES: usize = 12;
/// Values of all variables.
pub type Values = [u64; VARIABLES];

impl Variable {
    /// Returns its number in [`Values`].
    pub fn slot(self) -> usize {
        match self {
            Variable::Argument(n) => n.into(),
            Variable::Return => 6,
            Variable::Time => 7,
            Variable::Pid => 8,
            Variable::Tid => 9,
            Variable::Cpu => 10,
            Variable::Uid => 11,
        }
    }
}

/// Width and sign of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Width {
    pub bytes: u8,
    pub is_signed: bool,
}

/// Operator of two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binary {
    Or,
    And,
    BitOr,
    BitXor,
    BitAnd,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    ShiftLeft,
    ShiftRight,
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}

/// Operator of one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unary {
    Negate,
    Not,
    Complement,
    /// Number of the highest bit that is set; 0 for 0.
    Log2,
}

/// Expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expression {
    Constant(u64),
    Variable {
        variable: Variable,
        is_signed: bool,
    },
    Unary(Unary, Box<Expression>),
    /// The flag is true for a signed operation.
    Binary(Binary, Box<Expression>, Box<Expression>, bool),
    Cast(Width, Box<Expression>),
    /// Memory at an address; 0 if it cannot be read.
    Read(Width, Box<Expression>),
}

use Binary::*;

/// Operators by their precedence, the weakest first; longer names before their prefixes.
const LEVELS: [&[(&str, Binary)]; 10] = [
    &[("||", Or)],
    &[("&&", And)],
    &[("|", BitOr)],
    &[("^", BitXor)],
    &[("&", BitAnd)],
    &[("==", Equal), ("!=", NotEqual)],
    &[("<=", LessOrEqual), (">=", GreaterOrEqual), ("<", Less), (">", Greater)],
    &[("<<", ShiftLeft), (">>", ShiftRight)],
    &[("+", Add), ("-", Subtract)],
    &[("*", Multiply), ("/", Divide), ("%", Remainder)],
];
/// Nesting of parentheses and operators, which bounds the stack of parser and program.
const DEPTH_MAX: usize = 16;
const TEXT_BYTES_MAX: usize = 1000;

/// Names of values.
pub type Scope<'a> = dyn Fn(&str) -> Option<Expression> + 'a;

/// Parses a whole expression. An error shows the place by a caret before it.
pub fn parse(text: &str, scope: &Scope) -> Result<Expression> {
    let mut parser = Parser { text, at: 0, depth: 0, scope };
    let parsed = parser.level(0).and_then(|expression| {
        parser.space();
        if parser.at < text.len() { Err("an operator or the end is expected".to_owned()) } else { Ok(expression) }
    });
    parsed.map_err(|what| {
        let position = text[..parser.at].chars().count() + 1;
        Error::new(Code::Usage, format!("{what}, at position {position}: {} ^ {}", &text[..parser.at], parser.rest()))
    })
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
    scope: &'a Scope<'a>,
}

type Parsed = std::result::Result<Expression, String>;

impl Parser<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn space(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    fn take(&mut self, token: &str) -> bool {
        self.space();
        let is_next = self.rest().starts_with(token);
        self.at += if is_next { token.len() } else { 0 };
        is_next
    }

    fn expect(&mut self, token: &str) -> std::result::Result<(), String> {
        if self.take(token) { Ok(()) } else { Err(format!("'{token}' is expected")) }
    }

    fn deeper(&mut self, parse: impl FnOnce(&mut Self) -> Parsed) -> Parsed {
        if self.text.len() > TEXT_BYTES_MAX {
            return Err(format!("the expression is longer than {TEXT_BYTES_MAX} bytes"));
        }
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(format!("the expression is nested deeper than {DEPTH_MAX}"));
        }
        let parsed = parse(self);
        self.depth -= 1;
        parsed
    }

    fn operator(&mut self, level: usize) -> Option<Binary> {
        self.space();
        let (token, operator) = LEVELS[level].iter().find(|(token, _)| self.rest().starts_with(token))?;
        // `&` is not the begin of `&&`, `<` not of `<<`.
        let next = self.rest()[token.len()..].chars().next();
        if matches!(*token, "|" | "&" | "<" | ">") && next == token.chars().next() {
            return None;
        }
        self.at += token.len();
        Some(*operator)
    }

    fn level(&mut self, level: usize) -> Parsed {
        if level == LEVELS.len() {
            return self.unary();
        }
        let mut left = self.level(level + 1)?;
        while let Some(operator) = self.operator(level) {
            let right = self.level(level + 1)?;
            let is_signed = match operator {
                ShiftRight | ShiftLeft => is_signed(&left),
                _ => is_signed(&left) || is_signed(&right),
            };
            left = Expression::Binary(operator, left.into(), right.into(), is_signed);
        }
        Ok(left)
    }

    fn unary(&mut self) -> Parsed {
        self.space();
        for (token, operator) in [("-", Unary::Negate), ("!", Unary::Not), ("~", Unary::Complement)] {
            if self.take(token) {
                let of = self.deeper(Self::unary)?;
                return Ok(Expression::Unary(operator, of.into()));
            }
        }
        if self.take("*") {
            self.expect("(")?;
            let begin = self.at;
            let word = self.word();
            let Some(width) = width(&word) else {
                self.at = begin;
                return Err("a type such as u32 is expected".to_owned());
            };
            self.expect("*")?;
            self.expect(")")?;
            let of = self.deeper(Self::unary)?;
            return Ok(Expression::Read(width, of.into()));
        }
        if self.take("(") {
            let inner = self.deeper(|parser| parser.level(0))?;
            self.expect(")")?;
            return Ok(inner);
        }
        let begin = self.at;
        let word = self.word();
        if word.starts_with(|c: char| c.is_ascii_digit()) {
            return number(&word).map(Expression::Constant).ok_or_else(|| {
                self.at = begin;
                format!("'{word}' is not a number of 64 bits: 42, 0xfff, 4K, 1M, 2G, 5ms")
            });
        }
        if word == "log2" || width(&word).is_some() {
            self.expect("(")?;
            let of = self.deeper(|parser| parser.level(0))?;
            self.expect(")")?;
            return Ok(match width(&word) {
                Some(width) => Expression::Cast(width, of.into()),
                None => Expression::Unary(Unary::Log2, of.into()),
            });
        }
        if let Some(value) = (self.scope)(&word) {
            return Ok(value);
        }
        self.at = begin;
        Err(match word.as_str() {
            "" => "a value is expected".to_owned(),
            "return" | "time" => format!("'{word}' is not known here: only a call that is seen to end has it"),
            _ => format!("'{word}' is not known here: arg0 to arg5, return, time, pid, tid, cpu, uid"),
        })
    }

    fn word(&mut self) -> String {
        self.space();
        let rest = self.rest();
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
        let word = rest[..end].to_owned();
        self.at += end;
        word
    }
}

fn width(word: &str) -> Option<Width> {
    let (sign, bits) = word.split_at_checked(1)?;
    let bytes = match bits {
        "8" => 1,
        "16" => 2,
        "32" => 4,
        "64" => 8,
        _ => return None,
    };
    matches!(sign, "u" | "s").then_some(Width { bytes, is_signed: sign == "s" })
}

fn number(word: &str) -> Option<u64> {
    if let Some(digits) = word.strip_prefix("0x").or_else(|| word.strip_prefix("0X")) {
        return u64::from_str_radix(digits, 16).ok();
    }
    let (digits, unit) = word.split_at(word.find(|c: char| !c.is_ascii_digit()).unwrap_or(word.len()));
    let unit = match unit {
        "" | "ns" => 1,
        "K" => 1 << 10,
        "M" => 1 << 20,
        "G" => 1 << 30,
        "us" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(unit)
}

/// Returns true if the value of an expression is signed.
pub fn is_signed(of: &Expression) -> bool {
    match of {
        Expression::Constant(_) => false,
        Expression::Variable { is_signed, .. } => *is_signed,
        Expression::Unary(Unary::Negate, _) => true,
        Expression::Unary(Unary::Complement, of) => is_signed(of),
        Expression::Unary(_, _) => false,
        Expression::Cast(width, _) | Expression::Read(width, _) => width.is_signed,
        Expression::Binary(operator, _, _, is_signed) => {
            *is_signed
                && matches!(
                    operator,
                    BitOr | BitXor | BitAnd | ShiftLeft | ShiftRight | Add | Subtract | Multiply | Divide | Remainder
                )
        }
    }
}

impl Expression {
    /// Returns true if a part of it fits.
    pub fn any(&self, fits: &dyn Fn(&Expression) -> bool) -> bool {
        fits(self)
            || match self {
                Expression::Constant(_) | Expression::Variable { .. } => false,
                Expression::Unary(_, of) | Expression::Cast(_, of) | Expression::Read(_, of) => of.any(fits),
                Expression::Binary(_, left, right, _) => left.any(fits) || right.any(fits),
            }
    }

    /// Returns true if it uses the variable.
    pub fn uses(&self, wanted: Variable) -> bool {
        self.any(&|part| matches!(part, Expression::Variable { variable, .. } if *variable == wanted))
    }

    /// Returns true if it is known only when a call ends.
    pub fn needs_end(&self) -> bool {
        self.uses(Variable::Return) || self.uses(Variable::Time)
    }

    /// Adds the parts that must all hold.
    pub fn conjuncts(self, to: &mut Vec<Expression>) {
        match self {
            Expression::Binary(And, left, right, _) => {
                left.conjuncts(to);
                right.conjuncts(to);
            }
            other => to.push(other),
        }
    }

    /// Returns its value, without the memory of a process: reads give 0.
    pub fn value(&self, values: &Values) -> u64 {
        match self {
            Expression::Constant(value) => *value,
            Expression::Variable { variable, .. } => values[variable.slot()],
            Expression::Unary(Unary::Negate, of) => of.value(values).wrapping_neg(),
            Expression::Unary(Unary::Not, of) => u64::from(of.value(values) == 0),
            Expression::Unary(Unary::Complement, of) => !of.value(values),
            Expression::Unary(Unary::Log2, of) => of.value(values).checked_ilog2().unwrap_or(0).into(),
            Expression::Cast(width, of) => cast(*width, of.value(values)),
            Expression::Read(..) => 0,
            Expression::Binary(operator, left, right, is_signed) => {
                binary(*operator, left.value(values), right.value(values), *is_signed)
            }
        }
    }
}

fn cast(width: Width, value: u64) -> u64 {
    let shift = 64 - 8 * u32::from(width.bytes);
    match width.is_signed {
        true => ((value << shift) as i64 >> shift) as u64,
        false => value << shift >> shift,
    }
}

fn binary(operator: Binary, left: u64, right: u64, is_signed: bool) -> u64 {
    let order = if is_signed { (left as i64).cmp(&(right as i64)) } else { left.cmp(&right) };
    let shift = right as u32 & 63;
    match operator {
        Or => u64::from(left != 0 || right != 0),
        And => u64::from(left != 0 && right != 0),
        BitOr => left | right,
        BitXor => left ^ right,
        BitAnd => left & right,
        Equal => u64::from(left == right),
        NotEqual => u64::from(left != right),
        Less => order.is_lt().into(),
        LessOrEqual => order.is_le().into(),
        Greater => order.is_gt().into(),
        GreaterOrEqual => order.is_ge().into(),
        ShiftLeft => left << shift,
        ShiftRight if is_signed => (left as i64 >> shift) as u64,
        ShiftRight => left >> shift,
        Add => left.wrapping_add(right),
        Subtract => left.wrapping_sub(right),
        Multiply => left.wrapping_mul(right),
        Divide if right == 0 => 0,
        Divide if is_signed => (left as i64).wrapping_div(right as i64) as u64,
        Divide => left / right,
        Remainder if right == 0 => left,
        Remainder if is_signed => (left as i64).wrapping_rem(right as i64) as u64,
        Remainder => left % right,
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// Names of a system call or a function.
    pub fn scope(name: &str) -> Option<Expression> {
        let (variable, is_signed) = match name {
            "return" => (Variable::Return, true),
            "time" => (Variable::Time, false),
            "pid" => (Variable::Pid, false),
            _ => (Variable::Argument(name.strip_prefix("arg")?.parse().ok().filter(|n| *n < 6)?), false),
        };
        Some(Expression::Variable { variable, is_signed })
    }

    #[test]
    fn values() {
        let mut values = [0; VARIABLES];
        (values[0], values[1], values[6]) = (10, 0xffff_8000_0000_1234, -5i64 as u64);
        for (text, expected) in [
            ("1 + 2 * 3", 7),
            ("(1 + 2) * 3", 9),
            ("2K + 1M + 1G", 2048 + (1 << 20) + (1 << 30)),
            ("arg1 & 0xfff", 0x234),
            ("arg1 > 4096", 1),
            ("return < 0", 1),
            ("u64(return) < 0", 0),
            ("s32(0xffffffff) == -1", 1),
            ("-7 / 2", -3i64 as u64),
            ("-7 % 4", -3i64 as u64),
            ("return >> 1", -3i64 as u64),
            ("arg0 / 0 + arg0 % 0", 10),
            ("arg0==10||return<0&&0", 1),
            ("!arg0 | ~0 == -1", 1),
            ("1 << 65", 2),
            ("10 - 4 - 3", 3),
            ("log2(4096) + log2(0)", 12),
            ("1 | 2 ^ 2 & 3 == 3", 3),
            ("5ms + 3us + 1s + 7ns", 1_005_003_007),
        ] {
            assert_eq!(parse(text, &scope).unwrap().value(&values), expected, "{text}");
        }
    }

    #[test]
    fn errors_have_a_caret() {
        let deep = "(".repeat(40);
        for (text, at) in [
            ("", 1),
            ("arg0 +", 7),
            ("arg9", 1),
            ("1 + x", 5),
            ("(1", 3),
            ("1 2", 3),
            ("99999999999999999999", 1),
            ("*(x*)arg0", 3),
            ("0xfg", 1),
            ("5min", 1),
            (deep.as_str(), 18),
            ("arg0 = 1", 6),
        ] {
            let error = parse(text, &scope).unwrap_err().to_string();
            let wanted = format!("at position {at}:");
            assert!(error.contains(&wanted), "{text}: {error}");
        }
    }
}
