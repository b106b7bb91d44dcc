//! The answer as a page: one HTML file that fetches nothing. All but the sliders works without scripts.
//!
//! ```text
//!   header, figures, advice -> curve -> resources -> kinds -> what if -> young generation -> numbers
//!   summary.rs                 curve.rs resources.rs ../kinds.rs what_if.rs young.rs         curve.rs
//!                              chart.rs                          sliders.rs, model.js, page.js
//! ```

mod chart;
mod curve;
mod resources;
mod sliders;
mod summary;
mod what_if;
mod young;

use yunti_program::page::Page;

use super::{Report, kinds};

const STYLE: &str = include_str!("page.css");
/// Computation of the sliders, then their elements.
const SCRIPT: &str = concat!(include_str!("model.js"), include_str!("page.js"));

/// Returns the page of an answer.
pub fn page(report: &Report<'_>) -> String {
    let title = format!("{} - capacity", report.process());
    let foot = format!("Yunti {}. docs/guide/capacity.md explains the terms.", env!("CARGO_PKG_VERSION"));
    let main = summary::sections(report)
        .into_iter()
        .chain([curve::section_of(report), resources::section_of(report)])
        .chain(kinds::section_of(report))
        .chain([what_if::section_of(report)])
        .chain(young::section_of(report))
        .chain([curve::numbers(report)]);
    Page { title: &title, style: STYLE, script: Some(SCRIPT), foot: &foot }.of(main)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::document::tests::Example;

    #[test]
    fn pages_have_no_foreign_markup_and_fetch_nothing() {
        for example in Example::all() {
            let page = page(&example.report());
            // One script of Yunti, one element with data.
            assert_eq!(page.matches("<script").count(), 2);
            for foreign in
                ["alert(1)</", "<b>", "<i>locks", "\u{1b}", "\u{202e}", "src=", "href=", "http:", "https:", "url("]
            {
                assert!(!page.contains(foreign), "{foreign}");
            }
            assert!(page.contains("default-src &#39;none&#39;;") && page.len() < 300_000, "{}", page.len());
        }
    }

    #[test]
    fn ids_are_unique_and_labels_lead_to_them() {
        let page = page(&Example::shop().report());
        let values = |name: &str| -> Vec<&str> {
            page.split(&format!(" {name}=\"")).skip(1).filter_map(|rest| rest.split('"').next()).collect()
        };
        let ids = values("id");
        assert!(ids.iter().all(|id| ids.iter().filter(|other| other == &id).count() == 1), "{ids:?}");
        for name in ["for", "aria-labelledby"] {
            assert!(values(name).iter().all(|id| ids.contains(id)), "{name}");
        }
        assert!(values("for").len() >= 8);
    }
}
