//! Change of the dirty limits, which are four files that depend on each other.
//!
//! The kernel sets `.._ratio` to 0 when `.._bytes` is written, and the other way round.

use crate::System;
use crate::change::{Change, Refusal, Write, present};
use crate::value::{self, Limits};

const VM: &str = "proc/sys/vm";
/// Bytes. The kernel accepts no less than two pages; a limit below this helps no program.
const BYTES_MIN: u64 = 1 << 20;
/// Bytes, where the memory is unknown: the kernel reads the file as a long.
const KERNEL_BYTES_MAX: u64 = i64::MAX as u64;

/// Returns the change that limits dirty pages to the size `value`. Fails if it is no size, or out of range.
pub fn change_to(system: &System, value: &str) -> Result<Change, Refusal> {
    let limits = match system.memory_bytes("MemTotal") {
        Some(total) => Limits { min: BYTES_MIN, max: total / 2, origin: "half of this machine's memory" },
        None => Limits { min: BYTES_MIN, max: KERNEL_BYTES_MAX, origin: "the most that the kernel takes" },
    };
    let limit = value::size(value, limits)?;
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
        let change = change_to(&tree.system(), "1G").unwrap();
        let of = |name: &str, value: u64| Write::new(format!("proc/sys/vm/{name}"), value);
        assert_eq!(change.writes, [of("dirty_background_bytes", 1 << 28), of("dirty_bytes", 1 << 30)]);
        // The limits in force are restored: ratios or bytes.
        assert_eq!(change.restore, [of("dirty_ratio", 20), of("dirty_background_ratio", 10)]);
        tree.write("proc/sys/vm/dirty_bytes", "5000000\n");
        let change = change_to(&tree.system(), "1G").unwrap();
        assert_eq!(change.restore, [of("dirty_bytes", 5_000_000), of("dirty_background_ratio", 10)]);
        let refusal = |value| change_to(&tree.system(), value).unwrap_err();
        assert!(refusal("1000").contains("too small"));
        assert_eq!(
            refusal("99999T"),
            "'99999T' is a size, but more than 31250M, half of this machine's memory; give 1M to 31250M, such as 512M \
             or 1G"
        );
        let unknown = Tree::of(&RATIOS[..4]);
        assert!(change_to(&unknown.system(), "99999999T").unwrap_err().contains("the kernel takes"));
    }
}
