//! Pace: nominal time, in which requests arrive at the full rate, mapped to real time.
//!
//! ```text
//!   nominal ns   0 ........ ramp/2 ................ v ................
//!   real ns      0 . . . . .  ramp ................ t . . . . . . . . .
//!                rate grows        full rate          rate x factor (after a slow-down at t)
//! ```

/// Map from nominal to real nanoseconds, both since the start of a run.
#[derive(Clone, Debug)]
pub struct Pace {
    ramp_ns: f64,
    /// Real and nominal time of the last slow-down.
    since: (f64, f64),
    factor: f64,
}

impl Pace {
    /// Returns a pace that grows from nothing to the full rate within the ramp.
    pub fn new(ramp_ns: u64) -> Pace {
        Pace { ramp_ns: ramp_ns as f64, since: (0.0, 0.0), factor: 1.0 }
    }

    /// Returns the real time of a nominal time.
    pub fn real_ns(&self, nominal_ns: f64) -> f64 {
        if self.factor < 1.0 {
            return self.since.0 + (nominal_ns - self.since.1) / self.factor;
        }
        // The rate grows in a straight line, so the number of requests grows with the square of time.
        match nominal_ns < self.ramp_ns / 2.0 {
            true => (2.0 * self.ramp_ns * nominal_ns).sqrt(),
            false => nominal_ns + self.ramp_ns / 2.0,
        }
    }

    /// Returns the nominal time of a real time.
    pub fn nominal_ns(&self, real_ns: f64) -> f64 {
        if self.factor < 1.0 {
            return self.since.1 + (real_ns - self.since.0) * self.factor;
        }
        match real_ns < self.ramp_ns {
            true => real_ns * real_ns / (2.0 * self.ramp_ns),
            false => real_ns - self.ramp_ns / 2.0,
        }
    }

    /// Slows down from this real time on.
    ///
    /// @param factor share of the present rate, above 0 and below 1
    pub fn slow(&mut self, real_ns: f64, factor: f64) {
        let share = if self.factor < 1.0 { self.factor } else { (real_ns / self.ramp_ns.max(1.0)).clamp(0.01, 1.0) };
        self.since = (real_ns, self.nominal_ns(real_ns));
        self.factor = share * factor;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ramps_and_slows_down() {
        let mut pace = Pace::new(2_000);
        for (nominal, real) in [(0.0, 0.0), (250.0, 1_000.0), (1_000.0, 2_000.0), (5_000.0, 6_000.0)] {
            assert_eq!((pace.real_ns(nominal), pace.nominal_ns(real)), (real, nominal));
        }
        pace.slow(6_000.0, 0.5);
        assert_eq!((pace.real_ns(5_000.0), pace.real_ns(5_100.0)), (6_000.0, 6_200.0));
        pace.slow(6_200.0, 0.5);
        assert_eq!((pace.real_ns(5_200.0), pace.nominal_ns(6_600.0)), (6_600.0, 5_200.0));
        assert_eq!(Pace::new(0).real_ns(7.0), 7.0);
    }

    #[test]
    fn slows_down_within_the_ramp() {
        let mut pace = Pace::new(2_000);
        pace.slow(1_000.0, 0.5);
        // Half the rate was reached, a quarter remains.
        assert_eq!(pace.real_ns(350.0), 1_400.0);
    }
}
