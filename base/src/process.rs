//! The name of this process for other processes, also in other containers and on other machines.
//!
//! A process id alone is no such name: every container has a process 1.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::time::SystemTime;

/// A process, as a file that several machines share names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessName {
    /// Process id in its own PID namespace.
    pub pid: u32,
    /// Host name; of a container its own.
    pub host: String,
    /// Id of the running kernel since it started; all containers of a machine have the same. Empty where /proc has
    /// none.
    pub boot: String,
}

impl ProcessName {
    /// Returns the name of this process.
    pub fn own() -> ProcessName {
        let kernel = |name: &str| {
            let text = std::fs::read_to_string(format!("/proc/sys/kernel/{name}")).unwrap_or_default();
            text.trim().to_string()
        };
        ProcessName { pid: std::process::id(), host: kernel("hostname"), boot: kernel("random/boot_id") }
    }
}

/// Returns 16 hexadecimal digits that no other call returns, in any process.
pub fn unique_token() -> String {
    // The standard library seeds these keys from the system's random numbers, and changes them with each call.
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |d| d.as_nanos());
    format!("{:016x}", RandomState::new().hash_one((std::process::id(), now)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_differ_and_the_name_does_not() {
        let tokens: std::collections::HashSet<String> = (0..1000).map(|_| unique_token()).collect();
        assert!(tokens.len() == 1000 && tokens.iter().all(|t| t.len() == 16));
        assert_eq!(ProcessName::own(), ProcessName::own());
    }
}
