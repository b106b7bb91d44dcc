//! Memory of a reader: its buffers, and the records of its next batch.

use std::sync::Arc;

use yunti_base::Result;
use yunti_engine::memory::Budget;
use yunti_engine::memory::budget::Grant;

/// Bytes that a reader has even if operators have taken the whole budget: they spill when they need more, and would
/// never get the rows for it otherwise. A process has this much beside its budget for each thread.
const ALWAYS_BYTES: u64 = 4 << 20;
const PURPOSE: &str = "reading a text";

pub struct Memory {
    budget: Arc<Budget>,
    grant: Option<Grant>,
}

impl Memory {
    pub fn new(budget: &Arc<Budget>) -> Memory {
        Memory { budget: budget.clone(), grant: None }
    }

    /// Takes `bytes` in place of what it has. Errors: `Memory`, if they are many and not free.
    pub fn set(&mut self, bytes: u64) -> Result<()> {
        let is_taken = match &mut self.grant {
            Some(grant) => grant.try_resize(bytes),
            None => {
                self.grant = self.budget.try_grant(bytes);
                self.grant.is_some()
            }
        };
        let missing = bytes - self.grant.as_ref().map_or(0, Grant::bytes).min(bytes);
        if is_taken || bytes <= ALWAYS_BYTES { Ok(()) } else { Err(self.budget.too_small(missing, PURPOSE)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn little_memory_is_always_there_and_much_is_counted() {
        let budget = Budget::new(16 << 20);
        let mut memory = Memory::new(&budget);
        memory.set(10 << 20).unwrap();
        assert_eq!(budget.used_bytes(), 10 << 20);
        assert!(memory.set(20 << 20).is_err());
        memory.set(1 << 20).unwrap();
        assert_eq!(budget.used_bytes(), 1 << 20);
        let other = budget.grant(15 << 20, "others").unwrap();
        memory.set(3 << 20).unwrap();
        assert!(memory.set(5 << 20).is_err());
        drop((memory, other));
        assert_eq!(budget.used_bytes(), 0);
    }
}
