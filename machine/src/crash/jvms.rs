//! Folders where JVMs leave what they say when they crash: where each was started, or what `-XX:ErrorFile` says, or /tmp.
//!
//! A folder is held open and watched (inotify), so that what is left there is found when its JVM is gone, in whichever container that was. A container's
//! links lead within that container.

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

const FILE_BYTES_MAX: u64 = 1 << 20;
/// How often all processes are looked at.
const ALL_PULSE: Duration = Duration::from_millis(500);
/// What another launcher than `java` has loaded by then says what it is.
const LOADED_AFTER: Duration = Duration::from_millis(700);
/// A folder is watched for so long after its last JVM.
const KEPT: Duration = Duration::from_secs(60);
const FOLDERS_MAX: usize = 4096;
/// Files that were told are known for as long as so many others have not been.
const TOLD_MAX: usize = 4096;
const USUAL: (&str, &str) = ("hs_err_pid", ".log");
const OPTIONS_OF_ALL: [&str; 3] = ["JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS"];

/// What files are called: before the number of the process and behind it.
type Pattern = (String, String);

struct Folder {
    fd: OwnedFd,
    patterns: HashSet<Pattern>,
    users: HashSet<u32>,
    /// Asked for by name.
    is_kept: bool,
    last_used: Instant,
}

enum Known {
    /// It may be one that another program starts.
    Unclear(Instant),
    Looked,
}

pub struct Jvms {
    inotify: OwnedFd,
    folders: HashMap<i32, Folder>,
    known: HashMap<u32, (u64, Known)>,
    starts: Option<Starts>,
    looked: Option<Instant>,
    /// By device and inode, with a hash of what was in it: whoever writes to a file once more, or only touches it, has not crashed again.
    told: VecDeque<((u64, u64), u64)>,
    /// Folders that there was no room for.
    pub left_out: u64,
    /// Times that more happened in folders than could be taken.
    pub overrun: u64,
}

impl Jvms {
    /// @param folders watched as well
    pub fn watch(folders: &[PathBuf], skips: &mut Vec<String>) -> Result<Jvms> {
        let inotify = inotify::init(inotify::CreateFlags::NONBLOCK | inotify::CreateFlags::CLOEXEC)
            .map_err(|e| Error::io(Code::Input, "folders cannot be watched", &e.into()))?;
        let starts = Starts::start().map_err(|e| skips.push(format!("JVMs that end within half a second: {e}"))).ok();
        let (known, folders_of) = (HashMap::new(), HashMap::new());
        let mut jvms = Jvms {
            inotify,
            folders: folders_of,
            known,
            starts,
            looked: None,
            told: VecDeque::new(),
            left_out: 0,
            overrun: 0,
        };
        for path in folders {
            let fd = open(path, FOLDER, Mode::empty());
            let added = fd.and_then(|fd| jvms.add(fd, usual(), None));
            added.map_err(|e| {
                Error::io(Code::Input, "this folder cannot be watched", &e.into()).at_path(path.to_string_lossy())
            })?;
        }
        if let Ok(fd) = open("/tmp", FOLDER, Mode::empty()) {
            jvms.try_to_add(fd, usual(), None);
        }
        jvms.look_at_all();
        Ok(jvms)
    }

    /// JVMs that are watched, and folders.
    pub fn counts(&self) -> (usize, usize) {
        let users: HashSet<u32> = self.folders.values().flat_map(|f| f.users.iter().copied()).collect();
        (users.len(), self.folders.len())
    }

    pub fn collect(&mut self, mut each: impl FnMut(Report)) {
        for pid in self.starts.as_mut().map(Starts::collect).unwrap_or_default() {
            // Another program in the same process.
            self.known.remove(&pid);
            self.look_at(pid);
        }
        if self.looked.is_none_or(|at| at.elapsed() >= ALL_PULSE) {
            self.look_at_all();
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
            if let Some(report) = is_one.then(|| read(folder, name, &mut self.told)).flatten() {
                each(report);
            }
        }
    }

    fn look_at_all(&mut self) {
        let there: HashSet<u32> = processes().collect();
        self.known.retain(|pid, _| there.contains(pid));
        there.iter().for_each(|pid| self.look_at(*pid));
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
        self.looked = Some(Instant::now());
    }

    fn look_at(&mut self, pid: u32) {
        let unclear_since = match self.known.get(&pid) {
            Some((_, Known::Looked)) => return,
            Some((_, Known::Unclear(since))) if since.elapsed() < LOADED_AFTER => return,
            Some((started, Known::Unclear(since))) => Some((*started, *since)),
            None => None,
        };
        // Gone, or of the kernel.
        let Ok(process) = Process::of(pid) else { return };
        let Some(program) = process.executable() else {
            self.known.insert(pid, (process.started(), Known::Looked));
            return;
        };
        let is_launcher = program.file_name().is_some_and(|name| name == "java");
        let is_jvm = is_launcher || unclear_since.is_some() && has_loaded_a_jvm(pid);
        if !is_jvm && unclear_since.is_none() {
            self.known.insert(pid, (process.started(), Known::Unclear(Instant::now())));
            return;
        }
        self.known.insert(pid, (process.started(), Known::Looked));
        if !is_jvm {
            return;
        }
        let own = PathBuf::from(format!("/proc/{pid}"));
        let Ok(root) = open(own.join("root"), FOLDER, Mode::empty()) else { return };
        let cwd = open(own.join("cwd"), FOLDER, Mode::empty());
        // Where that cannot be written.
        let folders = [cwd, inside(&root, "/tmp")];
        folders.into_iter().flatten().for_each(|fd| self.try_to_add(fd, usual(), Some(pid)));
        for told in error_files(pid) {
            let (folder, name) = told.rsplit_once('/').unwrap_or(("", &told));
            // Its own number, as it sees it.
            let folder = folder.replace("%p", &process.pid_inside.to_string()).replace("%%", "%");
            let fd = match told.starts_with('/') {
                true => inside(&root, &format!("/{folder}")),
                false => open(own.join("cwd").join(folder), FOLDER, Mode::empty()),
            };
            let Ok(fd) = fd else { continue };
            // `/dev/null`: whatever is written there by all that run is of no concern.
            let there = statat(&fd, name, AtFlags::SYMLINK_NOFOLLOW).ok();
            if there.is_none_or(|stat| is_file(&stat)) {
                self.try_to_add(fd, pattern(name), Some(pid));
            }
        }
    }

    /// What cannot be watched is counted.
    fn try_to_add(&mut self, fd: OwnedFd, pattern: Pattern, user: Option<u32>) {
        self.left_out += u64::from(self.add(fd, pattern, user).is_err());
    }

    fn add(&mut self, fd: OwnedFd, pattern: Pattern, user: Option<u32>) -> rustix::io::Result<()> {
        // By its number here: whatever becomes of the process by which it was found. The same folder has the same watch.
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

fn usual() -> Pattern {
    (USUAL.0.to_owned(), USUAL.1.to_owned())
}

/// A folder as a process with that root sees it: links that begin at `/` lead within it, too.
fn inside(root: &OwnedFd, path: &str) -> rustix::io::Result<OwnedFd> {
    openat2(root, path, FOLDER, Mode::empty(), ResolveFlags::IN_ROOT)
}

fn has_loaded_a_jvm(pid: u32) -> bool {
    fs::read_to_string(format!("/proc/{pid}/maps")).is_ok_and(|maps| maps.contains("/libjvm.so"))
}

/// What `-XX:ErrorFile` says, in the command line and in the environment.
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

/// `crash_%p.log`: of which %p is the number of the process; %% is one.
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

/// No link is followed, and only a file is read: whoever may write there may write a name too.
fn read(folder: &Folder, name: &OsStr, told: &mut VecDeque<((u64, u64), u64)>) -> Option<Report> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = File::from(openat(&folder.fd, name, flags, Mode::empty()).ok()?);
    let stat = fstat(&file).ok().filter(is_file)?;
    let mut bytes = Vec::new();
    file.take(FILE_BYTES_MAX).read_to_end(&mut bytes).ok()?;
    let report = fatal_error::report(&String::from_utf8_lossy(&bytes), SystemTime::now())?;
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    let known = ((stat.st_dev, stat.st_ino), hasher.finish());
    if told.contains(&known) {
        return None;
    }
    if told.len() >= TOLD_MAX {
        told.pop_front();
    }
    told.push_back(known);
    Some(report)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files() {
        let own = |a: &str, b: &str| (a.to_owned(), b.to_owned());
        assert_eq!(pattern("crash_%p.log"), own("crash_", ".log"));
        assert_eq!(pattern("fixed.log"), own("fixed.log", ""));
        assert_eq!(pattern("100%%_%p"), own("100%_", ""));
        assert_eq!(pattern("a%p_%p.txt"), own("a", ".txt"));
    }
}
