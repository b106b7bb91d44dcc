//! Schedule of operations: closed loop or open loop.

/// Pace of a load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pace {
    /// Closed loop: each connection sends its next call after the response to the last.
    Closed,
    /// Open loop: this many operations a second arrive, whether the server keeps up or not. Latency counts from the
    /// arrival, so that a stall of the server shows in the percentiles (no coordinated omission).
    Open(f64),
}

/// Random arrivals at a rate: the time between two is exponentially distributed (a Poisson process), as for many
/// independent clients.
pub struct Arrivals {
    next_ns: f64,
    mean_ns: f64,
}

impl Arrivals {
    /// Returns arrivals from this moment on.
    pub fn new(per_second: f64, from_ns: u64) -> Arrivals {
        Arrivals { next_ns: from_ns as f64, mean_ns: 1e9 / per_second }
    }

    /// Returns the next arrival.
    pub fn next_ns(&self) -> u64 {
        self.next_ns as u64
    }

    /// Returns an arrival up to now, and draws the next one; None without one.
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
    fn arrivals_have_the_rate() {
        let (mut rng, mut arrivals) = (fastrand::Rng::with_seed(1), Arrivals::new(1000.0, 0));
        let mut dues = Vec::new();
        while let Some(due) = arrivals.take(10_000_000_000, &mut rng) {
            dues.push(due);
        }
        // Expected: ten thousand, with a standard deviation of a hundred.
        assert!((9_600..10_400).contains(&dues.len()), "{}", dues.len());
        assert!(dues.is_sorted() && arrivals.next_ns() > 10_000_000_000);
    }
}
