//! The top of the page: the bottleneck, the advice, and the key figures.

use yunti_engine::job::report::Report;

use super::markup::{Tag, note, section, tag};
use crate::text::numbers;
use crate::text::report::{capital, facts_line};

pub fn header(report: &Report) -> Vec<Tag> {
    vec![title(report), advice(report), figures(report)]
}

fn title(report: &Report) -> Tag {
    let job = &report.job;
    let (headline, rest) = match report.bottleneck.text.split_once("; ") {
        Some((headline, rest)) => (headline, rest),
        None => (&*report.bottleneck.text, ""),
    };
    let failed = job.state.as_ref().filter(|state| *state != "succeeded");
    let failed = failed.map_or(String::new(), |state| format!("The job {state}. "));
    let headline = if headline.is_empty() { "The bottleneck of the job is unknown".into() } else { capital(headline) };
    let mut header = tag("header")
        .add(tag("p").class("eyebrow").say(format!("Yunti job report, {}", numbers::utc(job.started_unix_ms))))
        .add(tag("h1").say(if job.name.is_empty() { "a job without a name" } else { &job.name }))
        .add(tag("p").class("lead").say(format!("{failed}{headline}.")));
    if !rest.is_empty() {
        header = header.add(tag("p").say(capital(rest) + "."));
    }
    let to = job.output.as_ref().map_or(String::new(), |path| format!("; output in {path}"));
    header.add(tag("p").class("meta").say(facts_line(report) + &to))
}

fn advice(report: &Report) -> Tag {
    let section = section("advice", "What to change");
    if report.advice.is_empty() {
        return section.add(note("Nothing stands out that a setting would improve."));
    }
    let item = |advice: &yunti_engine::job::report::Advice| {
        let item = tag("li").add(tag("strong").say(capital(&advice.seen) + ".")).say(capital(&advice.change) + ".");
        match &advice.flag {
            Some(flag) => item.add(tag("br")).add(tag("code").class("flag").say(flag)),
            None => item,
        }
    };
    section.add(tag("ol").class("advice").all(report.advice.iter().map(item)))
}

fn figures(report: &Report) -> Tag {
    let job = &report.job;
    let mut all: Vec<(&str, String, String)> = Vec::new();
    let speed =
        if job.wall_ms > 0.0 { numbers::rate(job.input_bytes as f64 / 1000.0 / job.wall_ms) } else { "-".into() };
    all.push(("time", numbers::milliseconds(job.wall_ms), format!("{speed} of input")));
    let processors = job.cpu_ms / job.wall_ms.max(1e-6);
    let of = numbers::several(u64::from(report.machine.processors), "processor");
    all.push(("processor time", numbers::milliseconds(job.cpu_ms), format!("{processors:.1} of {of} on average")));
    let files = report.input.as_ref().map_or(String::new(), |input| {
        let codecs: Vec<String> = input.compressed.iter().map(|(codec, n)| format!("{n} {codec}")).collect();
        let codecs = if codecs.is_empty() { String::new() } else { format!(" ({})", codecs.join(", ")) };
        format!("{}{codecs}, ", numbers::several(input.files, "file"))
    });
    let splits = numbers::several(job.splits, "split");
    let records = numbers::several_about(job.input_records, "record");
    all.push(("input", numbers::bytes(job.input_bytes), format!("{records}; {files}{splits}")));
    let records = numbers::several_about(job.output_records, "record");
    all.push(("output", numbers::bytes(job.output_bytes), records));
    let memory = &report.memory;
    all.push((
        "peak memory",
        numbers::memory(memory.peak_bytes),
        format!("of {}", numbers::memory(memory.budget_bytes)),
    ));
    if job.id.is_none() {
        let spill = &report.spill;
        all.push(match spill.runs {
            0 => ("spilled", "nothing".into(), "all records fit into memory".into()),
            runs => (
                "spilled",
                numbers::bytes(spill.stored_bytes),
                format!("{} of {}", numbers::several(runs, "run"), numbers::bytes(spill.raw_bytes)),
            ),
        });
    }
    let list = all.into_iter().map(|(name, value, more)| {
        tag("div").add(tag("dt").say(name)).add(tag("dd").say(value).add(tag("small").say(more)))
    });
    section("figures", "Key figures").add(tag("dl").class("figures").all(list))
}
