//! Process that is copied, as `/proc` shows it. It is only read.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use yunti_base::{Code, Error, Result, kernel_list};

use super::ports;

/// Variables by which a service manager talks to the original alone.
const OF_MANAGER: [&str; 6] =
    ["NOTIFY_SOCKET", "LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES", "WATCHDOG_USEC", "WATCHDOG_PID"];

/// Process with all that a copy needs.
#[derive(Clone, Debug)]
pub struct Original {
    pub pid: u32,
    pub program: PathBuf,
    pub words: Vec<OsString>,
    pub environment: Vec<(OsString, OsString)>,
    pub folder: PathBuf,
    pub user: u32,
    pub group: u32,
    /// Numbers of the processors that it may use.
    pub processors: Vec<usize>,
    /// Ports that it listens on.
    pub ports: Vec<u16>,
    /// Limit of open files; absent without one.
    pub files_max: Option<u64>,
}

impl Original {
    /// Reads a process. An error says that there is none, or that it runs in a container.
    pub fn find(pid: u32) -> Result<Original> {
        let failed = |e: std::io::Error| match e.kind() {
            std::io::ErrorKind::NotFound => {
                Error::new(Code::Input, format!("there is no process {pid}")).hint("`ps -e` lists what there is")
            }
            _ => Error::io(Code::Input, &format!("process {pid} cannot be read"), &e)
                .hint("run as its owner, or as root"),
        };
        let read = |name: &str| fs::read(format!("/proc/{pid}/{name}")).map_err(failed);
        let link = |name: &str| fs::read_link(format!("/proc/{pid}/{name}")).map_err(failed);
        let status = String::from_utf8_lossy(&read("status")?).into_owned();
        for name in ["ns/mnt", "ns/net"] {
            if fs::read_link(format!("/proc/self/{name}")).ok() != Some(link(name)?) {
                return Err(Error::new(Code::Input, format!("process {pid} runs in a container"))
                    .hint("run yunti inside the container, or give --demands FILE with --copy and --unchanged"));
            }
        }
        let field = |name: &str, nth: usize| {
            let line = status.lines().find_map(|line| line.strip_prefix(name))?;
            line.split_ascii_whitespace().nth(nth).map(str::to_owned)
        };
        // The effective user, as of all files that it opens.
        let id = |name: &str| field(name, 1).and_then(|id| id.parse().ok()).unwrap_or(0);
        let limits = String::from_utf8_lossy(&read("limits")?).into_owned();
        let files = limits.lines().find_map(|line| line.strip_prefix("Max open files"));
        let mut ports: Vec<u16> = ports::of_process(pid).iter().map(|listener| listener.port).collect();
        ports.sort_unstable();
        ports.dedup();
        Ok(Original {
            pid,
            program: link("exe")?,
            words: words(&read("cmdline")?),
            environment: words(&read("environ")?).iter().filter_map(|word| variable(word)).collect(),
            folder: link("cwd")?,
            user: id("Uid:"),
            group: id("Gid:"),
            processors: field("Cpus_allowed_list:", 0).map(|list| processors(&list)).unwrap_or_default(),
            ports,
            files_max: files.and_then(|rest| rest.split_ascii_whitespace().next()?.parse().ok()),
        })
    }
}

/// Returns the words of a file in which each ends with a zero byte.
fn words(bytes: &[u8]) -> Vec<OsString> {
    let bytes = bytes.strip_suffix(&[0]).unwrap_or(bytes);
    if bytes.is_empty() {
        return Vec::new();
    }
    bytes.split(|byte| *byte == 0).map(|word| OsStr::from_bytes(word).to_owned()).collect()
}

fn variable(word: &OsStr) -> Option<(OsString, OsString)> {
    let bytes = word.as_bytes();
    let at = bytes.iter().position(|byte| *byte == b'=').filter(|at| *at > 0)?;
    let name = OsStr::from_bytes(&bytes[..at]);
    let is_kept = !OF_MANAGER.iter().any(|other| name == *other);
    is_kept.then(|| (name.to_owned(), OsStr::from_bytes(&bytes[at + 1..]).to_owned()))
}

/// Returns the processors of a list of the kernel, such as `0-3,8`; none for text in another form.
pub fn processors(list: &str) -> Vec<usize> {
    kernel_list::ranges(list).into_iter().flatten().flatten().map(|number| number as usize).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_as_proc_shows_it() {
        let own = Original::find(std::process::id()).unwrap();
        assert_eq!(own.folder, std::env::current_dir().unwrap());
        assert_eq!(own.words, std::env::args_os().collect::<Vec<_>>());
        assert!(!own.processors.is_empty());
        assert!(Original::find(u32::MAX).unwrap_err().what().contains("there is no process"));
    }

    #[test]
    fn lists_and_words() {
        assert_eq!(processors("0-2,5"), [0, 1, 2, 5]);
        assert_eq!(words(b"a\0\0b\0"), ["a", "", "b"]);
        assert_eq!(variable(OsStr::new("A=b=c")), Some(("A".into(), "b=c".into())));
        assert_eq!(variable(OsStr::new("NOTIFY_SOCKET=/run/x")), None);
        assert_eq!(variable(OsStr::new("=x")), None);
    }
}
