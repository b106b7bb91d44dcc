//! Columns as users write them.
//!
//! ```text
//!   columns := column , column ..
//!   column  := name [: type] [?]          ? if values may be missing
//!   type    := i64 | utf8 | .. | record< columns > | list< type [?] >
//!   name    := any but , : ? < > "        or in double quotes
//! ```

use yunti_base::{Code, Error, Result};

use crate::format::schema::{Column, Kind};

/// Column that a user asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    pub name: String,
    /// The type, with what is in it; `None` if it is up to the input.
    column: Option<Column>,
    is_nullable: bool,
}

impl Wanted {
    /// Returns a column whose type is up to the input.
    pub fn untyped(name: &str) -> Wanted {
        Wanted { name: name.to_owned(), column: None, is_nullable: false }
    }

    /// Reads columns: docs/guide/tables.md.
    pub fn parse(text: &str) -> Result<Vec<Wanted>> {
        let mut parser = Parser { whole: text, rest: text };
        let mut all = vec![parser.column()?];
        while parser.takes(',') {
            all.push(parser.column()?);
        }
        if parser.rest.is_empty() { Ok(all) } else { Err(parser.wrong("a comma is needed")) }
    }

    pub fn is_typed(&self) -> bool {
        self.column.is_some()
    }

    /// Returns the column, with the type that the input has if the user said none.
    pub fn column(&self, inferred: &Column) -> Column {
        let typed = self.column.as_ref().unwrap_or(inferred);
        let is_nullable = self.is_nullable || self.column.is_none() && inferred.is_nullable;
        Column { name: self.name.clone(), is_nullable, ..typed.clone() }
    }
}

struct Parser<'a> {
    whole: &'a str,
    rest: &'a str,
}

/// Deepest nesting that is read: a schema has a lower limit.
const DEEPEST: usize = 64;

impl<'a> Parser<'a> {
    fn wrong(&self, what: &str) -> Error {
        let at = self.whole.len() - self.rest.len();
        Error::new(Code::Usage, format!("columns \"{}\": {what} at character {}", self.whole, at + 1))
            .hint("write name:type?, with ? if values may be missing")
    }

    fn takes(&mut self, sign: char) -> bool {
        match self.rest.strip_prefix(sign) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn name(&mut self) -> Result<&'a str> {
        let (name, rest) = match self.rest.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"').ok_or_else(|| self.wrong("a quote does not end"))?,
            None => self.rest.split_at(self.rest.find([',', ':', '?', '<', '>', '"']).unwrap_or(self.rest.len())),
        };
        if name.is_empty() {
            return Err(self.wrong("a name is needed"));
        }
        self.rest = rest;
        Ok(name)
    }

    fn column(&mut self) -> Result<Wanted> {
        let name = self.name()?.to_owned();
        let column = if self.takes(':') { Some(self.kind(&name, 0)?) } else { None };
        let is_nullable = self.takes('?');
        Ok(Wanted { name, column, is_nullable })
    }

    fn kind(&mut self, column: &str, depth: usize) -> Result<Column> {
        if depth > DEEPEST {
            return Err(self.wrong("too many types in each other"));
        }
        let name = self.name()?;
        let kind = Kind::named(name).ok_or_else(|| {
            Error::new(Code::Usage, format!("column {column} has no type {name}"))
                .hint(format!("types: {}", Kind::all()))
        })?;
        let mut inner = Vec::new();
        if matches!(kind, Kind::Record | Kind::List) {
            if !self.takes('<') {
                return Err(self.wrong("< is needed"));
            }
            loop {
                let own = if kind == Kind::Record { self.name()?.to_owned() } else { String::new() };
                if kind == Kind::Record && !self.takes(':') {
                    return Err(self.wrong("the type of a field is needed"));
                }
                let field = self.kind(if own.is_empty() { column } else { &own }, depth + 1)?;
                inner.push(Column { name: own, is_nullable: self.takes('?'), ..field });
                if kind == Kind::List || !self.takes(',') {
                    break;
                }
            }
            if !self.takes('>') {
                return Err(self.wrong("> is needed"));
            }
        }
        Ok(Column::new("", kind, false).with(inner))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns() {
        let text = "id,name:utf8?,\"a,b\":i32,home:record<zip:i32,tags:list<utf8?>?>?,x?";
        let all = Wanted::parse(text).unwrap();
        let columns: Vec<Column> = all.iter().map(|one| one.column(&Column::new("", Kind::F64, false))).collect();
        let types: Vec<String> = columns.iter().map(Column::type_name).collect();
        assert_eq!(types, ["f64", "utf8", "i32", "record<zip:i32,tags:list<utf8?>?>", "f64"]);
        assert_eq!(
            columns.iter().map(|column| column.is_nullable).collect::<Vec<_>>(),
            [false, true, false, true, true]
        );
        assert_eq!(columns[2].name, "a,b");
        assert!(!all[0].is_typed() && all[1].is_typed());
    }

    #[test]
    fn wrong_columns() {
        for (text, what) in [
            ("", "a name is needed at character 1"),
            ("a,", "a name is needed at character 3"),
            ("a:int", "no type int"),
            ("a:list", "< is needed"),
            ("a:list<utf8", "> is needed"),
            ("a:record<x>", "the type of a field is needed"),
            ("a:i64>", "a comma is needed"),
            ("\"a", "a quote does not end"),
        ] {
            let error = Wanted::parse(text).unwrap_err();
            assert!(error.what().contains(what), "{text}: {}", error.what());
        }
        assert!(Wanted::parse(&format!("a:{}", "list<".repeat(1000))).is_err());
    }
}
