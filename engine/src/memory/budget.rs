//! The memory budget: bytes that every large allocation takes first.
//!
//! Counted: pool blocks, read and write buffers, hash tables, decoders, merge buffers. Code, stacks, task lists and
//! counters are not counted; they fit in the 64 MiB that the promise adds to the budget.
//!
//! `set_target` reduces a budget while a job runs: its users then spill earlier and return memory, each
//! in proportion. The limit itself stays, so nothing that was granted fails.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use yunti_base::{Code, Error, Result};

/// A limit in bytes, and the bytes in use. Threads share it.
pub struct Budget {
    limit_bytes: u64,
    /// Bytes that users should keep to, at most the limit.
    target_bytes: AtomicU64,
    used_bytes: AtomicU64,
    peak_bytes: AtomicU64,
    /// Peak since the last call of `take_recent_peak`.
    recent_bytes: AtomicU64,
    /// Budget from which all bytes of this one are taken too.
    parent: Option<Arc<Budget>>,
}

impl Budget {
    /// Returns a budget of `limit_bytes`, all free.
    pub fn new(limit_bytes: u64) -> Arc<Self> {
        Arc::new(Budget::with(limit_bytes, None))
    }

    /// Returns a part of this budget with its own limit, so that one user of memory leaves the rest to the others.
    pub fn part(self: &Arc<Self>, limit_bytes: u64) -> Arc<Self> {
        Arc::new(Budget::with(limit_bytes, Some(self.clone())))
    }

    fn with(limit_bytes: u64, parent: Option<Arc<Budget>>) -> Budget {
        let zero = || AtomicU64::new(0);
        Budget {
            limit_bytes,
            target_bytes: AtomicU64::new(limit_bytes),
            used_bytes: zero(),
            peak_bytes: zero(),
            recent_bytes: zero(),
            parent,
        }
    }

    /// Returns the limit in bytes.
    pub fn limit_bytes(&self) -> u64 {
        self.limit_bytes
    }
    /// Returns the bytes in use.
    pub fn used_bytes(&self) -> u64 {
        self.used_bytes.load(Ordering::Relaxed)
    }
    /// Returns the most bytes in use so far.
    pub fn peak_bytes(&self) -> u64 {
        self.peak_bytes.load(Ordering::Relaxed)
    }
    /// Returns the most bytes in use since the last call, or since the budget was made.
    pub fn take_recent_peak(&self) -> u64 {
        let used = self.used_bytes();
        self.recent_bytes.swap(used, Ordering::Relaxed).max(used)
    }
    /// Returns the bytes that are free under this limit.
    pub fn free_bytes(&self) -> u64 {
        self.limit_bytes.saturating_sub(self.used_bytes())
    }

    /// Sets the bytes that the users of this budget should keep to, together; the limit or more: all of it.
    pub fn set_target(&self, bytes: u64) {
        self.target_bytes.store(bytes.min(self.limit_bytes), Ordering::Relaxed);
    }

    /// Returns the bytes that users should keep to, together.
    pub fn target_bytes(&self) -> u64 {
        match &self.parent {
            Some(parent) => parent.allowed(self.limit_bytes),
            None => self.target_bytes.load(Ordering::Relaxed),
        }
    }

    /// Returns true if users should keep to less than the limit.
    pub fn is_reduced(&self) -> bool {
        self.target_bytes() < self.limit_bytes
    }

    /// Returns the share of `amount` that a user should keep to.
    pub fn allowed(&self, amount: u64) -> u64 {
        let (target, limit) = (self.target_bytes(), self.limit_bytes);
        if target >= limit { amount } else { (u128::from(amount) * u128::from(target) / u128::from(limit)) as u64 }
    }

    /// Takes `bytes` if they are free, here and in all parents; returns false otherwise. Return them exactly once with
    /// `give`.
    pub fn try_take(&self, bytes: u64) -> bool {
        let limit = self.limit_bytes;
        let taken = self
            .used_bytes
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |used| used.checked_add(bytes).filter(|&n| n <= limit));
        match taken {
            Ok(_) if self.parent.as_ref().is_some_and(|p| !p.try_take(bytes)) => {
                self.used_bytes.fetch_sub(bytes, Ordering::Relaxed);
                false
            }
            Ok(before) => {
                self.peak_bytes.fetch_max(before + bytes, Ordering::Relaxed);
                self.recent_bytes.fetch_max(before + bytes, Ordering::Relaxed);
                true
            }
            Err(_) => false,
        }
    }

    /// Returns bytes that `try_take` took.
    pub fn give(&self, bytes: u64) {
        let before = self.used_bytes.fetch_sub(bytes, Ordering::Relaxed);
        debug_assert!(before >= bytes, "more memory given back than was taken");
        if let Some(parent) = &self.parent {
            parent.give(bytes);
        }
    }

    /// Takes `bytes` until the grant is dropped; None if they are not free.
    pub fn try_grant(self: &Arc<Self>, bytes: u64) -> Option<Grant> {
        self.try_take(bytes).then(|| Grant { budget: self.clone(), bytes })
    }

    /// Adds `bytes` to a grant, which begins with them if there is none. Returns false, without a change, if they are
    /// not free.
    pub fn try_add(self: &Arc<Self>, grant: &mut Option<Grant>, bytes: u64) -> bool {
        match grant {
            Some(grant) => grant.try_resize(grant.bytes + bytes),
            none => {
                *none = self.try_grant(bytes);
                none.is_some()
            }
        }
    }

    /// Takes `bytes` until the grant is dropped. Fails with `Code::Memory` and the purpose if they are not free.
    pub fn grant(self: &Arc<Self>, bytes: u64, purpose: &str) -> Result<Grant> {
        self.try_grant(bytes).ok_or_else(|| self.too_small(bytes, purpose))
    }

    /// Returns the error for `bytes` that are not free: the purpose, and the smallest `--memory` that suffices.
    pub fn too_small(&self, bytes: u64, purpose: &str) -> Error {
        let (limit, least) = self.least(bytes);
        Error::new(
            Code::Memory,
            format!("the memory budget of {} is too small: {purpose} needs {} more", size(limit), size(bytes)),
        )
        .hint(format!("give at least --memory {}", size_up(least)))
    }

    /// Returns the limit of the whole budget, and the smallest limit with which `bytes` more would be free. A part
    /// grows in proportion to the whole.
    fn least(&self, bytes: u64) -> (u64, u64) {
        let own = self.used_bytes().saturating_add(bytes).max(self.limit_bytes.saturating_add(1));
        let Some(parent) = &self.parent else { return (self.limit_bytes, own) };
        let (limit, least) = parent.least(bytes);
        let scaled = limit as f64 * own as f64 / self.limit_bytes.max(1) as f64;
        (limit, least.max(scaled as u64))
    }
}

/// Bytes taken from a budget and returned on drop.
pub struct Grant {
    budget: Arc<Budget>,
    bytes: u64,
}

impl Grant {
    /// Returns the size in bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Grows the grant to `bytes`, or leaves it if it is larger. Fails with `Code::Memory` and the purpose, without a
    /// change, if the budget has too little.
    pub fn grow(&mut self, bytes: u64, purpose: &str) -> Result<()> {
        let more = bytes.saturating_sub(self.bytes);
        if self.try_resize(self.bytes + more) { Ok(()) } else { Err(self.budget.too_small(more, purpose)) }
    }

    /// Grows or shrinks the grant to `bytes`. Returns false, without a change, if the budget has too little.
    pub fn try_resize(&mut self, bytes: u64) -> bool {
        if bytes > self.bytes {
            if !self.budget.try_take(bytes - self.bytes) {
                return false;
            }
        } else {
            self.budget.give(self.bytes - bytes);
        }
        self.bytes = bytes;
        true
    }
}

impl Drop for Grant {
    fn drop(&mut self) {
        self.budget.give(self.bytes);
    }
}

/// Returns a size as text in binary units, such as `1.5 MiB`.
pub fn size(bytes: u64) -> String {
    match bytes {
        0..=1023 => format!("{bytes} B"),
        1024..=1_048_575 => format!("{:.1} KiB", bytes as f64 / 1024.0),
        1_048_576..=1_073_741_823 => format!("{:.1} MiB", bytes as f64 / 1_048_576.0),
        _ => format!("{:.1} GiB", bytes as f64 / 1_073_741_824.0),
    }
    .replace(".0 ", " ")
}

/// Returns the number of MiB, rounded up, as an option's value.
fn size_up(bytes: u64) -> String {
    format!("{}MiB", bytes.div_ceil(1 << 20))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn never_exceeds_the_limit() {
        let budget = Budget::new(100);
        let mut a = budget.try_grant(60).unwrap();
        assert!(budget.try_grant(41).is_none());
        assert!(a.try_resize(100) && !a.try_resize(101));
        let mut part = budget.part(10);
        assert!(!part.try_take(1), "the parent has nothing left");
        drop(a);
        part = budget.part(10);
        assert_eq!((budget.allowed(7), part.is_reduced()), (7, false));
        budget.set_target(40);
        assert_eq!((budget.target_bytes(), part.target_bytes(), part.allowed(100)), (40, 4, 40));
        assert!(part.is_reduced() && budget.limit_bytes() == 100);
        budget.set_target(u64::MAX);
        assert!(!part.is_reduced());
        assert!(part.try_take(10) && !part.try_take(1));
        part.give(10);
        assert_eq!((budget.used_bytes(), budget.peak_bytes()), (0, 100));
        assert_eq!((budget.take_recent_peak(), budget.take_recent_peak()), (100, 0));
        let message = |budget: &Arc<Budget>| budget.grant(80 << 20, "a test").err().unwrap().to_string();
        assert!(message(&budget).ends_with("a test needs 80 MiB more: give at least --memory 80MiB"));
        // A user sets only the whole budget: the message scales a part that is too small to the whole.
        let whole = Budget::new(100 << 20);
        assert!(message(&whole.part(50 << 20)).starts_with("the memory budget of 100 MiB is too small"));
        assert!(message(&whole.part(50 << 20)).ends_with("give at least --memory 160MiB"));
        let _others = whole.try_grant(90 << 20);
        assert!(message(&whole.part(90 << 20)).ends_with("give at least --memory 170MiB"));
    }
}
