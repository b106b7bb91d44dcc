//! Folders in which JVMs write hs_err files: their working directories, the folders of `-XX:ErrorFile`, and /tmp.
//!
//! A folder is held open and watched (inotify), so that its files are found after the JVM has ended, in any container.
//! Links in a container are resolved within it.

use std::collections::{HashMap, HashSet, VecDeque};
use std::ffi::OsStr;
use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Read;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::time::{Duration, Instant, SystemTime};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, ResolveFlags, Stat, fstat, inotify, open, openat, openat2, statat};
use rustix::io::Errno;
use yunti_base::{Code, Error, Result};

use super::{Report, fatal_error};
use yunti_probe::kernel::system::Starts;
use yunti_probe::target::{Process, arguments, processes};

/// Bytes read of a file.
const FILE_BYTES_MAX: u64 = 1 << 20;
/// Interval of checking all processes.
const ALL_PULSE: Duration = Duration::from_millis(500);
/// Time after which a launcher other than `java` has loaded the JVM library.
const LOADED_AFTER: Duration = Duration::from_millis(700);
/// Time that a folder is watched after its last JVM.
const KEPT: Duration = Duration::from_secs(60);
/// Folders watched at a time.
const FOLDERS_MAX: usize = 4096;
/// Files that are remembered as reported.
const REPORTED_MAX: usize = 4096;
/// Default name: before and behind the process number.
const DEFAULT: (&str, &str) = ("hs_err_pid", ".log");
/// Environment variables with options of JVMs.
const OPTIONS_OF_ALL: [&str; 3] = ["JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS"];

/// Name of a file: the parts before and behind the process number.
type Pattern = (String, String);

/// Folder that is watched.
struct Folder {
    fd: OwnedFd,
    patterns: HashSet<Pattern>,
    users: HashSet<u32>,
    /// True for a folder that the user named.
    is_kept: bool,
    last_used: Instant,
}

/// State of a known process.
enum Known {
    /// It may start another program.
    Unclear(Instant),
    /// It is a JVM that is watched, or no JVM.
    Checked,
}

/// Watch of the folders of all JVMs.
pub struct Jvms {
    inotify: OwnedFd,
    folders: HashMap<i32, Folder>,
    known: HashMap<u32, (u64, Known)>,
    starts: Option<Starts>,
    last_check: Option<Instant>,
    /// Device, inode and content hash of reported files: a file that is touched or written again is not a new crash.
    reported: VecDeque<((u64, u64), u64)>,
    /// Folders above the limit of watches.
    pub left_out: u64,
    /// Overflows of the event queue.
    pub overrun: u64,
}

impl Jvms {
    /// Starts the watch. `folders`: further folders of the user.
    pub fn watch(folders: &[PathBuf], skips: &mut Vec<String>) -> Result<Jvms> {
        let inotify = inotify::init(inotify::CreateFlags::NONBLOCK | inotify::CreateFlags::CLOEXEC)
            .map_err(|e| Error::io(Code::Input, "cannot watch folders", &e.into()))?;
        let starts = Starts::start().map_err(|e| skips.push(format!("JVMs that end within half a second: {e}"))).ok();
        let (known, folders_of) = (HashMap::new(), HashMap::new());
        let mut jvms = Jvms {
            inotify,
            folders: folders_of,
            known,
            starts,
            last_check: None,
            reported: VecDeque::new(),
            left_out: 0,
            overrun: 0,
        };
        for path in folders {
            let fd = open(path, FOLDER, Mode::empty());
            let added = fd.and_then(|fd| jvms.add(fd, default_pattern(), None));
            added.map_err(|e| {
                Error::io(Code::Input, "cannot watch this folder", &e.into()).at_path(path.to_string_lossy())
            })?;
        }
        if let Ok(fd) = open("/tmp", FOLDER, Mode::empty()) {
            jvms.try_to_add(fd, default_pattern(), None);
        }
        jvms.check_all();
        Ok(jvms)
    }

    /// Returns the numbers of watched JVMs and folders.
    pub fn counts(&self) -> (usize, usize) {
        let users: HashSet<u32> = self.folders.values().flat_map(|f| f.users.iter().copied()).collect();
        (users.len(), self.folders.len())
    }

    /// Calls `each` for the reports since the last call.
    pub fn collect(&mut self, mut each: impl FnMut(Report)) {
        for pid in self.starts.as_mut().map(Starts::collect).unwrap_or_default() {
            // The process runs another program now.
            self.known.remove(&pid);
            self.check_process(pid);
        }
        if self.last_check.is_none_or(|at| at.elapsed() >= ALL_PULSE) {
            self.check_all();
        }
        let mut room = [MaybeUninit::uninit(); 8192];
        let mut events = inotify::Reader::new(self.inotify.as_fd(), &mut room);
        while let Ok(event) = events.next() {
            self.overrun += u64::from(event.events().contains(inotify::ReadFlags::QUEUE_OVERFLOW));
            let Some(folder) = self.folders.get(&event.wd()) else { continue };
            let Some(name) = event.file_name() else { continue };
            let name = OsStr::from_bytes(name.to_bytes());
            let text = name.to_string_lossy();
            let is_one = folder.patterns.iter().any(|(before, behind)| {
                text.len() >= before.len() + behind.len() && text.starts_with(before) && text.ends_with(behind)
            });
            if let Some(report) = is_one.then(|| read(folder, name, &mut self.reported)).flatten() {
                each(report);
            }
        }
    }

    fn check_all(&mut self) {
        let there: HashSet<u32> = processes().collect();
        self.known.retain(|pid, _| there.contains(pid));
        there.iter().for_each(|pid| self.check_process(*pid));
        for folder in self.folders.values_mut() {
            folder.users.retain(|pid| there.contains(pid));
            if !folder.users.is_empty() {
                folder.last_used = Instant::now();
            }
        }
        let gone = self.folders.iter().filter(|(_, f)| !f.is_kept && f.last_used.elapsed() > KEPT);
        for wd in gone.map(|(wd, _)| *wd).collect::<Vec<_>>() {
            let _ = inotify::remove_watch(&self.inotify, wd);
            self.folders.remove(&wd);
        }
        self.last_check = Some(Instant::now());
    }

    fn check_process(&mut self, pid: u32) {
        let unclear_since = match self.known.get(&pid) {
            Some((_, Known::Checked)) => return,
            Some((_, Known::Unclear(since))) if since.elapsed() < LOADED_AFTER => return,
            Some((started, Known::Unclear(since))) => Some((*started, *since)),
            None => None,
        };
        // Ended, or a kernel thread.
        let Ok(process) = Process::of(pid) else { return };
        let Some(program) = process.executable() else {
            self.known.insert(pid, (process.started(), Known::Checked));
            return;
        };
        let is_launcher = program.file_name().is_some_and(|name| name == "java");
        let is_jvm = is_launcher || unclear_since.is_some() && has_loaded_a_jvm(pid);
        if !is_jvm && unclear_since.is_none() {
            self.known.insert(pid, (process.started(), Known::Unclear(Instant::now())));
            return;
        }
        self.known.insert(pid, (process.started(), Known::Checked));
        if !is_jvm {
            return;
        }
        let own = PathBuf::from(format!("/proc/{pid}"));
        let Ok(root) = open(own.join("root"), FOLDER, Mode::empty()) else { return };
        let cwd = open(own.join("cwd"), FOLDER, Mode::empty());
        // /tmp is used if the working directory is not writable.
        let folders = [cwd, inside(&root, "/tmp")];
        folders.into_iter().flatten().for_each(|fd| self.try_to_add(fd, default_pattern(), Some(pid)));
        for file in error_files(pid) {
            let (folder, name) = file.rsplit_once('/').unwrap_or(("", &file));
            // `%p` is the process number in its own namespace.
            let folder = folder.replace("%p", &process.pid_inside.to_string()).replace("%%", "%");
            let fd = match file.starts_with('/') {
                true => inside(&root, &format!("/{folder}")),
                false => open(own.join("cwd").join(folder), FOLDER, Mode::empty()),
            };
            let Ok(fd) = fd else { continue };
            // A special file such as `/dev/null` is not watched, because all processes write to it.
            let there = statat(&fd, name, AtFlags::SYMLINK_NOFOLLOW).ok();
            if there.is_none_or(|stat| is_file(&stat)) {
                self.try_to_add(fd, pattern(name), Some(pid));
            }
        }
    }

    /// Adds a folder; failures are counted.
    fn try_to_add(&mut self, fd: OwnedFd, pattern: Pattern, user: Option<u32>) {
        self.left_out += u64::from(self.add(fd, pattern, user).is_err());
    }

    fn add(&mut self, fd: OwnedFd, pattern: Pattern, user: Option<u32>) -> rustix::io::Result<()> {
        // The descriptor of this process outlives the process that led to it. The same folder gets the same watch.
        let here = format!("/proc/self/fd/{}", fd.as_raw_fd());
        let wd = inotify::add_watch(&self.inotify, here, inotify::WatchFlags::CLOSE_WRITE)?;
        if self.folders.len() >= FOLDERS_MAX && !self.folders.contains_key(&wd) {
            let _ = inotify::remove_watch(&self.inotify, wd);
            return Err(Errno::NOSPC);
        }
        let folder = self.folders.entry(wd).or_insert_with(|| Folder {
            fd,
            patterns: HashSet::new(),
            users: HashSet::new(),
            is_kept: false,
            last_used: Instant::now(),
        });
        folder.patterns.insert(pattern);
        folder.is_kept |= user.is_none();
        folder.users.extend(user);
        Ok(())
    }
}

const FOLDER: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

fn default_pattern() -> Pattern {
    (DEFAULT.0.to_owned(), DEFAULT.1.to_owned())
}

/// Opens a folder as a process with this root sees it: links that begin at `/` stay within the root.
fn inside(root: &OwnedFd, path: &str) -> rustix::io::Result<OwnedFd> {
    openat2(root, path, FOLDER, Mode::empty(), ResolveFlags::IN_ROOT)
}

fn has_loaded_a_jvm(pid: u32) -> bool {
    fs::read_to_string(format!("/proc/{pid}/maps")).is_ok_and(|maps| maps.contains("/libjvm.so"))
}

/// Values of `-XX:ErrorFile` in the command line and in the environment.
fn error_files(pid: u32) -> Vec<String> {
    let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    let options = environment.split(|b| *b == 0).filter_map(|variable| {
        let variable = String::from_utf8_lossy(variable);
        let (name, value) = variable.split_once('=')?;
        OPTIONS_OF_ALL.contains(&name).then(|| value.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    });
    let words = options.flatten().chain(arguments(pid));
    words.filter_map(|word| word.strip_prefix("-XX:ErrorFile=").map(str::to_owned)).filter(|f| !f.is_empty()).collect()
}

/// Pattern of a name such as `crash_%p.log`: %p is the process number, %% a percent sign.
fn pattern(name: &str) -> Pattern {
    let plain = |text: &str| text.replace("%%", "%");
    match (name.split_once("%p"), name.rsplit_once("%p")) {
        (Some((before, _)), Some((_, behind))) => (plain(before), plain(behind)),
        _ => (plain(name), String::new()),
    }
}

fn is_file(stat: &Stat) -> bool {
    FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile
}

/// Reads a file, and returns its report. Links are not followed and special files not read, because any user may
/// create names there.
fn read(folder: &Folder, name: &OsStr, reported: &mut VecDeque<((u64, u64), u64)>) -> Option<Report> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = File::from(openat(&folder.fd, name, flags, Mode::empty()).ok()?);
    let stat = fstat(&file).ok().filter(is_file)?;
    let mut bytes = Vec::new();
    file.take(FILE_BYTES_MAX).read_to_end(&mut bytes).ok()?;
    let report = fatal_error::report(&String::from_utf8_lossy(&bytes), SystemTime::now())?;
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    let known = ((stat.st_dev, stat.st_ino), hasher.finish());
    if reported.contains(&known) {
        return None;
    }
    if reported.len() >= REPORTED_MAX {
        reported.pop_front();
    }
    reported.push_back(known);
    Some(report)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_names_of_files() {
        let own = |a: &str, b: &str| (a.to_owned(), b.to_owned());
        assert_eq!(pattern("crash_%p.log"), own("crash_", ".log"));
        assert_eq!(pattern("fixed.log"), own("fixed.log", ""));
        assert_eq!(pattern("100%%_%p"), own("100%_", ""));
        assert_eq!(pattern("a%p_%p.txt"), own("a", ".txt"));
    }
}
