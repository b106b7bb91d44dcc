//! `yunti observe changes`: which functions of recorded services cost more than before, and how sure that is.

mod heat;
mod periods;
mod report;

use clap::Args;
use jiff::Zoned;
use serde_json::{Value, json};
use yunti_base::{Code, Error, Result};
use yunti_program::failure::{Failure, Outcome};
use yunti_record::{Changes, Entry, Measure, Query, Question, Windows};

use self::heat::Heat;
use self::periods::Periods;
use crate::history::{self, Source};
use crate::jvm::Event;
use yunti_probe::answer::Answer;
use yunti_probe::options::AnswerFlags;
use yunti_probe::stopping::End;

/// Show which functions of recorded services cost more than before, by how much a request, and since when
///
/// Compares slices of two periods block by block. What chance or a slower machine explains is left out.
#[derive(Debug, Args)]
pub struct ChangesFlags {
    /// Service in the store; without one, all
    #[arg(value_name = "SERVICE")]
    service: Option<String>,
    /// Compare what is recorded since this time or release with what was before: yesterday, -2h, v812
    #[arg(long, value_name = "WHEN|LABEL", allow_hyphen_values = true, required_unless_present = "between")]
    since: Option<String>,
    /// Compare two times or releases: "yesterday 03:00..04:00" "03:00..04:00", v811 v812
    #[arg(long, num_args = 2, value_names = ["BEFORE", "AFTER"], allow_hyphen_values = true, conflicts_with = "since")]
    between: Vec<String>,
    /// Cost to compare
    #[arg(short, long, value_enum, default_value = "cpu")]
    event: Event,
    /// Folder of the slices, or ssh://host/path
    #[arg(long, value_name = "STORE")]
    store: Option<String>,
    /// Leave out changes of less than PERCENT of a function's cost
    #[arg(long, value_name = "PERCENT", default_value = "2", value_parser = least)]
    least: f64,
    /// End with 9 if a function costs more
    #[arg(long)]
    fail: bool,
    #[command(flatten)]
    pub answer: AnswerFlags,
}

fn least(text: &str) -> std::result::Result<f64, String> {
    match text.parse::<f64>() {
        Ok(percent) if (0.1..=1000.0).contains(&percent) => Ok(percent),
        _ => Err(format!("'{text}' is no percentage from 0.1 to 1000")),
    }
}

/// Changes of one service.
struct Compared {
    service: String,
    periods: Periods,
    changes: Changes,
}

pub fn changes(flags: &ChangesFlags) -> Outcome {
    let now = Zoned::now();
    let source = Source::open(flags.store.as_deref(), &Query::default())?;
    let all = source.list(&Query::default())?;
    let services = match (&flags.service, all.is_empty()) {
        (Some(_), _) | (None, true) => vec![history::choose(&all, flags.service.as_deref())?],
        (None, false) => names(&all),
    };
    let measure = Measure::from_name(flags.event.name()).unwrap_or(Measure::Cpu);
    let subject = if let [one] = &services[..] { one.clone() } else { format!("{} services", services.len()) };
    let mut answer = Answer::of_service("changes", subject);
    let mut heat = flags.answer.output.is_some().then(|| Heat::new(measure));
    let (mut compared, mut missing) = (Vec::new(), None);
    for service in &services {
        let entries: Vec<Entry> = all.iter().filter(|entry| entry.service == *service).cloned().collect();
        match compare(flags, &source, service, &entries, measure, &now, &mut answer.skips, heat.as_mut()) {
            Ok(one) => compared.push(one),
            // Of many services, some may be new.
            Err(e) if services.len() > 1 && e.code() == Code::Input => {
                answer.skips.push(format!("{service}: {e}"));
                missing.get_or_insert(e);
            }
            Err(e) => return Err(e.into()),
        }
        if let (Some(heat), Some(one)) = (&mut heat, compared.last()) {
            answer.heatmaps.extend(heat.take(service, &one.changes, &now));
        }
    }
    if let (true, Some(e)) = (compared.is_empty(), missing) {
        return Err(e.into());
    }
    let mut grown = 0;
    for one in &compared {
        grown += report::fill(one, measure, &now, compared.len() > 1, &mut answer);
    }
    answer.lead = report::lead(&compared, measure);
    let document: Vec<Value> = compared.iter().map(|one| report::to_json(one, measure)).collect();
    answer.give(&flags.answer, End::Enough, json!({ "event": measure.name(), "services": document }))?;
    if flags.fail && grown > 0 { Err(Failure::Reported(Code::Invalid)) } else { Ok(()) }
}

#[expect(clippy::too_many_arguments, reason = "one call, of parts that have nothing in common")]
fn compare(
    flags: &ChangesFlags,
    source: &Source,
    service: &str,
    entries: &[Entry],
    measure: Measure,
    now: &Zoned,
    skips: &mut Vec<String>,
    mut heat: Option<&mut Heat>,
) -> Result<Compared> {
    let periods = match (&flags.since, &flags.between[..]) {
        (Some(since), _) => Periods::since(since, source, entries, now)?,
        (None, [before, after]) => Periods::between(before, after, source, entries, now)?,
        (None, _) => return Err(Error::new(Code::Usage, "give --since or --between")),
    };
    let used: Vec<Entry> = entries
        .iter()
        .filter(|entry| periods.before.has(entry.begin_ms) || periods.after.has(entry.begin_ms))
        .cloned()
        .collect();
    for (period, name) in [(periods.before, "before"), (periods.after, "after")] {
        if !used.iter().any(|entry| period.has(entry.begin_ms)) {
            let what = format!("{service} has no slice in the time {name}, {}", periods.text(period, now));
            return Err(Error::new(Code::Input, what).hint("`yunti observe record status` shows what the store has"));
        }
    }
    let mut question = Question::new(measure, periods.before, periods.after);
    question.relative_min = flags.least / 100.0;
    let mut windows = Windows::new(&question);
    history::take(source, &used, skips, |slice| {
        windows.add(&slice);
        if let Some(heat) = &mut heat {
            heat.add(&slice);
        }
    })?;
    Ok(Compared { service: service.to_owned(), periods, changes: windows.changes() })
}

fn names(entries: &[Entry]) -> Vec<String> {
    let mut names: Vec<String> = entries.iter().map(|entry| entry.service.clone()).collect();
    names.sort_unstable();
    names.dedup();
    names
}
