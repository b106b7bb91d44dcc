//! Change of the dirty limits, which are four files that depend on each other.
//!
//! The kernel sets `.._ratio` to 0 when `.._bytes` is written, and the other way round.

use crate::System;
use crate::change::{Change, Refusal, Write, present};

const VM: &str = "proc/sys/vm";
/// Bytes. The kernel accepts no less than two pages; a limit below this helps no program.
const BYTES_MIN: u64 = 1 << 20;

/// Returns the change that limits dirty pages to `limit` bytes. Fails if the limit is out of range.
pub fn change_to(system: &System, limit: u64) -> Result<Change, Refusal> {
    let total = system.memory_bytes("MemTotal").unwrap_or(u64::MAX);
    if limit < BYTES_MIN || limit > total / 2 {
        return Err(format!("{limit} bytes is out of range; give 1M to half of this machine's memory"));
    }
    let path = |name: &str| format!("{VM}/{name}");
    // The background limit first: the kernel halves it where it is not below the other one.
    let writes = vec![Write::new(path("dirty_background_bytes"), limit / 4), Write::new(path("dirty_bytes"), limit)];
    let old = present(system, &writes)?;
    let mut restore = Vec::new();
    for (bytes, ratio) in [("dirty_bytes", "dirty_ratio"), ("dirty_background_bytes", "dirty_background_ratio")] {
        let in_force = match system.number(path(bytes)) {
            Some(1..) => path(bytes),
            _ => path(ratio),
        };
        let value = system.number(&in_force).ok_or_else(|| format!("/{in_force} cannot be read"))?;
        restore.push(Write::new(in_force, value));
    }
    Ok(Change { writes, old, restore })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::RATIOS;
    use crate::tree::Tree;

    #[test]
    fn restores_the_limits_in_force() {
        let tree = Tree::of(&RATIOS);
        let change = change_to(&tree.system(), 1 << 30).unwrap();
        let of = |name: &str, value: u64| Write::new(format!("proc/sys/vm/{name}"), value);
        assert_eq!(change.writes, [of("dirty_background_bytes", 1 << 28), of("dirty_bytes", 1 << 30)]);
        // The limits in force are restored: ratios or bytes.
        assert_eq!(change.restore, [of("dirty_ratio", 20), of("dirty_background_ratio", 10)]);
        tree.write("proc/sys/vm/dirty_bytes", "5000000\n");
        let change = change_to(&tree.system(), 1 << 30).unwrap();
        assert_eq!(change.restore, [of("dirty_bytes", 5_000_000), of("dirty_background_ratio", 10)]);
        assert!(change_to(&tree.system(), 1000).is_err() && change_to(&tree.system(), 1 << 40).is_err());
    }
}
