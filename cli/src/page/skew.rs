//! Skew: records and bytes by partition, from the fullest to the emptiest.

use yunti_engine::job::report::{Measure, Partitions, Report};

use super::markup::{Tag, at, details, drawing, note, paragraph, section as new_section, table, tag};
use crate::text::numbers;
use crate::text::report::skew_sentence;

const WIDTH: f64 = 1000.0;
const HEIGHT: f64 = 200.0;
/// Multiple of the average from which a bar is highlighted.
const OVER: f64 = 2.0;
/// Multiple of the average from which the fullest partition requires a logarithmic scale.
const BY_ORDERS: f64 = 20.0;

pub fn section(report: &Report) -> Tag {
    let Some(partitions) = report.partitions.as_ref() else {
        let section = new_section("skew", "Skew");
        let why = if report.job.id.is_some() {
            "The facts of this cluster's job do not have the input of each reduce."
        } else {
            "Records and bytes were not counted by partition: the report is of an older version, all records went to one \
             stream, or there were none."
        };
        return section.add(note(why));
    };
    let section = new_section("skew", &format!("Skew: {}", numbers::several(partitions.count, &partitions.of)));
    let section = section.add(paragraph(skew_sentence(partitions)));
    if partitions.count < 2 {
        return section.add(details("As a table", rows(partitions)));
    }
    let shown = partitions.measures.iter().enumerate().filter(|(column, _)| !is_like_one_before(partitions, *column));
    let charts = shown.map(|(column, measure)| chart(partitions, column, measure));
    let key = tag("ul")
        .class("legend")
        .add(
            tag("li")
                .add(tag("i").class("mean-key"))
                .say("the average, which all would have if the records were spread evenly"),
        )
        .add(tag("li").add(tag("i").set("style", "background:var(--spill)")).say("more than twice the average"));
    let card = tag("div").class("card").add(tag("div").class("charts").all(charts)).add(key);
    let name = if partitions.rows.len() as u64 == partitions.count {
        "As a table".into()
    } else {
        format!("The {} largest, as a table", partitions.rows.len())
    };
    section.add(card.add(details(&name, rows(partitions))))
}

/// Scale from zero to the fullest partition; logarithmic if the average would be too small to see.
struct Scale {
    least: f64,
    most: f64,
    by_orders: bool,
}

impl Scale {
    fn of(measure: &Measure, mean: f64) -> Scale {
        let most = (measure.most.max(1) as f64).max(mean);
        // The smallest value has a visible bar too.
        Scale { least: (measure.least as f64 / 2.0).max(1.0).min(most / 2.0), most, by_orders: most > mean * BY_ORDERS }
    }

    fn share(&self, value: f64) -> f64 {
        if self.by_orders {
            ((value / self.least).ln() / (self.most / self.least).ln()).clamp(0.0, 1.0)
        } else {
            value / self.most
        }
    }

    fn ticks(&self) -> [f64; 3] {
        if self.by_orders {
            [self.most, (self.most * self.least).sqrt(), self.least]
        } else {
            [self.most, self.most / 2.0, 0.0]
        }
    }
}

/// Returns true if a chart would equal an earlier one, as input and output do if nothing reduces.
fn is_like_one_before(partitions: &Partitions, column: usize) -> bool {
    let shape = |column: usize| -> Vec<u64> {
        let measure = &partitions.measures[column];
        let listed = partitions.rows.iter().filter_map(|row| row.values.get(column));
        let values = if measure.spread.is_empty() { listed.copied().collect() } else { measure.spread.clone() };
        values
            .iter()
            .map(|v| (*v as f64 / measure.total.max(1) as f64 * 1000.0 * partitions.count as f64).round() as u64)
            .collect()
    };
    let unit = |name: &str| name.ends_with("bytes");
    let name = &partitions.measures[column].name;
    let own = shape(column);
    (0..column).any(|before| {
        let other = shape(before);
        let near = own.iter().zip(&other).all(|(a, b)| a.abs_diff(*b) <= 10);
        unit(&partitions.measures[before].name) == unit(name) && own.len() == other.len() && near
    })
}

/// Returns the label of a column of the report.
fn words(measure: &str) -> &str {
    match measure {
        "input_records" => "records in",
        "input_bytes" => "bytes in",
        "output_records" => "records out",
        "output_bytes" => "bytes out",
        other => other,
    }
}

fn amount(measure: &str, n: u64) -> String {
    if measure.ends_with("bytes") { numbers::bytes(n) } else { numbers::about(n) }
}

fn chart(partitions: &Partitions, column: usize, measure: &Measure) -> Tag {
    let mut bars: Vec<(u64, String)> = if measure.spread.is_empty() {
        let value = |row: &yunti_engine::job::report::PartitionRow| row.values.get(column).copied().unwrap_or(0);
        partitions.rows.iter().map(|row| (value(row), format!("{} {}", partitions.of, row.number))).collect()
    } else {
        measure.spread.iter().enumerate().map(|(p, v)| (*v, format!("{p} % have at most"))).collect()
    };
    bars.sort_by_key(|(value, _)| std::cmp::Reverse(*value));
    let mean = measure.total as f64 / partitions.count.max(1) as f64;
    let scale = Scale::of(measure, mean);
    let width = WIDTH / bars.len().max(1) as f64;
    let gap = if bars.len() > 120 { 0.0 } else { width * 0.14 };
    let shapes = bars.iter().enumerate().map(|(i, (value, name))| {
        let height = scale.share(*value as f64) * HEIGHT;
        let bar = tag("rect")
            .set("x", at(i as f64 * width + gap / 2.0))
            .set("y", at(HEIGHT - height))
            .set("width", at(width - gap))
            .set("height", at(height))
            .add(tag("title").say(format!("{name}: {}", amount(&measure.name, *value))));
        if *value as f64 > mean * OVER { bar.class("over") } else { bar }
    });
    let title = format!(
        "{} by {}: at most {}, median {}, at least {}",
        words(&measure.name),
        partitions.of,
        amount(&measure.name, measure.most),
        amount(&measure.name, measure.median),
        amount(&measure.name, measure.least)
    );
    let y = at(HEIGHT - scale.share(mean) * HEIGHT);
    let line = tag("line").class("mean").set("x1", 0).set("x2", WIDTH).set("y1", &y).set("y2", &y);
    let svg =
        drawing(WIDTH, HEIGHT, &title, "Bars from the largest to the smallest.").class("bars").all(shapes).add(line);
    let ticks = scale.ticks().map(|v| tag("span").say(amount(&measure.name, v as u64)));
    let by = if scale.by_orders { "; logarithmic" } else { "" };
    let names = if measure.spread.is_empty() { ["fullest", "emptiest"] } else { ["fullest (percentiles)", "emptiest"] };
    tag("div")
        .add(tag("h3").say(format!("{}, {} in all{by}", words(&measure.name), amount(&measure.name, measure.total))))
        .add(
            tag("div")
                .class("chart")
                .add(tag("div").class("y").set("aria-hidden", "true").all(ticks))
                .add(svg)
                .add(tag("div").class("axis").set("aria-hidden", "true").all(names.map(|name| tag("span").say(name)))),
        )
}

fn rows(partitions: &Partitions) -> Tag {
    let columns: Vec<(&str, bool)> = [(&*partitions.of, true)]
        .into_iter()
        .chain(partitions.measures.iter().map(|m| (words(&m.name), true)))
        .collect();
    let rows = partitions.rows.iter().map(|row| {
        let values = row
            .values
            .iter()
            .zip(&partitions.measures)
            .map(|(v, m)| if m.name.ends_with("bytes") { numbers::bytes(*v) } else { numbers::count(*v) });
        [row.number.to_string()].into_iter().chain(values).collect()
    });
    table(&format!("Each {}", partitions.of), &columns, rows)
}
