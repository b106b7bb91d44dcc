//! When operations are due.

/// How load is made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pace {
    /// Each connection asks again as soon as it has its answer.
    Closed,
    /// So many operations a second come, whether the server keeps up or not. How long one took is counted from when it came, so that a server
    /// that stands still is seen as one (no coordinated omission).
    Open(f64),
}

/// Arrivals at a rate, by chance: the time between two is exponentially distributed (a Poisson process), as of many clients that know nothing
/// of each other.
pub struct Arrivals {
    next_ns: f64,
    mean_ns: f64,
}

impl Arrivals {
    pub fn new(per_second: f64, from_ns: u64) -> Arrivals {
        Arrivals { next_ns: from_ns as f64, mean_ns: 1e9 / per_second }
    }

    pub fn next_ns(&self) -> u64 {
        self.next_ns as u64
    }

    /// The moment of one that has come by now.
    pub fn take(&mut self, now_ns: u64, rng: &mut fastrand::Rng) -> Option<u64> {
        let due = self.next_ns as u64;
        if due > now_ns {
            return None;
        }
        // 1 - f64() is in (0, 1].
        self.next_ns += -(1.0 - rng.f64()).ln() * self.mean_ns;
        Some(due)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_as_asked_for() {
        let (mut rng, mut arrivals) = (fastrand::Rng::with_seed(1), Arrivals::new(1000.0, 0));
        let mut dues = Vec::new();
        while let Some(due) = arrivals.take(10_000_000_000, &mut rng) {
            dues.push(due);
        }
        // Ten thousand, and its square root is a hundred.
        assert!((9_600..10_400).contains(&dues.len()), "{}", dues.len());
        assert!(dues.is_sorted() && arrivals.next_ns() > 10_000_000_000);
    }
}
