//! Rank test of two groups within strata: the aligned rank test of Hodges and Lehmann (1962).
//!
//! Values of a stratum (an hour of the day) are taken from their mean, then all are ranked together. With one stratum
//! it is the test of Mann and Whitney. The probability is for shuffling the groups within each stratum: exact for
//! few values, else by the normal distribution. Ties share their mean rank.

use super::distribution::normal_tail;

/// Values up to which the probability is exact.
const EXACT_MAX: usize = 60;

/// Stratum: values of two groups that may be exchanged if nothing changed.
#[derive(Clone, Debug, Default)]
pub struct Stratum {
    /// Values before.
    pub before: Vec<f64>,
    /// Values after.
    pub after: Vec<f64>,
}

/// Probabilities of ranks this extreme if nothing changed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tails {
    /// Values after are this high, or higher.
    pub greater: f64,
    /// Values after are this low, or lower.
    pub less: f64,
}

/// Returns how likely the ranks of the values after are by chance.
pub fn test(strata: &[Stratum]) -> Tails {
    let strata: Vec<&Stratum> = strata.iter().filter(|s| !s.before.is_empty() && !s.after.is_empty()).collect();
    let mut aligned: Vec<(f64, usize, bool)> = Vec::new();
    for (at, stratum) in strata.iter().enumerate() {
        let all = stratum.before.iter().chain(&stratum.after);
        let mean = all.clone().sum::<f64>() / (stratum.before.len() + stratum.after.len()) as f64;
        let is_after = (0..).map(|n| n >= stratum.before.len());
        aligned.extend(all.zip(is_after).map(|(value, is_after)| (value - mean, at, is_after)));
    }
    aligned.sort_by(|a, b| a.0.total_cmp(&b.0));
    let ranks = double_ranks(&aligned);
    let sum: usize = ranks.iter().zip(&aligned).filter(|(_, value)| value.2).map(|(rank, _)| rank).sum();
    let mut by_stratum: Vec<(Vec<usize>, usize)> = vec![(Vec::new(), 0); strata.len()];
    for (rank, (_, at, is_after)) in ranks.iter().zip(&aligned) {
        by_stratum[*at].0.push(*rank);
        by_stratum[*at].1 += usize::from(*is_after);
    }
    if aligned.len() <= EXACT_MAX { exact(&by_stratum, sum) } else { approximate(&by_stratum, sum) }
}

/// Twice the mean rank of each value, a whole number. Differences of rounding are ties.
fn double_ranks(sorted: &[(f64, usize, bool)]) -> Vec<usize> {
    let mut ranks = vec![0; sorted.len()];
    let mut begin = 0;
    while begin < sorted.len() {
        let mut end = begin + 1;
        while end < sorted.len() && sorted[end].0 - sorted[begin].0 <= 1e-12 * sorted[begin].0.abs() {
            end += 1;
        }
        ranks[begin..end].fill(begin + 1 + end);
        begin = end;
    }
    ranks
}

/// Counts the shuffles by their sum of ranks: stratum by stratum, value by value.
fn exact(strata: &[(Vec<usize>, usize)], sum: usize) -> Tails {
    let mut whole = vec![1.0];
    for (ranks, after) in strata {
        let most: usize = ranks.iter().sum();
        // Ways to choose a number of values with a sum of ranks.
        let mut ways = vec![vec![0.0; most + 1]; after + 1];
        ways[0][0] = 1.0;
        for rank in ranks {
            for chosen in (1..=*after).rev() {
                let (fewer, more) = ways.split_at_mut(chosen);
                for total in *rank..=most {
                    more[0][total] += fewer[chosen - 1][total - rank];
                }
            }
        }
        let all: f64 = ways[*after].iter().sum();
        let mut next = vec![0.0; whole.len() + most];
        for (total, ways) in ways[*after].iter().enumerate().filter(|(_, ways)| **ways > 0.0) {
            let share = ways / all;
            whole.iter().enumerate().for_each(|(before, part)| next[before + total] += part * share);
        }
        whole = next;
    }
    let less: f64 = whole[..=sum].iter().sum();
    let greater: f64 = whole[sum..].iter().sum();
    Tails { greater: greater.min(1.0), less: less.min(1.0) }
}

fn approximate(strata: &[(Vec<usize>, usize)], sum: usize) -> Tails {
    let (mut mean, mut variance) = (0.0, 0.0);
    for (ranks, after) in strata {
        let (count, after) = (ranks.len() as f64, *after as f64);
        let center = ranks.iter().sum::<usize>() as f64 / count;
        let squares: f64 = ranks.iter().map(|rank| (*rank as f64 - center).powi(2)).sum();
        mean += after * center;
        variance += after * (count - after) / (count * (count - 1.0)) * squares;
    }
    if variance <= 0.0 {
        return Tails { greater: 1.0, less: 1.0 };
    }
    // Sums are even numbers of half ranks: one step is the correction for continuity.
    let z = |distance: f64| normal_tail((distance - 1.0) / variance.sqrt());
    Tails { greater: z(sum as f64 - mean), less: z(mean - sum as f64) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(before: &[f64], after: &[f64]) -> Tails {
        test(&[Stratum { before: before.into(), after: after.into() }])
    }

    /// Printed tables of Mann and Whitney.
    #[test]
    fn one_stratum_is_mann_whitney() {
        let low = [1.0, 2.0, 3.0, 4.0, 5.0];
        assert!((one(&low, &[6.0, 7.0, 8.0]).greater - 1.0 / 56.0).abs() < 1e-12);
        assert!((one(&[6.0, 7.0, 8.0], &low).less - 1.0 / 56.0).abs() < 1e-12);
        // One pair of 12 is in the wrong order: two of 35 shuffles are as extreme.
        assert!((one(&[1.0, 3.0, 5.0], &[4.0, 6.0, 7.0, 8.0]).greater - 2.0 / 35.0).abs() < 1e-12);
        assert_eq!(one(&[1.0, 1.0], &[1.0, 1.0]), Tails { greater: 1.0, less: 1.0 });
        assert_eq!(one(&[], &[1.0]), Tails { greater: 1.0, less: 1.0 });
    }

    #[test]
    fn the_approximation_is_near_the_exact_probability() {
        let before: Vec<f64> = (0..30).map(f64::from).collect();
        let after: Vec<f64> = (0..29).map(|n| f64::from(n) + 7.5).collect();
        let more = |extra: &[f64]| one(&before, &[&after[..], extra].concat()).greater;
        let (exact, approximate) = (more(&[21.5]), more(&[21.4, 21.6]));
        assert!(exact < 0.01 && (exact / approximate).ln().abs() < 0.5, "{exact} {approximate}");
    }

    #[test]
    fn strata_hide_the_hour() {
        let strata: Vec<Stratum> = (0..24)
            .map(|hour| {
                let level = 100.0 * f64::from(hour % 12);
                Stratum { before: vec![level, level + 2.0], after: vec![level + 3.0 + f64::from(hour) / 100.0] }
            })
            .collect();
        assert!(test(&strata).greater < 1e-6);
        let pooled = Stratum {
            before: strata.iter().flat_map(|s| s.before.clone()).collect(),
            after: strata.iter().flat_map(|s| s.after.clone()).collect(),
        };
        assert!(test(&[pooled]).greater > 0.05);
    }
}
