//! A table in columns: the first one left, the others right, as wide as they must be.

use crate::terminal::paint::Paint;

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Side {
    Left,
    Right,
}

pub struct Table {
    columns: Vec<(&'static str, Side)>,
    rows: Vec<Vec<String>>,
}

impl Table {
    pub fn new(columns: &[(&'static str, Side)]) -> Table {
        Table { columns: columns.to_vec(), rows: Vec::new() }
    }

    /// As many cells as there are columns.
    pub fn row(&mut self, cells: Vec<String>) {
        assert_eq!(cells.len(), self.columns.len(), "a row has a cell for each column");
        self.rows.push(cells);
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Lines, indented by two. Columns without a single entry are left out.
    pub fn print(&self, paint: Paint) -> String {
        let shown: Vec<usize> =
            (0..self.columns.len()).filter(|&c| self.rows.iter().any(|r| !r[c].is_empty())).collect();
        let widths: Vec<usize> = shown
            .iter()
            .map(|&c| self.rows.iter().map(|r| columns(&r[c])).chain([columns(self.columns[c].0)]).max().unwrap_or(0))
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
            out += &paint.dim(&line(&|c| self.columns[c].0.to_string()));
            out.push('\n');
        }
        for row in &self.rows {
            out += &line(&|c| row[c].clone());
            out.push('\n');
        }
        out
    }
}

/// Columns on a terminal; characters of double width are counted once, which only shifts a line.
pub fn columns(text: &str) -> usize {
    text.chars().count()
}

/// `text` in at most `width` columns, the cut marked.
pub fn cut(text: &str, width: usize) -> String {
    if columns(text) <= width {
        text.to_string()
    } else {
        text.chars().take(width.saturating_sub(1)).chain(['…']).collect()
    }
}

/// Words in lines of at most `width` columns, the first with `first` before it, the others indented as far.
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
    fn columns_line_up_and_empty_ones_are_left_out() {
        let mut table = Table::new(&[("name", Side::Left), ("n", Side::Right), ("none", Side::Right)]);
        table.row(vec!["a".into(), "1".into(), "".into()]);
        table.row(vec!["Füße".into(), "100".into(), "".into()]);
        assert_eq!(table.print(Paint::OFF), "  name    n\n  a       1\n  Füße  100\n");
    }

    #[test]
    fn long_text_is_wrapped_or_cut() {
        assert_eq!(wrap("a: ", "one two three", 10), "a: one two\n   three\n");
        assert_eq!(wrap("a: ", "muchtoolong x", 5), "a: muchtoolong\n   x\n");
        assert_eq!(cut("abcdef", 4), "abc…");
    }
}
