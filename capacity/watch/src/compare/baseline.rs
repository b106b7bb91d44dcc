//! Baseline: the earlier days that a measurement is compared with.
//!
//! Without a choice of the user these are the last days of the present level. A change of level that lasted less than
//! some days is not yet the present level, so a regression stays a finding until it is fixed or five days old.

use super::day::Day;
use super::levels::levels;
use super::service::DAYS_MIN;

/// Days that are searched for a change of level.
const SEARCHED: usize = 60;
/// Days to compare with at most.
const DAYS_MAX: usize = 28;
/// Days after a change from which on they are the new level.
const SETTLED: usize = 5;

/// Choice of the days to compare with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Against {
    /// Last days of the present level.
    #[default]
    History,
    /// All earlier measurements of this release.
    Label(String),
    /// Measurements of a time: first and last millisecond.
    Time(u64, u64),
}

/// Returns the days before `today` that statistics can compare, oldest first.
pub fn searched<'a>(history: &'a [Day], today: &Day) -> Vec<&'a Day> {
    history.iter().filter(|day| day.sequence < today.sequence && day.is_usable()).collect()
}

/// Returns the days to compare with, among the ones that are searched, oldest first.
pub fn baseline<'a>(searched: &[&'a Day], today: &Day, against: &Against) -> Vec<&'a Day> {
    let before = searched.iter().copied();
    match against {
        Against::Label(label) => last(before.filter(|day| day.label == *label).collect(), DAYS_MAX),
        Against::Time(from, to) => last(before.filter(|day| (*from..=*to).contains(&day.time_ms)).collect(), DAYS_MAX),
        Against::History => {
            let days = last(before.collect(), SEARCHED);
            last(without_fresh(present_level(days), today), DAYS_MAX)
        }
    }
}

/// Returns the days without the last ones of today's process, if that is a few days old and its release is new or
/// unknown: a regression would explain itself by its first day.
fn without_fresh<'a>(mut days: Vec<&'a Day>, today: &Day) -> Vec<&'a Day> {
    let fresh = days.iter().rev().take_while(|day| day.is_of_process(today)).count();
    let Some(older) = days.len().checked_sub(fresh + 1) else { return days };
    let is_same_release = !today.label.is_empty() && days[older].label == today.label;
    if fresh < SETTLED && older + 1 >= DAYS_MIN && !is_same_release {
        days.truncate(older + 1);
    }
    days
}

fn last<T>(mut days: Vec<T>, count: usize) -> Vec<T> {
    let from = days.len().saturating_sub(count);
    days.split_off(from)
}

/// Returns the days of the last level that lasted long enough.
fn present_level(days: Vec<&Day>) -> Vec<&Day> {
    let costs: Vec<f64> = days.iter().filter_map(|day| day.cpu_ms.map(f64::ln)).collect();
    if costs.len() < days.len() {
        return days;
    }
    let mut end = days.len();
    for point in levels(&costs).into_iter().rev() {
        if end - point >= SETTLED {
            return days[point..end].to_vec();
        }
        end = point;
    }
    days[..end].to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn history(costs: &[f64]) -> Vec<Day> {
        let day = |(at, cost): (usize, &f64)| Day {
            sequence: at as u64 + 1,
            time_ms: at as u64 * 1000,
            label: if at < 10 { "v1".into() } else { "v2".into() },
            cpu_ms: Some(*cost + 0.001 * (at % 3) as f64),
            ..Day::default()
        };
        costs.iter().enumerate().map(day).collect()
    }

    fn chosen(costs: &[f64], against: &Against) -> (u64, u64) {
        let history = history(costs);
        let today = history.last().unwrap();
        let days = baseline(&searched(&history, today), today, against);
        (days.first().map_or(0, |day| day.sequence), days.last().map_or(0, |day| day.sequence))
    }

    #[test]
    fn a_new_level_counts_once_it_is_settled() {
        let levels = |before: usize, after: usize| [vec![4.0; before], vec![4.4; after]].concat();
        assert_eq!(chosen(&levels(15, 0), &Against::History), (1, 14));
        assert_eq!(chosen(&levels(14, 1), &Against::History), (1, 14));
        assert_eq!(chosen(&levels(14, 5), &Against::History), (1, 14));
        assert_eq!(chosen(&levels(14, 7), &Against::History), (15, 20));
        assert_eq!(chosen(&levels(50, 0), &Against::History), (22, 49));
    }

    #[test]
    fn a_fresh_release_is_not_compared_with_itself() {
        let mut history = history(&[4.0; 16]);
        for (at, day) in history.iter_mut().enumerate() {
            day.process = Some(if at < 12 { (7, 1_000_000) } else { (9, 900_000_000) });
            day.label = if at < 12 { "v1".into() } else { "v2".into() };
        }
        let last = |history: &[Day]| {
            let today = history.last().unwrap();
            baseline(&searched(history, today), today, &Against::History).last().map(|day| day.sequence)
        };
        assert_eq!(last(&history), Some(12));
        history.iter_mut().for_each(|day| day.label = "v1".into());
        assert_eq!(last(&history), Some(15), "a restart of the same release");
    }

    #[test]
    fn the_user_chooses() {
        assert_eq!(chosen(&[4.0; 15], &Against::Label("v1".into())), (1, 10));
        assert_eq!(chosen(&[4.0; 15], &Against::Label("v9".into())), (0, 0));
        assert_eq!(chosen(&[4.0; 15], &Against::Time(3000, 5000)), (4, 6));
    }
}
