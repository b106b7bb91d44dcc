//! Times of a log as milliseconds from its first line, which never go back.

/// Milliseconds that a line may be older than the one before: threads write in another order than they took the time.
const DISORDER_MS: i64 = 1_000;

/// Clock of a log.
#[derive(Debug, Default)]
pub struct Clock {
    /// Time of the newest line, in the log's time.
    newest: Option<i64>,
    /// The same, from the first line on.
    at_ms: u64,
    /// Times that went back by more than a disorder: a clock that was set, or winter time.
    pub set_back: u64,
}

impl Clock {
    /// Returns the milliseconds from the first line to a time. A clock that was set back goes on from there.
    pub fn at(&mut self, time_ms: i64) -> u64 {
        let newest = *self.newest.get_or_insert(time_ms);
        if time_ms > newest {
            self.at_ms += time_ms.abs_diff(newest);
            self.newest = Some(time_ms);
        } else if newest - time_ms > DISORDER_MS {
            self.set_back += 1;
            self.newest = Some(time_ms);
        }
        self.at_ms
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn never_goes_back() {
        let check = |times: &[i64], expect: &[u64], set_back: u64| {
            let mut clock = Clock::default();
            assert_eq!(times.iter().map(|time| clock.at(*time)).collect::<Vec<_>>(), expect);
            assert_eq!(clock.set_back, set_back);
        };
        check(&[500, 500, 700], &[0, 0, 200], 0);
        // A disorder adds nothing to the later times.
        check(&[100, 98, 99, 100, 110], &[0, 0, 0, 0, 10], 0);
        // An hour back: the time goes on from there.
        check(&[3_600_000, 3_600_010, 10, 20, 3_600_010], &[0, 10, 10, 20, 3_600_010], 1);
    }
}
