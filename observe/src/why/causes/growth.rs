//! Growth during some seconds is a fact, not a cause: caches fill, pools open connections. So it stands beside the
//! answer, with the time until its limit. It is a cause when the limit is reached.

use crate::why::causes::finding::{Finding, percent};
use crate::why::facts::{Facts, Growth};

type Rule = fn(&Facts) -> Option<Finding>;
pub const RULES: [Rule; 1] = [at_limit];

/// Returns the sentences about growth that stand beside the answer.
pub fn growth_notes(facts: &Facts) -> Vec<String> {
    facts.growth.iter().filter(|growth| !growth.is_at_limit()).map(Growth::sentence).collect()
}

fn at_limit(facts: &Facts) -> Option<Finding> {
    let growth =
        facts.growth.iter().filter(|growth| growth.is_at_limit()).max_by(|a, b| a.used().total_cmp(&b.used()))?;
    Some(Finding {
        cause: growth.counted.cause(),
        cost: growth.used().min(1.0),
        sentence: growth.sentence(),
        evidence: vec![format!("{} of the limit used", percent(growth.used()))],
        cure: "find what opens them and does not close them; a higher limit buys time".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::why::facts::Counted;

    #[test]
    fn a_limit_makes_it_a_cause() {
        let of = |limit| {
            let samples: Vec<(f64, f64)> = (0..7).map(|i| (f64::from(i) * 0.5, 940.0 + 10.0 * f64::from(i))).collect();
            let growth = Growth::of(Counted::Descriptors, &samples, Some(limit)).unwrap();
            let facts = Facts { growth: vec![growth], ..Facts::default() };
            (at_limit(&facts).map(|found| found.cause), growth_notes(&facts))
        };
        assert_eq!(of(1024.0).0, Some("leak-of-descriptors"));
        let (cause, beside) = of(3000.0);
        assert_eq!(cause, None);
        assert!(
            beside[0].ends_with("20.0 per second; at this rate the limit of 3000 is reached in 100 s."),
            "{beside:?}"
        );
    }
}
