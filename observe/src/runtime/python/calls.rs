//! System calls in which threads wait, from `/proc/PID/task/TID/syscall`: the files stay open, because a look reads
//! them many times.

use std::collections::HashMap;
use std::fs::File;
use std::os::unix::fs::FileExt;

use yunti_probe::target::Process;

/// Files that stay open; descriptors are few.
const OPEN_MAX: usize = 256;

/// State of a thread at a moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Call {
    /// On a processor, or ready for one.
    Runs,
    /// In a system call: its number and its arguments.
    Waits(i64, [u64; 6]),
    /// Stopped outside of a system call: it waits for a page.
    Fault,
}

/// Reader of the system calls of a process's threads.
pub struct Calls {
    folder: String,
    files: HashMap<u32, File>,
}

impl Calls {
    pub fn of(process: &Process) -> Calls {
        Calls { folder: format!("/proc/{}/task", process.pid), files: HashMap::new() }
    }

    /// Returns the state of a thread; `None` if it has ended, or without the rights.
    pub fn get(&mut self, tid: u32) -> Option<Call> {
        let mut text = [0; 256];
        let read = match self.files.get(&tid) {
            Some(file) => file.read_at(&mut text, 0),
            None => {
                let file = File::open(format!("{}/{tid}/syscall", self.folder)).ok()?;
                let read = file.read_at(&mut text, 0);
                if self.files.len() < OPEN_MAX {
                    self.files.insert(tid, file);
                }
                read
            }
        };
        let Ok(bytes) = read else {
            self.files.remove(&tid);
            return None;
        };
        parsed(std::str::from_utf8(&text[..bytes]).ok()?)
    }

    /// Closes the files of threads that have ended.
    pub fn keep(&mut self, is_alive: impl Fn(u32) -> bool) {
        self.files.retain(|tid, _| is_alive(*tid));
    }
}

/// Parses `202 0x7f.. 0x80 0x0 0x0 0x0 0x0 0x7ffd.. 0x7f..`, `running`, `-1 0x7ffd.. 0x7f..`.
fn parsed(line: &str) -> Option<Call> {
    let mut words = line.split_whitespace();
    let number: i64 = match words.next()? {
        "running" => return Some(Call::Runs),
        word => word.parse().ok()?,
    };
    if number < 0 {
        return Some(Call::Fault);
    }
    let mut arguments = [0; 6];
    for argument in &mut arguments {
        *argument = u64::from_str_radix(words.next()?.trim_start_matches("0x"), 16).ok()?;
    }
    Some(Call::Waits(number, arguments))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_calls() {
        assert_eq!(
            parsed("202 0x7f00 0x80 0x0 0x0 0x0 0x1 0x7ffd 0x7f01"),
            Some(Call::Waits(202, [0x7f00, 0x80, 0, 0, 0, 1]))
        );
        assert_eq!(
            (parsed("running\n"), parsed("-1 0x7ffd 0x7f01"), parsed("")),
            (Some(Call::Runs), Some(Call::Fault), None)
        );
    }
}
