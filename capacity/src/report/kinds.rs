//! Kinds of requests: what a request of each needs.

use yunti_model::formulas::{KindNeed, kinds};
use yunti_program::page::markup::{Tag, note, section, table};
use yunti_program::terminal::paint::Paint;
use yunti_program::text::numbers::{memory, milliseconds, percent, three};
use yunti_program::text::table::{Side, Table};

use super::Report;
use super::names::short;

/// Kinds in the table of a terminal.
const SHOWN: usize = 12;
/// Columns of the table before the name, and characters of a name on a page.
const BEFORE_NAME: usize = 66;
const NAME_SHOWN: usize = 100;

impl Report<'_> {
    /// Returns what a request of each kind needs; empty if the kinds are unknown.
    pub fn kinds(&self) -> Vec<KindNeed> {
        kinds(self.demands, self.curve.bottleneck.first.as_ref().map(|first| first.place))
    }
}

/// Returns the kinds as a table for a terminal; absent if there are none.
pub fn text(report: &Report<'_>, width: usize, paint: Paint) -> Option<String> {
    let kinds = report.kinds();
    if kinds.is_empty() {
        return None;
    }
    let mut table = Table::new(&[
        ("share", Side::Right),
        ("ms a request", Side::Right),
        ("ms on the bottleneck", Side::Right),
        ("memory a request", Side::Right),
        ("kind of requests", Side::Left),
    ]);
    for kind in kinds.iter().take(SHOWN) {
        table.row(vec![
            percent(kind.share),
            three(kind.necessary_ms),
            kind.bottleneck_ms.map(three).unwrap_or_default(),
            kind.allocated_bytes.map(|bytes| memory(bytes as u64)).unwrap_or_default(),
            short(&kind.name, width.saturating_sub(BEFORE_NAME)),
        ]);
    }
    Some(table.print(paint))
}

/// Returns the section of the page; absent if there are no kinds.
pub fn section_of(report: &Report<'_>) -> Option<Tag> {
    let kinds = report.kinds();
    if kinds.is_empty() {
        return None;
    }
    let rows = kinds.iter().map(|kind| {
        vec![
            short(&kind.name, NAME_SHOWN),
            percent(kind.share),
            milliseconds(kind.necessary_ms),
            kind.bottleneck_ms.map(milliseconds).unwrap_or_default(),
            kind.allocated_bytes.map(|bytes| memory(bytes as u64)).unwrap_or_default(),
        ]
    });
    let columns = [
        ("kind of requests", false),
        ("share", true),
        ("time of a request", true),
        ("on the bottleneck", true),
        ("memory of a request", true),
    ];
    let mix = "Times are without any queue. yunti capacity what-if answers for another mix: share GET /search x2.";
    Some(section("kinds", "Kinds of requests").add(table("Kinds of requests", &columns, rows)).add(note(mix)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::document::tests::Example;

    #[test]
    fn kinds_have_their_shares() {
        let example = Example::shop();
        let text = text(&example.report(), 96, Paint::OFF).unwrap();
        assert!(text.contains("74 %") && text.contains("/search") && text.contains("/basket"), "{text}");
        assert!(section_of(&example.report()).is_some());
        let least = Example::of_least();
        assert!(super::text(&least.report(), 96, Paint::OFF).is_none() && section_of(&least.report()).is_none());
    }
}
