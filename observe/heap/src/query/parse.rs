//! Text of a query as a tree.
//!
//! ```text
//!   query   = select items from [instanceof] class [alias] [where e] [order by e [desc]] [limit n]
//!   items   = * | item {, item}         item = e [as name] | count(*) | sum(e) | min(e) | max(e)
//!   class   = name, in quotes if it has *: "shop.*", "byte[]"
//!   e       = or, and, not, comparison (= != <> < <= > >= like), + -, * /, unary -, path
//!   path    = (alias | field | toString(e) | classof(e) | literal | (e)) { .field | .@attribute | [e] }
//! ```

use super::expression::{Attribute, Expression, Operator, Value};

/// Depth of an expression, so that no text exhausts the stack.
const DEPTH_MAX: usize = 100;

/// Words and signs of a query, for the same reason.
const TOKENS_MAX: usize = 2000;

/// Wrong place in a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Offset of the first wrong character, in characters.
    pub at: usize,
    /// Reason, and what is expected.
    pub what: String,
}

/// Sum over all objects of a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aggregate {
    /// Values that are not null.
    Count,
    /// Sum of numbers.
    Sum,
    /// Least value.
    Min,
    /// Greatest value.
    Max,
}

/// Column of the result.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    /// Heading.
    pub name: String,
    /// Sum, if the column is one.
    pub aggregate: Option<Aggregate>,
    /// Expression.
    pub of: Expression,
}

/// Query.
#[derive(Clone, Debug, PartialEq)]
pub struct Query {
    /// Columns: all aggregates, or none.
    pub items: Vec<Item>,
    /// Name of the class; `*` stands for any text.
    pub class: String,
    /// True if instances of subclasses belong to it.
    pub with_subclasses: bool,
    /// Condition.
    pub condition: Option<Expression>,
    /// Key of the order, and true for the greatest first.
    pub order: Option<(Expression, bool)>,
    /// Greatest number of rows.
    pub limit: Option<usize>,
}

#[derive(Clone, Debug, PartialEq)]
enum Token {
    Word(String),
    Text(String),
    Int(i64),
    Float(f64),
    Sign(&'static str),
    End,
}

const SIGNS: [&str; 20] =
    ["<=", ">=", "!=", "<>", "=", "<", ">", "(", ")", "[", "]", ",", ".", "@", "+", "-", "*", "/", ";", "$"];

impl Query {
    /// Parses a query.
    pub fn parse(text: &str) -> Result<Query, Problem> {
        let mut parser = Parser { tokens: tokens(text)?, at: 0, alias: None, depth: 0 };
        let query = parser.query()?;
        parser.sign(";");
        match parser.peek() {
            Token::End => Ok(query),
            _ => Err(parser.expected("the end of the query")),
        }
    }

    /// Returns true if the columns are sums over all objects.
    pub fn is_aggregate(&self) -> bool {
        self.items.iter().any(|item| item.aggregate.is_some())
    }
}

fn tokens(text: &str) -> Result<Vec<(usize, Token)>, Problem> {
    let chars: Vec<char> = text.chars().collect();
    let (mut tokens, mut at) = (Vec::new(), 0);
    while at < chars.len() {
        let begin = at;
        let c = chars[at];
        if c.is_whitespace() {
            at += 1;
            continue;
        }
        let while_is = |from: usize, is: &dyn Fn(char) -> bool| {
            chars[from..].iter().position(|&c| !is(c)).map_or(chars.len(), |n| from + n)
        };
        let token = if c.is_alphabetic() || c == '_' {
            at = while_is(at, &|c| c.is_alphanumeric() || c == '_' || c == '$');
            Token::Word(chars[begin..at].iter().collect())
        } else if c.is_ascii_digit() {
            at = while_is(at, &|c| c.is_ascii_alphanumeric());
            let is_fraction = chars.get(at) == Some(&'.') && chars.get(at + 1).is_some_and(char::is_ascii_digit);
            if is_fraction {
                at = while_is(at + 1, &|c| c.is_ascii_digit());
            }
            number(&chars[begin..at].iter().collect::<String>())
                .ok_or_else(|| Problem { at: begin, what: "no number; write 17, 0x7f, 1.5, or 10K, 10M, 10G".into() })?
        } else if c == '\'' || c == '"' {
            let end = chars[at + 1..].iter().position(|&other| other == c);
            let end = end.ok_or_else(|| Problem { at: begin, what: "a text without its end quote".into() })?;
            at += end + 2;
            Token::Text(chars[begin + 1..at - 1].iter().collect())
        } else {
            let rest: String = chars[at..].iter().take(2).collect();
            let sign = SIGNS.iter().find(|sign| rest.starts_with(**sign));
            let sign = sign.ok_or_else(|| Problem { at: begin, what: format!("no query has a '{c}' here") })?;
            at += sign.len();
            Token::Sign(sign)
        };
        tokens.push((begin, token));
        if tokens.len() > TOKENS_MAX {
            return Err(Problem { at: begin, what: "the query is too long".to_owned() });
        }
    }
    tokens.push((chars.len(), Token::End));
    Ok(tokens)
}

fn number(text: &str) -> Option<Token> {
    if let Some(hex) = text.strip_prefix("0x") {
        return u64::from_str_radix(hex, 16).ok().map(|n| Token::Int(n as i64));
    }
    if text.contains('.') {
        return text.parse().ok().map(Token::Float);
    }
    let unit = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let factor = match unit {
        "" => 1,
        "K" | "k" => 1_000,
        "M" => 1_000_000,
        "G" => 1_000_000_000,
        _ => return None,
    };
    text[..text.len() - unit.len()].parse::<i64>().ok()?.checked_mul(factor).map(Token::Int)
}

struct Parser {
    tokens: Vec<(usize, Token)>,
    at: usize,
    alias: Option<String>,
    depth: usize,
}

impl Parser {
    fn peek(&self) -> &Token {
        &self.tokens[self.at].1
    }

    fn next(&mut self) -> Token {
        let token = self.peek().clone();
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        token
    }

    fn problem(&self, what: String) -> Problem {
        Problem { at: self.tokens[self.at].0, what }
    }

    fn expected(&self, what: &str) -> Problem {
        self.problem(format!("expected {what}"))
    }

    /// Takes a keyword, in any case.
    fn word(&mut self, word: &str) -> bool {
        let is = matches!(self.peek(), Token::Word(own) if own.eq_ignore_ascii_case(word));
        self.at += usize::from(is);
        is
    }

    fn sign(&mut self, sign: &str) -> bool {
        let is = matches!(self.peek(), Token::Sign(own) if *own == sign);
        self.at += usize::from(is);
        is
    }

    fn need(&mut self, sign: &str) -> Result<(), Problem> {
        if self.sign(sign) { Ok(()) } else { Err(self.expected(&format!("'{sign}'"))) }
    }

    fn query(&mut self) -> Result<Query, Problem> {
        if !self.word("select") {
            return Err(self.expected("'select', as in: select * from java.util.HashMap limit 10"));
        }
        // The alias stands behind the items.
        let begin = self.at;
        while !matches!(self.peek(), Token::End) && !self.word("from") {
            self.at += 1;
        }
        if matches!(self.peek(), Token::End) {
            return Err(self.expected("'from' and the name of a class"));
        }
        let with_subclasses = self.word("instanceof");
        let class = self.class()?;
        let is_keyword = |word: &str| ["where", "order", "limit"].iter().any(|key| word.eq_ignore_ascii_case(key));
        if let Token::Word(word) = self.peek().clone()
            && !is_keyword(&word)
        {
            self.at += 1;
            self.alias = Some(word);
        }
        let behind = std::mem::replace(&mut self.at, begin);
        let items = self.items()?;
        if !self.word("from") {
            return Err(self.expected("',' or 'from'"));
        }
        self.at = behind;
        let condition = if self.word("where") { Some(self.expression()?) } else { None };
        let mut order = None;
        if self.word("order") {
            if !self.word("by") {
                return Err(self.expected("'by'"));
            }
            let key = self.expression()?;
            let is_descending = self.word("desc");
            if !is_descending {
                self.word("asc");
            }
            order = Some((key, is_descending));
        }
        let mut limit = None;
        if self.word("limit") {
            let Token::Int(n) = *self.peek() else { return Err(self.expected("a number of rows")) };
            limit = usize::try_from(n).ok();
            self.at += 1;
        }
        Ok(Query { items, class, with_subclasses, condition, order, limit })
    }

    fn class(&mut self) -> Result<String, Problem> {
        let what = "the name of a class, in quotes if it has a '*'";
        let mut name = match self.next() {
            Token::Text(name) => return Ok(name),
            Token::Word(name) => name,
            _ => {
                self.at -= 1;
                return Err(self.expected(what));
            }
        };
        loop {
            if self.sign(".") {
                let Token::Word(part) = self.next() else {
                    self.at -= 1;
                    return Err(self.expected(what));
                };
                name = format!("{name}.{part}");
            } else if self.sign("[") {
                self.need("]")?;
                name += "[]";
            } else {
                return Ok(name);
            }
        }
    }

    fn items(&mut self) -> Result<Vec<Item>, Problem> {
        let of_this = |name: &str, attribute| Item {
            name: name.to_owned(),
            aggregate: None,
            of: Expression::Attribute(Box::new(Expression::This), attribute),
        };
        if self.sign("*") {
            return Ok(vec![
                Item { name: "object".to_owned(), aggregate: None, of: Expression::This },
                of_this("shallow", Attribute::Shallow),
                of_this("retained", Attribute::Retained),
            ]);
        }
        let mut items: Vec<Item> = Vec::new();
        loop {
            let begin = self.at;
            let mut item = self.item()?;
            if items.first().is_some_and(|first| first.aggregate.is_some() != item.aggregate.is_some()) {
                self.at = begin;
                return Err(self.problem("sums over all objects do not go with values of single ones".to_owned()));
            }
            if self.word("as") {
                item.name = match self.next() {
                    Token::Word(name) | Token::Text(name) => name,
                    _ => {
                        self.at -= 1;
                        return Err(self.expected("the name of a column"));
                    }
                };
            }
            items.push(item);
            if !self.sign(",") {
                return Ok(items);
            }
        }
    }

    fn item(&mut self) -> Result<Item, Problem> {
        let begin = self.at;
        let aggregate = ["count", "sum", "min", "max"]
            .into_iter()
            .zip([Aggregate::Count, Aggregate::Sum, Aggregate::Min, Aggregate::Max])
            .find(|(word, _)| {
                let is_call = matches!(&self.tokens.get(self.at + 1), Some((_, Token::Sign("("))));
                is_call && self.word(word)
            });
        let of = match aggregate {
            Some((_, kind)) => {
                self.need("(")?;
                let of = if kind == Aggregate::Count && self.sign("*") { Expression::This } else { self.expression()? };
                self.need(")")?;
                of
            }
            None => self.expression()?,
        };
        let name = self.tokens[begin..self.at].iter().map(|(_, token)| token.to_string()).collect();
        Ok(Item { name, aggregate: aggregate.map(|(_, kind)| kind), of })
    }

    fn expression(&mut self) -> Result<Expression, Problem> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(self.problem("too many parentheses within each other".to_owned()));
        }
        let mut left = self.conjunction()?;
        while self.word("or") {
            left = two(Operator::Or, left, self.conjunction()?);
        }
        self.depth -= 1;
        Ok(left)
    }

    fn conjunction(&mut self) -> Result<Expression, Problem> {
        let mut left = self.negation()?;
        while self.word("and") {
            left = two(Operator::And, left, self.negation()?);
        }
        Ok(left)
    }

    fn negation(&mut self) -> Result<Expression, Problem> {
        let mut is_negated = false;
        while self.word("not") {
            is_negated = !is_negated;
        }
        let of = self.comparison()?;
        Ok(if is_negated { Expression::Not(Box::new(of)) } else { of })
    }

    fn comparison(&mut self) -> Result<Expression, Problem> {
        let left = self.sum()?;
        let signs = [
            ("<=", Operator::LessOrEqual),
            (">=", Operator::GreaterOrEqual),
            ("!=", Operator::NotEqual),
            ("<>", Operator::NotEqual),
            ("=", Operator::Equal),
            ("<", Operator::Less),
            (">", Operator::Greater),
        ];
        if let Some((_, operator)) = signs.into_iter().find(|(sign, _)| self.sign(sign)) {
            return Ok(two(operator, left, self.sum()?));
        }
        if self.word("like") {
            return Ok(two(Operator::Like, left, self.sum()?));
        }
        let begin = self.at;
        if self.word("not") {
            if self.word("like") {
                return Ok(two(Operator::NotLike, left, self.sum()?));
            }
            self.at = begin;
        }
        Ok(left)
    }

    fn sum(&mut self) -> Result<Expression, Problem> {
        let mut left = self.product()?;
        loop {
            let operator = match () {
                () if self.sign("+") => Operator::Add,
                () if self.sign("-") => Operator::Subtract,
                () => return Ok(left),
            };
            left = two(operator, left, self.product()?);
        }
    }

    fn product(&mut self) -> Result<Expression, Problem> {
        let mut left = self.unary()?;
        loop {
            let operator = match () {
                () if self.sign("*") => Operator::Multiply,
                () if self.sign("/") => Operator::Divide,
                () => return Ok(left),
            };
            left = two(operator, left, self.unary()?);
        }
    }

    fn unary(&mut self) -> Result<Expression, Problem> {
        let mut is_negative = false;
        while self.sign("-") {
            is_negative = !is_negative;
        }
        let of = self.path()?;
        Ok(if is_negative { Expression::Negative(Box::new(of)) } else { of })
    }

    fn path(&mut self) -> Result<Expression, Problem> {
        let mut of = self.primary()?;
        loop {
            if self.sign(".") {
                of = if self.sign("@") { self.attribute(of)? } else { self.field(of)? };
            } else if self.sign("[") {
                let index = self.expression()?;
                self.need("]")?;
                of = Expression::Element(Box::new(of), Box::new(index));
            } else {
                return Ok(of);
            }
        }
    }

    fn field(&mut self, of: Expression) -> Result<Expression, Problem> {
        match self.peek().clone() {
            Token::Word(name) => {
                self.at += 1;
                Ok(Expression::Field(Box::new(of), name))
            }
            _ => Err(self.expected("the name of a field")),
        }
    }

    fn attribute(&mut self, of: Expression) -> Result<Expression, Problem> {
        let names = [
            ("objectAddress", Attribute::Address),
            ("objectId", Attribute::Address),
            ("usedHeapSize", Attribute::Shallow),
            ("retainedHeapSize", Attribute::Retained),
            ("length", Attribute::Length),
            ("class", Attribute::Class),
            ("clazz", Attribute::Class),
        ];
        match names.into_iter().find(|(name, _)| self.word(name)) {
            Some((_, attribute)) => Ok(Expression::Attribute(Box::new(of), attribute)),
            None => Err(self.expected("@objectAddress, @usedHeapSize, @retainedHeapSize, @length or @class")),
        }
    }

    fn primary(&mut self) -> Result<Expression, Problem> {
        if self.sign("(") {
            let of = self.expression()?;
            self.need(")")?;
            return Ok(of);
        }
        if self.sign("@") {
            return self.attribute(Expression::This);
        }
        let constant = |value| Ok(Expression::Constant(value));
        match self.peek().clone() {
            Token::Int(n) => {
                self.at += 1;
                constant(Value::Int(n))
            }
            Token::Float(n) => {
                self.at += 1;
                constant(Value::Float(n))
            }
            Token::Text(text) => {
                self.at += 1;
                constant(Value::Text(text))
            }
            Token::Word(word) => {
                self.at += 1;
                let is_call = matches!(self.peek(), Token::Sign("("));
                match &*word.to_ascii_lowercase() {
                    "null" => constant(Value::Null),
                    "true" => constant(Value::Bool(true)),
                    "false" => constant(Value::Bool(false)),
                    "tostring" if is_call => Ok(Expression::ToText(Box::new(self.argument()?))),
                    "classof" if is_call => Ok(Expression::Attribute(Box::new(self.argument()?), Attribute::Class)),
                    _ if is_call => {
                        self.at -= 1;
                        Err(self.expected("toString(..), classof(..), or a field"))
                    }
                    _ if self.alias.as_ref() == Some(&word) => Ok(Expression::This),
                    _ => Ok(Expression::Field(Box::new(Expression::This), word)),
                }
            }
            _ => Err(self.expected("a field, a number or a text in quotes")),
        }
    }

    fn argument(&mut self) -> Result<Expression, Problem> {
        self.need("(")?;
        let of = self.expression()?;
        self.need(")")?;
        Ok(of)
    }
}

fn two(operator: Operator, a: Expression, b: Expression) -> Expression {
    Expression::Two(operator, Box::new(a), Box::new(b))
}

impl std::fmt::Display for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        match self {
            Token::Word(word) => f.write_str(word),
            Token::Text(text) => write!(f, "'{text}'"),
            Token::Int(n) => write!(f, "{n}"),
            Token::Float(n) => write!(f, "{n}"),
            Token::Sign(sign) => f.write_str(sign),
            Token::End => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clauses_are_found() {
        let query = Query::parse(
            "SELECT o.customer.name AS who, o.@retainedHeapSize FROM INSTANCEOF shop.Order o \
             WHERE o.total > 10K and not (toString(o.id) LIKE 'x%') ORDER BY o.@retainedHeapSize DESC LIMIT 7",
        )
        .unwrap();
        assert_eq!((&*query.class, query.with_subclasses, query.limit), ("shop.Order", true, Some(7)));
        assert_eq!(query.items.iter().map(|item| &*item.name).collect::<Vec<_>>(), ["who", "o.@retainedHeapSize"]);
        let this = || Box::new(Expression::This);
        assert_eq!(query.order, Some((Expression::Attribute(this(), Attribute::Retained), true)));
        let name = Expression::Field(Box::new(Expression::Field(this(), "customer".into())), "name".into());
        assert_eq!(query.items[0].of, name);
        assert_eq!(Query::parse("select * from byte[]").unwrap().class, "byte[]");
        assert_eq!(Query::parse("select * from \"shop.*\" limit 3;").unwrap().class, "shop.*");
        assert!(
            Query::parse("select count(*), sum(@usedHeapSize) from int[] where @length = 0").unwrap().is_aggregate()
        );
    }

    #[test]
    fn operators_bind_as_in_sql() {
        let condition = |text: &str| Query::parse(&format!("select * from a where {text}")).unwrap().condition;
        for (text, same) in [
            ("a or b and c", "a or (b and c)"),
            ("not a = 1 and b", "(not (a = 1)) and b"),
            ("a + b * c < -d - 1", "(a + (b * c)) < ((-d) - 1)"),
            ("a - b - c = 0", "((a - b) - c) = 0"),
        ] {
            assert_eq!(condition(text), condition(same), "{text}");
        }
    }

    #[test]
    fn wrong_queries_have_their_place() {
        for (text, at) in [
            ("", 0),
            ("select * of a", 13),
            ("select * from", 13),
            ("select , from a", 7),
            ("select * from a where", 21),
            ("select * from a where b >", 25),
            ("select * from a where b = 'x", 26),
            ("select * from a limit x", 22),
            ("select * from a x y", 18),
            ("select @nothing from a", 8),
            ("select size(a) from a", 7),
            ("select count(*), b from a", 17),
            ("select * from a where b = 12Q", 26),
            ("select * from a where b ? 1", 24),
        ] {
            let problem = Query::parse(text).unwrap_err();
            assert_eq!(problem.at, at, "{text}: {}", problem.what);
        }
        assert!(Query::parse(&format!("select * from a where {}1", "(".repeat(100_000))).is_err());
    }
}
