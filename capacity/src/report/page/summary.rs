//! Top of the page: the process, one sentence, the parts that are missing, the main figures, and the advice.

use yunti_program::page::markup::{Tag, note, section, tag};
use yunti_program::text::numbers::{milliseconds, percent, three};

use crate::report::Report;
use crate::report::names::short;

/// Characters of the name of a bottleneck among the figures.
const NAME_SHOWN: usize = 60;

/// Returns the header, the figures and the advice.
pub fn sections(report: &Report<'_>) -> Vec<Tag> {
    let sentences = report.sentences();
    let (lead, rest) = sentences.split_first().map_or(("", &[][..]), |(lead, rest)| (lead, rest));
    let demands = report.demands;
    let mut header = tag("header")
        .add(tag("p").class("eyebrow").say("yunti capacity"))
        .add(tag("h1").add(tag("bdi").say(format!("{}, process {}", report.process(), demands.process.pid))))
        .add(tag("p").class("lead").say(lead));
    for skip in report.skipped() {
        header = header.add(note(format!("SKIP {skip}")));
    }
    header = header.add(note(format!(
        "Measured {} requests in {} seconds, {} a second, on {} processors.",
        demands.requests.count,
        three(demands.seconds),
        three(demands.requests.per_second),
        three(demands.processors.available())
    )));
    let mut all = vec![header, figures(report)];
    if !rest.is_empty() {
        let items = rest.iter().map(|text| tag("li").say(text));
        all.push(section("advice", "What follows").add(tag("ul").class("advice").all(items)));
    }
    all
}

fn figures(report: &Report<'_>) -> Tag {
    let (curve, now) = (report.curve, &report.advice.prospect);
    let figure = |name: &str, value: String, more: String| {
        tag("div").add(tag("dt").say(name)).add(tag("dd").say(value).add(tag("small").say(more)))
    };
    let mut list = tag("dl").class("figures");
    if !curve.is_unbounded {
        let range = |low: f64, high: f64| format!("{} to {}", three(low), three(high));
        list = list
            .add(figure("requests a second, at most", three(now.peak.value), range(now.peak.low, now.peak.high)))
            .add(figure(
                "threads for 95 % of it",
                three(curve.threads.value),
                match report.demands.workers.limit {
                    Some(limit) => format!("{}; it has {limit}", range(curve.threads.low, curve.threads.high)),
                    None => range(curve.threads.low, curve.threads.high),
                },
            ));
    }
    if let Some(first) = &curve.bottleneck.first {
        let more = format!("{}, {} in use at the peak", first.kind, percent(first.utilisation));
        list = list.add(figure("bottleneck", short(&first.name, NAME_SHOWN), more).class("words"));
    }
    if let Some(response) = report.response() {
        let high = if response.mean_ms_high.is_finite() { three(response.mean_ms_high) } else { "no limit".into() };
        let range = format!("{} to {high}", three(response.mean_ms_low));
        let more = format!("{range}; p99 {}, at {}/s", milliseconds(response.p99_ms), three(response.per_second));
        list = list.add(figure("mean response time", milliseconds(response.mean_ms), more));
    }
    let alone = format!("without any queue, {} of it on a processor", milliseconds(report.processor_ms()));
    list.add(figure("a request needs", milliseconds(curve.formulas.necessary.ms), alone))
}
