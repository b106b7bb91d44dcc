//! Table in columns, each aligned left or right and as wide as its longest entry.

use crate::terminal::paint::Paint;

/// Alignment of a column.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// Alignment for text.
    Left,
    /// Alignment for numbers.
    Right,
}

/// Table under construction.
pub struct Table {
    columns: Vec<(String, Side)>,
    rows: Vec<Vec<String>>,
    shows_all: bool,
}

impl Table {
    /// Returns an empty table with these columns: the name and the alignment of each.
    pub fn new(columns: &[(&str, Side)]) -> Table {
        let columns = columns.iter().map(|(name, side)| (name.to_string(), *side)).collect();
        Table { columns, rows: Vec::new(), shows_all: false }
    }

    /// Prints columns without an entry too.
    pub fn with_all_columns(self) -> Table {
        Table { shows_all: true, ..self }
    }

    /// Adds a row. Panics unless it has one cell for each column.
    pub fn row(&mut self, cells: Vec<String>) {
        assert_eq!(cells.len(), self.columns.len(), "a row has a cell for each column");
        self.rows.push(cells);
    }

    /// Returns true if the table has no row.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Returns the lines of the table, indented by two. Columns without any entry are omitted.
    pub fn print(&self, paint: Paint) -> String {
        let is_shown = |&c: &usize| self.shows_all || self.rows.iter().any(|r| !r[c].is_empty());
        let shown: Vec<usize> = (0..self.columns.len()).filter(is_shown).collect();
        let widths: Vec<usize> = shown
            .iter()
            .map(|&c| self.rows.iter().map(|r| columns(&r[c])).chain([columns(&self.columns[c].0)]).max().unwrap_or(0))
            .collect();
        let line = |cells: &dyn Fn(usize) -> String| {
            let mut line = String::from(" ");
            for (&column, &width) in shown.iter().zip(&widths) {
                let cell = cells(column);
                let gap = " ".repeat(width.saturating_sub(columns(&cell)));
                line += &match self.columns[column].1 {
                    Side::Left => format!(" {cell}{gap} "),
                    Side::Right => format!(" {gap}{cell} "),
                };
            }
            line.trim_end().to_string()
        };
        let mut out = String::new();
        if self.columns.iter().any(|(name, _)| !name.is_empty()) {
            out += &paint.dim(&line(&|c| self.columns[c].0.clone()));
            out.push('\n');
        }
        for row in &self.rows {
            out += &line(&|c| row[c].clone());
            out.push('\n');
        }
        out
    }
}

/// Returns the columns of a text on a terminal. Characters of double width count once, which only shifts a line.
pub fn columns(text: &str) -> usize {
    text.chars().count()
}

/// Returns `text` in at most `width` columns, with `…` for a cut end.
pub fn cut(text: &str, width: usize) -> String {
    if columns(text) <= width {
        text.to_string()
    } else {
        text.chars().take(width.saturating_sub(1)).chain(['…']).collect()
    }
}

/// Returns `text` wrapped into lines of at most `width` columns. `first` begins the first line, and its width indents
/// the rest.
pub fn wrap(first: &str, text: &str, width: usize) -> String {
    let indent = " ".repeat(columns(first));
    let mut out = String::new();
    let mut line = first.to_string();
    let mut empty = true;
    for word in text.split_whitespace() {
        if !empty && columns(&line) + 1 + columns(word) > width {
            out += line.trim_end();
            out.push('\n');
            line = indent.clone();
            empty = true;
        }
        if !empty {
            line.push(' ');
        }
        line += word;
        empty = false;
    }
    out + line.trim_end() + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn aligns_columns_and_omits_empty_ones() {
        let mut table = Table::new(&[("name", Side::Left), ("n", Side::Right), ("none", Side::Right)]);
        table.row(vec!["a".into(), "1".into(), "".into()]);
        table.row(vec!["Füße".into(), "100".into(), "".into()]);
        assert_eq!(table.print(Paint::OFF), "  name    n\n  a       1\n  Füße  100\n");
    }

    #[test]
    fn wraps_or_cuts_long_text() {
        assert_eq!(wrap("a: ", "one two three", 10), "a: one two\n   three\n");
        assert_eq!(wrap("a: ", "muchtoolong x", 5), "a: muchtoolong\n   x\n");
        assert_eq!(cut("abcdef", 4), "abc…");
    }
}
