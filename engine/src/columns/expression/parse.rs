//! The tree of an expression. The grammar is SQL's (ISO/IEC 9075), cut to values:
//!
//! ```text
//!   weakest   or | and | not | comparison, is [not] null, [not] between/in/like | || | + - | * / % | sign   strongest
//!   value     column, a.b, "any name", 12, 1.5, 1e9, 'text', true, false, null, date '2026-11-25',
//!             timestamp '2026-11-25 10:00:00', f(value, ..), cast(value as TYPE),
//!             case when condition then value .. [else value] end, (value)
//! ```

use super::lexer::{Placed, Token, tokens};
use crate::columns::kind::{Kind, Unit};
use yunti_base::{Code, Error, Result};

/// Operator of two values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    Or,
    And,
    Equal,
    Unequal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Concat,
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}

/// An expression without types.
#[derive(Clone, Debug, PartialEq)]
pub enum Tree {
    Column(String),
    /// A number as it is written.
    Number(String),
    Text(String),
    /// A text that is a value of a type.
    Typed(Kind, String),
    Bool(bool),
    Null,
    Not(Box<Tree>),
    Negative(Box<Tree>),
    Binary(Op, Box<Tree>, Box<Tree>),
    IsNull(Box<Tree>),
    In(Box<Tree>, Vec<Tree>),
    Like(Box<Tree>, Box<Tree>),
    Call(String, Vec<Tree>),
    /// A function of all rows, such as `count(*)`.
    CallAll(String),
    /// A function of the distinct values.
    CallDistinct(String, Box<Tree>),
    Cast(Box<Tree>, Kind),
    /// Conditions and their values, and the value if none holds.
    Case(Vec<(Tree, Tree)>, Box<Tree>),
}

/// Levels of brackets, at most.
const DEPTH_MAX: usize = 100;
/// Operators, at most: each may be a level of the tree.
const OPERATORS_MAX: usize = 500;

struct Parser<'t> {
    text: &'t str,
    tokens: Vec<Placed>,
    at: usize,
    depth: usize,
    operators: usize,
}

/// Returns the tree of a text. Errors: `Usage` with the place.
pub fn parse(text: &str) -> Result<Tree> {
    let mut parser = Parser { text, tokens: tokens(text)?, at: 0, depth: 0, operators: 0 };
    let tree = parser.value()?;
    match parser.peek() {
        Token::End => Ok(tree),
        _ => Err(parser.wrong("an operator or the end")),
    }
}

/// Returns the trees of a list, each with the name behind `as`, if it has one, and its text.
pub fn parse_list(text: &str) -> Result<Vec<(Tree, Option<String>, String)>> {
    let mut parser = Parser { text, tokens: tokens(text)?, at: 0, depth: 0, operators: 0 };
    let mut all = Vec::new();
    loop {
        let start = parser.tokens[parser.at].place;
        let tree = parser.value()?;
        let end = parser.tokens[parser.at].place;
        let own: String = text.chars().skip(start - 1).take(end - start).collect();
        let name = if parser.takes_word("as") { Some(parser.name()?) } else { None };
        all.push((tree, name, own.trim().to_string()));
        if parser.takes(",") {
            continue;
        }
        return match parser.peek() {
            Token::End => Ok(all),
            _ => Err(parser.wrong("a comma, 'as' or the end")),
        };
    }
}

impl Parser<'_> {
    fn peek(&self) -> &Token {
        &self.tokens[self.at].token
    }

    fn next(&mut self) -> Token {
        let token = self.peek().clone();
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        token
    }

    fn takes(&mut self, symbol: &str) -> bool {
        let found = matches!(self.peek(), Token::Symbol(s) if *s == symbol);
        self.at += usize::from(found);
        found
    }

    fn is_word(&self, ahead: usize, word: &str) -> bool {
        let token = self.tokens.get(self.at + ahead).map(|placed| &placed.token);
        matches!(token, Some(Token::Word(w)) if w.eq_ignore_ascii_case(word))
    }

    fn takes_word(&mut self, word: &str) -> bool {
        let found = self.is_word(0, word);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, symbol: &str) -> Result<()> {
        if self.takes(symbol) { Ok(()) } else { Err(self.wrong(&format!("'{symbol}'"))) }
    }

    fn expect_word(&mut self, word: &str) -> Result<()> {
        if self.takes_word(word) { Ok(()) } else { Err(self.wrong(&format!("'{word}'"))) }
    }

    fn wrong(&self, expected: &str) -> Error {
        let Placed { token, place } = &self.tokens[self.at];
        let found = match token {
            Token::End => "the end".to_string(),
            Token::Word(text) | Token::Number(text) => format!("'{text}'"),
            Token::Name(text) => format!("\"{text}\""),
            Token::Text(text) => format!("the text '{text}'"),
            Token::Symbol(symbol) => format!("'{symbol}'"),
        };
        Error::new(Code::Usage, format!("'{}': expected {expected} at character {place}, found {found}", self.text))
    }

    fn name(&mut self) -> Result<String> {
        match self.peek().clone() {
            Token::Word(name) | Token::Name(name) => {
                self.at += 1;
                Ok(name)
            }
            _ => Err(self.wrong("a name")),
        }
    }

    fn value(&mut self) -> Result<Tree> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(Error::new(Code::Usage, format!("an expression is nested more than {DEPTH_MAX} levels deep")));
        }
        let mut left = self.and()?;
        while self.takes_word("or") {
            left = self.binary(Op::Or, left, Self::and)?;
        }
        self.depth -= 1;
        Ok(left)
    }

    fn binary(&mut self, op: Op, left: Tree, right: fn(&mut Self) -> Result<Tree>) -> Result<Tree> {
        self.operators += 1;
        if self.operators > OPERATORS_MAX {
            let error = Error::new(Code::Usage, format!("an expression has more than {OPERATORS_MAX} operators"));
            return Err(error.hint("x in (1, 2, ..) takes any number of values"));
        }
        Ok(Tree::Binary(op, left.into(), right(self)?.into()))
    }

    fn and(&mut self) -> Result<Tree> {
        let mut left = self.not()?;
        while self.takes_word("and") {
            left = self.binary(Op::And, left, Self::not)?;
        }
        Ok(left)
    }

    fn not(&mut self) -> Result<Tree> {
        let mut times = 0;
        while self.takes_word("not") {
            times += 1;
        }
        let mut tree = self.comparison()?;
        // Two of them are none, but for the type.
        for _ in 0..if times > 2 { 2 - times % 2 } else { times } {
            tree = Tree::Not(tree.into());
        }
        Ok(tree)
    }

    fn comparison(&mut self) -> Result<Tree> {
        const OPS: [(&str, Op); 7] = [
            ("=", Op::Equal),
            ("<>", Op::Unequal),
            ("!=", Op::Unequal),
            ("<", Op::Less),
            ("<=", Op::LessOrEqual),
            (">", Op::Greater),
            (">=", Op::GreaterOrEqual),
        ];
        let mut left = self.sum()?;
        loop {
            if let Some((_, op)) = OPS.into_iter().find(|(symbol, _)| self.takes(symbol)) {
                left = self.binary(op, left, Self::sum)?;
            } else if self.takes_word("is") {
                let not = self.takes_word("not");
                self.expect_word("null")?;
                left = negated(Tree::IsNull(left.into()), not);
            } else {
                let ahead = usize::from(self.is_word(0, "not"));
                if !["between", "in", "like"].into_iter().any(|word| self.is_word(ahead, word)) {
                    return Ok(left);
                }
                self.at += ahead;
                let tree = self.membership(left)?;
                left = negated(tree, ahead > 0);
            }
        }
    }

    fn membership(&mut self, left: Tree) -> Result<Tree> {
        if self.takes_word("between") {
            let least = self.sum()?;
            self.expect_word("and")?;
            let most = self.sum()?;
            let above = Tree::Binary(Op::GreaterOrEqual, left.clone().into(), least.into());
            let below = Tree::Binary(Op::LessOrEqual, left.into(), most.into());
            return Ok(Tree::Binary(Op::And, above.into(), below.into()));
        }
        if self.takes_word("like") {
            return Ok(Tree::Like(left.into(), self.sum()?.into()));
        }
        self.expect_word("in")?;
        self.expect("(")?;
        let mut all = vec![self.value()?];
        while self.takes(",") {
            all.push(self.value()?);
        }
        self.expect(")")?;
        Ok(Tree::In(left.into(), all))
    }

    fn sum(&mut self) -> Result<Tree> {
        let mut left = self.product()?;
        loop {
            let op = match self.peek() {
                Token::Symbol("+") => Op::Add,
                Token::Symbol("-") => Op::Subtract,
                Token::Symbol("||") => Op::Concat,
                _ => return Ok(left),
            };
            self.at += 1;
            left = self.binary(op, left, Self::product)?;
        }
    }

    fn product(&mut self) -> Result<Tree> {
        let mut left = self.signed()?;
        loop {
            let op = match self.peek() {
                Token::Symbol("*") => Op::Multiply,
                Token::Symbol("/") => Op::Divide,
                Token::Symbol("%") => Op::Remainder,
                _ => return Ok(left),
            };
            self.at += 1;
            left = self.binary(op, left, Self::signed)?;
        }
    }

    fn signed(&mut self) -> Result<Tree> {
        let mut is_negative = false;
        loop {
            if self.takes("-") {
                is_negative = !is_negative;
            } else if !self.takes("+") {
                break;
            }
        }
        Ok(match (self.primary()?, is_negative) {
            (tree, false) => tree,
            // So that the least integer can be written.
            (Tree::Number(text), true) => Tree::Number(format!("-{text}")),
            (tree, true) => Tree::Negative(tree.into()),
        })
    }

    fn primary(&mut self) -> Result<Tree> {
        match self.peek().clone() {
            Token::Number(text) => {
                self.at += 1;
                Ok(Tree::Number(text))
            }
            Token::Text(text) => {
                self.at += 1;
                Ok(Tree::Text(text))
            }
            Token::Name(name) => {
                self.at += 1;
                self.path(name)
            }
            Token::Symbol("(") => {
                self.at += 1;
                let tree = self.value()?;
                self.expect(")")?;
                Ok(tree)
            }
            Token::Word(word) => self.word(&word),
            _ => Err(self.wrong("a value")),
        }
    }

    fn word(&mut self, word: &str) -> Result<Tree> {
        let keyword = word.to_ascii_lowercase();
        match &keyword[..] {
            "true" | "false" => {
                self.at += 1;
                return Ok(Tree::Bool(keyword == "true"));
            }
            "null" => {
                self.at += 1;
                return Ok(Tree::Null);
            }
            "case" => return self.case(),
            "cast" => return self.cast(),
            "date" | "timestamp" => {
                if let Some(Token::Text(text)) = self.tokens.get(self.at + 1).map(|placed| placed.token.clone()) {
                    self.at += 2;
                    let kind = match &keyword[..] {
                        "date" => Kind::Date,
                        _ => Kind::Timestamp { unit: Unit::Microsecond, utc: false },
                    };
                    return Ok(Tree::Typed(kind, text));
                }
            }
            "and" | "or" | "not" | "in" | "is" | "like" | "between" | "then" | "when" | "else" | "end" | "as" => {
                return Err(self.wrong("a value"));
            }
            _ => {}
        }
        self.at += 1;
        if !self.takes("(") {
            return self.path(word.to_string());
        }
        if self.takes("*") {
            self.expect(")")?;
            return Ok(Tree::CallAll(keyword));
        }
        if self.takes_word("distinct") {
            let value = self.value()?;
            self.expect(")")?;
            return Ok(Tree::CallDistinct(keyword, value.into()));
        }
        let mut all = Vec::new();
        if !self.takes(")") {
            all.push(self.value()?);
            while self.takes(",") {
                all.push(self.value()?);
            }
            self.expect(")")?;
        }
        Ok(Tree::Call(keyword, all))
    }

    /// Returns the column of a name, with the names behind dots.
    fn path(&mut self, first: String) -> Result<Tree> {
        let mut path = first;
        while self.takes(".") {
            path.push('.');
            path += &self.name()?;
        }
        Ok(Tree::Column(path))
    }

    fn case(&mut self) -> Result<Tree> {
        self.at += 1;
        let mut branches = Vec::new();
        while self.takes_word("when") {
            let condition = self.value()?;
            self.expect_word("then")?;
            branches.push((condition, self.value()?));
        }
        if branches.is_empty() {
            return Err(self.wrong("'when'"));
        }
        let rest = if self.takes_word("else") { self.value()? } else { Tree::Null };
        self.expect_word("end")?;
        Ok(Tree::Case(branches, rest.into()))
    }

    fn cast(&mut self) -> Result<Tree> {
        self.at += 1;
        self.expect("(")?;
        let value = self.value()?;
        self.expect_word("as")?;
        let kind = self.kind()?;
        self.expect(")")?;
        Ok(Tree::Cast(value.into(), kind))
    }

    fn kind(&mut self) -> Result<Kind> {
        let name = self.name()?;
        let mut arguments = Vec::new();
        if self.takes("(") {
            while !self.takes(")") {
                match self.next() {
                    Token::Number(text) | Token::Word(text) => arguments.push(text),
                    Token::Symbol(",") => {}
                    _ => return Err(self.wrong("a type")),
                }
            }
        }
        Ok(match (&name.to_ascii_lowercase()[..], &arguments[..]) {
            ("boolean" | "bool", []) => Kind::Boolean,
            ("bigint" | "integer" | "int" | "smallint" | "tinyint", []) => Kind::Int,
            ("double" | "float" | "real", []) => Kind::Float,
            ("text" | "varchar" | "string", _) => Kind::Text,
            ("date", []) => Kind::Date,
            ("timestamp", []) => Kind::Timestamp { unit: Unit::Microsecond, utc: false },
            ("decimal" | "numeric", [_]) => Kind::Decimal { scale: 0 },
            ("decimal" | "numeric", [digits, scale]) => Kind::parse(&format!("Decimal128({digits}, {scale})"))?,
            _ => Kind::parse(&format!("{name}({})", arguments.join(", "))).or_else(|_| Kind::parse(&name))?,
        })
    }
}

fn negated(tree: Tree, not: bool) -> Tree {
    if not { Tree::Not(tree.into()) } else { tree }
}

impl Tree {
    /// Calls `visit` with the name of each column.
    pub fn columns(&self, visit: &mut impl FnMut(&str)) {
        match self {
            Tree::Column(name) => visit(name),
            Tree::Number(_) | Tree::Text(_) | Tree::Typed(..) | Tree::Bool(_) | Tree::Null | Tree::CallAll(_) => {}
            Tree::Not(one) | Tree::Negative(one) | Tree::IsNull(one) | Tree::Cast(one, _) => one.columns(visit),
            Tree::CallDistinct(_, one) => one.columns(visit),
            Tree::Binary(_, one, other) | Tree::Like(one, other) => {
                one.columns(visit);
                other.columns(visit);
            }
            Tree::In(one, others) => {
                one.columns(visit);
                others.iter().for_each(|other| other.columns(visit));
            }
            Tree::Call(_, all) => all.iter().for_each(|one| one.columns(visit)),
            Tree::Case(branches, rest) => {
                for (condition, value) in branches {
                    condition.columns(visit);
                    value.columns(visit);
                }
                rest.columns(visit);
            }
        }
    }
}
