//! Reports from lines of the kernel's log. `beginning` lists how a report begins; of the lines behind it, only
//! function names and the process are used.
//!
//! Limits: oopses of two processors whose lines are mixed become one report with the frames of both. Warnings
//! (`WARNING:`) make no report.

use std::time::{Duration, SystemTime};

use super::file_system;
use super::record::Record;
use super::stack::{clean, kernel_frame, without_numbers};
use super::{Kind, Report};

/// Frames of a report.
const FRAMES_MAX: usize = 32;
/// Lines of an oops with registers and modules; the task list of an OOM kill is longer.
const LINES_MAX: usize = 400;
/// Longest gap between two lines of one report.
const SILENCE: Duration = Duration::from_secs(2);
/// Longest time from the first to the last line of a report, even on a slow console.
const REPORT_TIME: Duration = Duration::from_secs(30);
/// Functions of the kernel's own reporting; the reported function is behind them.
const REPORTING: [&str; 13] = [
    "dump_stack",
    "dump_stack_lvl",
    "show_stack",
    "print_report",
    "print_address_description",
    "kasan_report",
    "kasan_report_invalid_free",
    "kasan_check_range",
    "check_memory_region",
    "kfence_report_error",
    "bad_page",
    "print_bad_pte",
    "__schedule_bug",
];
/// Functions through which a thread waits; the next frame shows what for.
const WAITING: [&str; 8] = [
    "__schedule",
    "schedule",
    "schedule_timeout",
    "schedule_preempt_disabled",
    "io_schedule",
    "io_schedule_timeout",
    "bit_wait_io",
    "bit_wait",
];

/// Collector that joins lines to reports.
#[derive(Default)]
pub struct KernelReports {
    open: Option<Episode>,
}

/// Report whose lines are still arriving.
struct Episode {
    kind: Kind,
    /// `null pointer`, `general protection fault`; for an OOM kill `memory`.
    cause: String,
    title: String,
    time: SystemTime,
    last_line: SystemTime,
    process: Option<(String, u32)>,
    cgroup: Option<String>,
    stack: Vec<String>,
    lines: usize,
}

impl Episode {
    fn new(kind: Kind, cause: &str, title: &str, time: SystemTime) -> Episode {
        let (cause, title) = (cause.to_owned(), clean(title));
        Episode { kind, cause, title, time, last_line: time, process: None, cgroup: None, stack: Vec::new(), lines: 0 }
    }

    /// Returns true if the line may belong to this report.
    fn has_more(&self, text: &str, time: SystemTime) -> bool {
        let since = |from: SystemTime| time.duration_since(from).unwrap_or_default();
        let is_another = text.starts_with("------------[ cut here") && !self.stack.is_empty();
        since(self.last_line) <= SILENCE && since(self.time) <= REPORT_TIME && !is_another
    }

    /// Adds a line, and returns true if it is the last one of the report.
    fn add(&mut self, text: &str) -> bool {
        self.lines += 1;
        if self.process.is_none() {
            self.process = process_of(text);
        }
        let frame = match text.strip_prefix("RIP: 0010:").or_else(|| text.strip_prefix("pc : ")) {
            // A repetition at the end is skipped: only the first such line, before the trace, counts.
            Some(place) => kernel_frame(place).filter(|_| self.stack.is_empty()),
            None => kernel_frame(text),
        };
        let is_kept = |f: &String| {
            let is_reporting = REPORTING.contains(&f.as_str()) || f.starts_with("__asan_");
            self.stack.len() < FRAMES_MAX && self.stack.first() != Some(f) && !(self.stack.is_empty() && is_reporting)
        };
        if let Some(frame) = frame.filter(is_kept) {
            self.stack.push(frame);
        }
        let is_end = text.starts_with("---[ end")
            || self.kind == Kind::HungTask && text.trim() == "</TASK>" && !self.stack.is_empty();
        is_end || self.lines >= LINES_MAX
    }

    fn report(self) -> Report {
        let class = match self.kind {
            Kind::HungTask => waits_for(&self.stack).to_owned(),
            _ => format!("{} in {}", self.cause, module_of(&self.stack)),
        };
        // Without a stack, only the text distinguishes reports.
        let text = without_numbers(&self.title);
        let distinguishing = if self.stack.is_empty() { vec![text.as_str()] } else { Vec::new() };
        let (process, pid) = self.process.unzip();
        Report::new(self.kind, class, self.title, self.time, self.stack, &distinguishing)
            .fact("process", process.unwrap_or_default())
            .fact("pid", pid.map(|p| p.to_string()).unwrap_or_default())
    }
}

impl KernelReports {
    /// Takes the next line. Returns the report that it ends, and the report of the line itself.
    pub fn take(&mut self, record: &Record, time: SystemTime) -> Vec<Report> {
        let text = record.text.trim_end();
        let mut done = Vec::new();
        if self.open.as_ref().is_some_and(|open| !open.has_more(text, time)) {
            done.extend(self.end());
        }
        if let Some(open) = &mut self.open {
            open.last_line = time;
        }
        if let Some(report) = self.killed(text, time) {
            done.push(report);
        } else if let Some(report) = file_system::report(text, time) {
            done.push(report);
        } else if let Some((kind, cause)) = beginning(text) {
            // An oops names its cause several times before the first frame; the first name is the most precise.
            let goes_on = self.open.as_ref().is_some_and(|open| {
                open.kind == Kind::Oops && kind == Kind::Oops && open.stack.is_empty() && cause != "panic"
            });
            if !goes_on {
                done.extend(self.end());
                let mut episode = Episode::new(kind, cause, text, time);
                episode.process = process_of(text);
                self.open = Some(episode);
            }
        } else if let Some(open) = &mut self.open {
            let constraint = text.strip_prefix("oom-kill:");
            if let Some(rest) = constraint.filter(|_| open.kind == Kind::OomKill) {
                // A group's name may hold a comma.
                let group =
                    rest.split_once(",task_memcg=").map(|(_, rest)| rest.split(",task=").next().unwrap_or(rest));
                open.cgroup = group.map(clean);
            }
            if open.add(text) {
                done.extend(self.end());
            }
        }
        done
    }

    /// Ends the open report after a silence.
    pub fn end(&mut self) -> Option<Report> {
        let open = self.open.take()?;
        // Without a kill, the outcome is unknown.
        (open.kind != Kind::OomKill).then(|| open.report())
    }

    /// Parses `Memory cgroup out of memory: Killed process 77 (java) total-vm:9kB, anon-rss:8kB, ..`
    fn killed(&mut self, text: &str, time: SystemTime) -> Option<Report> {
        let (head, tail) = text.split_once(": Killed process ")?;
        let of_group = match head {
            "Memory cgroup out of memory" => true,
            _ if head.starts_with("Out of memory") => false,
            _ => return None,
        };
        let (pid, rest) = tail.split_once(" (")?;
        let pid: u32 = pid.parse().ok()?;
        // A process name may hold brackets.
        let (name, rest) = rest.rsplit_once(") ").or_else(|| rest.rsplit_once(')'))?;
        let field = |key: &str| rest.split([',', ' ']).find_map(|f| f.strip_prefix(key)).unwrap_or_default();
        // One shortage may kill several processes of a group.
        let (cgroup, stack) = match &self.open {
            Some(open) if open.kind == Kind::OomKill => (open.cgroup.clone(), open.stack.clone()),
            _ => (None, Vec::new()),
        };
        let (name, group) = (clean(name), cgroup.unwrap_or_default());
        let class = if of_group { "a control group has no memory left" } else { "the machine has no memory left" };
        let title = if of_group && !group.is_empty() {
            format!("{name} was killed: no memory left in {group}")
        } else {
            format!("{name} was killed: {class}")
        };
        // Process and group distinguish reports. The stack belongs to the process that requested memory next.
        let distinguishing = [without_numbers(&name), without_numbers(&group)];
        let mut report = Report::new(
            Kind::OomKill,
            class.into(),
            title,
            time,
            Vec::new(),
            &distinguishing.each_ref().map(String::as_str),
        )
        .fact("process", name)
        .fact("pid", pid.to_string())
        .fact("cgroup", group)
        .fact("anon-rss", field("anon-rss:"))
        .fact("file-rss", field("file-rss:"));
        report.stack = stack;
        Some(report)
    }
}

/// Returns kind and cause if the line begins a report.
fn beginning(text: &str) -> Option<(Kind, &'static str)> {
    const OOPSES: [(&str, &str); 17] = [
        ("BUG: kernel NULL pointer dereference", "null pointer"),
        ("Unable to handle kernel NULL pointer dereference", "null pointer"),
        ("BUG: unable to handle", "bad address"),
        ("Unable to handle kernel", "bad address"),
        ("BUG: KASAN:", "memory used wrongly"),
        ("BUG: KFENCE:", "memory used wrongly"),
        ("BUG: soft lockup", "a processor that is not given up"),
        ("watchdog: BUG: soft lockup", "a processor that is not given up"),
        ("watchdog: Watchdog detected hard LOCKUP", "a processor that does not answer"),
        ("BUG: Bad page", "a page that cannot be"),
        ("BUG: Bad rss-counter", "a page that cannot be"),
        ("BUG: ", "a bug"),
        ("kernel BUG at ", "an assertion"),
        ("general protection fault", "bad address"),
        ("Oops: general protection fault", "bad address"),
        ("Internal error: Oops", "an oops"),
        ("Kernel panic - not syncing", "panic"),
    ];
    const OTHERS: [(&str, &str); 6] = [
        ("Oops: ", "an oops"),
        ("divide error: ", "division by zero"),
        ("invalid opcode: ", "bad instruction"),
        ("stack segment: ", "bad stack"),
        ("double fault: ", "bad stack"),
        ("alignment check: ", "bad address"),
    ];
    if text.starts_with("INFO: task ") && text.contains(" blocked for more than ") {
        return Some((Kind::HungTask, "waits"));
    }
    if text.contains(" invoked oom-killer: ") {
        return Some((Kind::OomKill, "memory"));
    }
    let found = OOPSES.iter().chain(&OTHERS).find(|(start, _)| text.starts_with(start));
    found.map(|(_, cause)| (Kind::Oops, *cause))
}

/// Parses name and pid from `CPU: 1 UID: 0 PID: 77 Comm: java Tainted: G`, `INFO: task java:77 blocked ..` or `..
/// stuck for 26s! [java:77]`.
fn process_of(text: &str) -> Option<(String, u32)> {
    let named = |name: &str, pid: &str| Some((clean(name), pid.parse().ok()?));
    if let Some((_, rest)) = text.split_once("PID: ") {
        let (pid, rest) = rest.split_once(" Comm: ")?;
        let end = [" Tainted: ", " Not tainted"].iter().filter_map(|mark| rest.find(mark)).min();
        return named(rest[..end.unwrap_or(rest.len())].trim(), pid);
    }
    let pair = match text.strip_prefix("INFO: task ") {
        Some(rest) => rest.split_once(" blocked for more than ")?.0,
        None => text.split_once("! [")?.1.strip_suffix(']')?,
    };
    let (name, pid) = pair.rsplit_once(':')?;
    named(name, pid)
}

/// Module of the innermost frame; its function if the frame names no module.
fn module_of(stack: &[String]) -> &str {
    let module = |frame: &'_ String| Some((frame.find(" [")? + 2, frame.len().checked_sub(1)?));
    match stack.first() {
        Some(frame) => module(frame).map_or(frame.as_str(), |(from, to)| &frame[from..to]),
        None => "the kernel",
    }
}

/// Class of a hung task with this stack, by the resource that it waits for.
fn waits_for(stack: &[String]) -> &'static str {
    const PLACES: [(&str, &str); 17] = [
        ("jbd2_", "waits for the journal of ext4"),
        ("nfs", "waits for a server of NFS"),
        ("rpc_", "waits for a server of NFS"),
        ("cifs_", "waits for a server of SMB"),
        ("fuse_", "waits for a file system in user space"),
        ("xlog_", "waits for the log of XFS"),
        ("balance_dirty_pages", "waits until dirty pages are written"),
        ("mutex_lock", "waits for a lock of the kernel"),
        ("__mutex_lock", "waits for a lock of the kernel"),
        ("rwsem_", "waits for a lock of the kernel"),
        ("down_", "waits for a lock of the kernel"),
        ("percpu_down", "waits for a lock of the kernel"),
        ("folio_wait", "waits for a device"),
        ("wait_on_page", "waits for a device"),
        ("submit_bio_wait", "waits for a device"),
        ("blk_", "waits for a device"),
        ("wait_on_buffer", "waits for a device"),
    ];
    let is_io = stack.iter().any(|f| f.contains("io_schedule") || f.starts_with("bit_wait_io"));
    let mut outer = stack.iter().filter(|f| !WAITING.contains(&f.as_str()));
    // The innermost known function decides: a lock inside a file system counts as a lock.
    match outer.find_map(|f| {
        PLACES.iter().find(|(start, _)| f.trim_start_matches('_').starts_with(start.trim_start_matches('_')))
    }) {
        Some((_, what)) => what,
        None if is_io => "waits for a device",
        None => "waits",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reports(log: &str) -> Vec<Report> {
        let mut kernel = KernelReports::default();
        let lines = log.lines().map(|text| Record { level: 3, time_us: 0, text: text.to_owned() });
        let mut all: Vec<Report> = lines.flat_map(|r| kernel.take(&r, SystemTime::UNIX_EPOCH)).collect();
        all.extend(kernel.end());
        all
    }

    fn one(log: &str) -> Report {
        let mut all = reports(log);
        assert_eq!(all.len(), 1, "{all:#?}");
        all.remove(0)
    }

    fn fact<'a>(report: &'a Report, name: &str) -> Option<&'a str> {
        report.facts.iter().find(|(n, _)| *n == name).map(|(_, v)| v.as_str())
    }

    const OOPS: &str = "\
BUG: kernel NULL pointer dereference, address: 0000000000000008
#PF: supervisor read access in kernel mode
#PF: error_code(0x0000) - not-present page
PGD 0 P4D 0
Oops: Oops: 0000 [#1] SMP NOPTI
CPU: 1 UID: 0 PID: 4711 Comm: java worker Tainted: G           OE       6.18.5 #1
Hardware name: x
RIP: 0010:crash_read+0x5/0x10 [crasher]
Code: 0f 1f 44 00 00 <48> 8b 04 25 73 65 63 72 65 74
RSP: 0018:ffffc900 EFLAGS: 00010246
RAX: 7365637265742121 RBX: 0
Call Trace:
 <TASK>
 ? show_regs+0x1/0x2
 crash_read+0x5/0x10 [crasher]
 vfs_read+0xa1/0x2f0
 ksys_read+0x63/0xe0
 do_syscall_64+0x5e/0x90
 entry_SYSCALL_64_after_hwframe+0x76/0x7e
RIP: 0033:0x7f12
 </TASK>
Modules linked in: crasher(OE) nvme
---[ end trace 0000000000000000 ]---
RIP: 0010:crash_read+0x5/0x10 [crasher]
RSP: 0018:ffffc900
";

    #[test]
    fn joins_an_oops_to_one_report_of_names() {
        let report = one(OOPS);
        assert_eq!((report.kind, report.class.as_str()), (Kind::Oops, "null pointer in crasher"));
        assert_eq!(
            report.stack,
            ["crash_read [crasher]", "vfs_read", "ksys_read", "do_syscall_64", "entry_SYSCALL_64_after_hwframe"]
        );
        assert_eq!((fact(&report, "process"), fact(&report, "pid")), (Some("java worker"), Some("4711")));
        assert!(!format!("{report:?}").contains("73656372"), "{report:?}");
        // The same crash has the same signature at another address and in another process.
        let again = OOPS.replace("4711", "99").replace("+0x5/0x10", "+0x7/0x1f").replace("0000000000000008", "0010");
        assert_eq!(one(&again).signature, report.signature);
        assert_ne!(one(&OOPS.replace("vfs_read", "vfs_write")).signature, report.signature);
    }

    #[test]
    fn separates_two_oopses_in_a_row() {
        let both = format!("{OOPS}{}", OOPS.replace("crash_read", "crash_write"));
        let all = reports(&both);
        assert_eq!(all.len(), 2);
        assert_ne!(all[0].signature, all[1].signature);
        // The second begins before the first ends.
        let cut = OOPS.lines().take(16).collect::<Vec<_>>().join("\n");
        assert_eq!(reports(&format!("{cut}\n{OOPS}")).len(), 2);
    }

    #[test]
    fn reports_a_hung_task() {
        let log = "\
INFO: task kworker/u8:2:1234 blocked for more than 122 seconds.
      Not tainted 6.18.5 #1
\"echo 0 > /proc/sys/kernel/hung_task_timeout_secs\" disables this message.
task:kworker/u8:2    state:D stack:0     pid:1234  tgid:1234  ppid:2      flags:0x00004000
Call Trace:
 <TASK>
 __schedule+0x3cb/0x1440
 schedule+0x27/0x90
 io_schedule+0x46/0x70
 folio_wait_bit_common+0x13d/0x350
 ext4_readdir+0x1/0x2
 </TASK>
";
        let report = one(log);
        assert_eq!((report.kind, report.class.as_str()), (Kind::HungTask, "waits for a device"));
        assert_eq!(fact(&report, "process"), Some("kworker/u8:2"));
        for (frame, class) in [
            ("jbd2_log_wait_commit", "waits for the journal of ext4"),
            ("rwsem_down_write_slowpath", "waits for a lock of the kernel"),
            ("__mutex_lock.constprop.0", "waits for a lock of the kernel"),
            ("nfs4_proc_getattr [nfsv4]", "waits for a server of NFS"),
            ("pipe_read", "waits for a device"),
        ] {
            let (name, module) = frame.split_once(' ').unwrap_or((frame, ""));
            let other = log.replace("folio_wait_bit_common+0x13d/0x350", &format!("{name}+0x1/0x2 {module}"));
            assert_eq!(one(&other).class, class, "{frame}");
        }
        assert_eq!(reports(&format!("{log}{}", log.replace("1234", "77"))).len(), 2);
    }

    #[test]
    fn reports_kills_of_a_group_and_of_the_machine() {
        let log = "\
python3 invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0
CPU: 0 UID: 0 PID: 812 Comm: python3 Not tainted 6.18.5 #1
Call Trace:
 <TASK>
 dump_header+0x45/0x1b0
 try_charge_memcg+0x1/0x2
 </TASK>
memory: usage 20480kB, limit 20480kB, failcnt 44
Tasks state (memory values in pages):
[  pid  ]   uid  tgid total_vm      rss
oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,mems_allowed=0,oom_memcg=/a/b,task_memcg=/a/b,task=py (x),pid=813,uid=0
Memory cgroup out of memory: Killed process 813 (py (x)) total-vm:90000kB, anon-rss:20000kB, file-rss:10kB, shmem-rss:0kB, UID:0 pgtables:96kB oom_score_adj:0
oom_reaper: reaped process 813 (py (x)), now anon-rss:0kB, file-rss:0kB, shmem-rss:0kB
";
        let report = one(log);
        assert_eq!(report.title, "py (x) was killed: no memory left in /a/b");
        assert_eq!((fact(&report, "pid"), fact(&report, "anon-rss")), (Some("813"), Some("20000kB")));
        assert_eq!(report.stack, ["dump_header", "try_charge_memcg"]);
        let machine = "Out of memory: Killed process 5 (java) total-vm:1kB, anon-rss:2kB, file-rss:0kB";
        assert_eq!(one(machine).class, "the machine has no memory left");
        // No process was killed.
        assert_eq!(reports(&log.lines().take(9).collect::<Vec<_>>().join("\n")), []);
        assert_eq!(reports("someone wrote: Killed process 5 (java) x"), []);
    }

    /// Frames of the kernel's own reporting are skipped.
    #[test]
    fn skips_frames_of_the_reporting_code() {
        let report = one("\
BUG: KASAN: slab-out-of-bounds in crash_write+0x1b/0x30 [crasher]
Write of size 1 at addr ffff8880 by task sh/812
CPU: 0 UID: 0 PID: 812 Comm: sh Not tainted 6.18.5 #1
Call Trace:
 <TASK>
 dump_stack_lvl+0x53/0x70
 print_report+0xce/0x660
 kasan_report+0xda/0x110
 __asan_store1+0x6c/0x80
 crash_write+0x1b/0x30 [crasher]
 vfs_write+0x1/0x2
 </TASK>
");
        assert_eq!(
            (report.class.as_str(), report.stack[0].as_str()),
            ("memory used wrongly in crasher", "crash_write [crasher]")
        );
    }

    /// A late line does not belong to an open report, and neither does a new beginning.
    #[test]
    fn late_lines_begin_another_report() {
        let open = "watchdog: BUG: soft lockup - CPU#1 stuck for 26s! [java:77]\nRIP: 0010:spins+0x1/0x2";
        let mut kernel = KernelReports::default();
        let mut take = |text: &str, seconds: u64| {
            let record = Record { level: 3, time_us: 0, text: text.to_owned() };
            kernel.take(&record, SystemTime::UNIX_EPOCH + Duration::from_secs(seconds))
        };
        let lines: Vec<&str> = open.lines().collect();
        assert!(take(lines[0], 100).is_empty() && take(lines[1], 101).is_empty());
        let reports = take(" stranger+0x1/0x2", 4000);
        assert_eq!((reports.len(), &reports[0].stack), (1, &vec!["spins".to_owned()]));
        // Lines that arrive in quick succession still end after `REPORT_TIME`.
        take(lines[0], 5000);
        let reports: Vec<Report> = (5001..5060).flat_map(|second| take("usb 1-1: noise", second)).collect();
        assert_eq!(reports.len(), 1);
        let both = format!("{open}\n------------[ cut here ]------------\nWARNING: at x\n stranger+0x1/0x2");
        assert_eq!(one(&both).stack, ["spins"]);
    }

    #[test]
    fn parses_groups_with_odd_names() {
        let log = "x invoked oom-killer: a\noom-kill:constraint=CONSTRAINT_MEMCG,oom_memcg=/a,task_memcg=/a,b/é \
            c,task=j,a,pid=3,uid=0\nMemory cgroup out of memory: Killed process 3 (j,a) total-vm:1kB";
        assert_eq!(fact(&one(log), "cgroup"), Some("/a,b/é c"));
    }

    #[test]
    fn classifies_other_crashes() {
        for (text, class) in [
            (
                "watchdog: BUG: soft lockup - CPU#1 stuck for 26s! [java:77]",
                "a processor that is not given up in the kernel",
            ),
            ("kernel BUG at mm/slub.c:123!", "an assertion in the kernel"),
            ("Kernel panic - not syncing: Fatal exception", "panic in the kernel"),
            (
                "Oops: general protection fault, probably for non-canonical address 0xdead: 0000 [#1] SMP",
                "bad address in the kernel",
            ),
            ("divide error: 0000 [#1] SMP", "division by zero in the kernel"),
        ] {
            let report = one(text);
            assert_eq!((report.kind, report.class.as_str()), (Kind::Oops, class));
        }
        let ordinary = "usb 1-1: new device\nWARNING: CPU: 0 PID: 1 at x.c:1 f+0x1/0x2\nCall Trace:\n \
            f+0x1/0x2\nINFO: lockdep is off\n";
        assert_eq!(reports(ordinary), []);
    }

    /// No input panics.
    #[test]
    fn truncated_logs_never_panic() {
        for cut in 0..OOPS.len() {
            reports(&OOPS[..cut]);
            reports(&OOPS[cut..]);
        }
    }
}
