//! Baseline: the earlier days that a measurement is compared with.
//!
//! Without a choice of the user these are the last days of the present level. A change of level that lasted less than
//! some days is not yet the present level, so a regression stays a finding until it is fixed or five days old.

use super::day::Day;
use super::levels::levels;

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

/// Returns the days before `today` to compare with, oldest first.
pub fn baseline<'a>(history: &'a [Day], today: &Day, against: &Against) -> Vec<&'a Day> {
    let before = history.iter().filter(|day| day.sequence < today.sequence && day.is_usable());
    match against {
        Against::Label(label) => last(before.filter(|day| day.label == *label).collect(), DAYS_MAX),
        Against::Time(from, to) => last(before.filter(|day| (*from..=*to).contains(&day.time_ms)).collect(), DAYS_MAX),
        Against::History => {
            let days = last(before.collect(), SEARCHED);
            last(present_level(days), DAYS_MAX)
        }
    }
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
        let days = baseline(&history, history.last().unwrap(), against);
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
    fn the_user_chooses() {
        assert_eq!(chosen(&[4.0; 15], &Against::Label("v1".into())), (1, 10));
        assert_eq!(chosen(&[4.0; 15], &Against::Label("v9".into())), (0, 0));
        assert_eq!(chosen(&[4.0; 15], &Against::Time(3000, 5000)), (4, 6));
    }
}
