//! Changes and their restoration on machines made of files, with each way to fail and to be killed.

use std::fs;
use std::path::PathBuf;

use yunti_settings::tree::Tree;
use yunti_settings::{Change, named};

use super::apply::{apply, put_back};
use super::files::Files;
use super::journal::{Journal, State};
use super::undo::{Selection, changed_since, select, settle, undo};

const BOOT: &str = "proc/sys/kernel/random/boot_id";
const SWAPPINESS: &str = "proc/sys/vm/swappiness";

struct Machine {
    tree: Tree,
    files: Files,
    path: PathBuf,
}

impl Machine {
    fn new() -> Machine {
        let tree = Tree::of(&[
            (BOOT, "one\n"),
            (SWAPPINESS, "60\n"),
            ("proc/sys/vm/dirty_ratio", "20\n"),
            ("proc/sys/vm/dirty_background_ratio", "10\n"),
            ("proc/sys/vm/dirty_bytes", "0\n"),
            ("proc/sys/vm/dirty_background_bytes", "0\n"),
            ("proc/meminfo", "MemTotal: 64000000 kB\nMemAvailable: 60000000 kB\nSwapTotal: 9 kB\n"),
            ("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n"),
            ("sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "powersave\n"),
            ("sys/devices/system/cpu/cpu0/cpufreq/scaling_available_governors", "performance powersave\n"),
        ]);
        let (files, path) = (Files::below(tree.root()), tree.root().join("var/journal.jsonl"));
        Machine { tree, files, path }
    }

    fn journal(&self) -> Journal {
        Journal::open(&self.path).unwrap()
    }

    fn change(&self, name: &str, value: &str) -> Change {
        named(&self.files.system, name).unwrap().change_to(&self.files.system, value).unwrap()
    }

    fn apply(&self, name: &str, value: &str) -> yunti_base::Result<u64> {
        apply(&mut self.journal(), &self.files, name, &self.change(name, value))
    }

    fn value(&self, path: &str) -> String {
        self.files.value(path).unwrap()
    }

    fn states(&self) -> Vec<State> {
        self.journal().entries.iter().map(|c| c.state).collect()
    }

    fn undo(&self, which: &Selection, is_forced: bool) -> yunti_base::Result<usize> {
        let mut journal = self.journal();
        let selected = select(&journal.entries, which);
        selected.iter().try_for_each(|entry| undo(&mut journal, &self.files, entry, is_forced))?;
        Ok(selected.len())
    }
}

#[test]
fn applies_and_undoes_changes() {
    let machine = Machine::new();
    machine.apply("swappiness", "10").unwrap();
    machine.apply("swappiness", "5").unwrap();
    machine.apply("cpu-governor", "performance").unwrap();
    assert_eq!(machine.value("sys/devices/system/cpu/cpu1/cpufreq/scaling_governor"), "performance");
    assert_eq!(machine.undo(&Selection::Named("swappiness"), false).unwrap(), 1);
    assert_eq!(machine.value(SWAPPINESS), "10");
    assert_eq!(machine.states(), [State::Done, State::Undone, State::Done]);
    assert_eq!(machine.undo(&Selection::All, false).unwrap(), 2);
    assert_eq!(machine.value(SWAPPINESS), "60");
    assert_eq!(machine.value("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"), "powersave");
    assert_eq!(machine.undo(&Selection::Last, false).unwrap(), 0);
}

/// If write number n fails, the files before it are restored.
#[test]
fn writes_all_files_or_none() {
    for fails_from in 0..2 {
        let machine = Machine::new();
        machine.files.fails_from.set(Some(fails_from));
        let journal = &mut machine.journal();
        let change = machine.change("cpu-governor", "performance");
        let error = apply(journal, &machine.files, "cpu-governor", &change).unwrap_err();
        machine.files.fails_from.set(None);
        // All later writes fail too, including the restoration, which the error reports.
        let is_back = fails_from == 0;
        assert_eq!(error.to_string().contains("nothing is changed"), is_back, "{error}");
        assert_eq!(machine.files.hold(&change.old), is_back);
        drop(put_back(&machine.files, &change));
        assert!(machine.files.hold(&change.old));
    }
    // The second file cannot be written, so the first is restored.
    let machine = Machine::new();
    let change = machine.change("cpu-governor", "performance");
    let second = machine.tree.root().join("sys/devices/system/cpu/cpu1/cpufreq/scaling_governor");
    fs::remove_file(&second).unwrap();
    fs::create_dir(&second).unwrap();
    let first = "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor";
    assert!(apply(&mut machine.journal(), &machine.files, "cpu-governor", &change).is_err());
    assert_eq!((machine.value(first).as_str(), machine.states()), ("powersave", vec![State::Failed]));
}

#[test]
fn restores_the_ratios_of_dirty_limits() {
    let machine = Machine::new();
    machine.apply("dirty-limit", "1G").unwrap();
    assert_eq!(machine.value("proc/sys/vm/dirty_bytes"), "1073741824");
    // The kernel does this too.
    machine.tree.write("proc/sys/vm/dirty_ratio", "0\n");
    machine.tree.write("proc/sys/vm/dirty_background_ratio", "0\n");
    assert_eq!(machine.undo(&Selection::Last, false).unwrap(), 1);
    assert_eq!(machine.value("proc/sys/vm/dirty_ratio"), "20");
    assert_eq!(machine.value("proc/sys/vm/dirty_background_ratio"), "10");
}

#[test]
fn keeps_values_that_others_have_set() {
    let machine = Machine::new();
    machine.apply("swappiness", "10").unwrap();
    machine.tree.write(SWAPPINESS, "33\n");
    let error = machine.undo(&Selection::Last, false).unwrap_err();
    assert!(error.to_string().contains("is 33 now") && error.to_string().contains("--force"), "{error}");
    assert_eq!((machine.value(SWAPPINESS).as_str(), machine.states()), ("33", vec![State::Done]));
    assert!(changed_since(&machine.files, &machine.journal().entries[0]).is_some());
    machine.undo(&Selection::Last, true).unwrap();
    assert_eq!(machine.value(SWAPPINESS), "60");
}

#[test]
fn undoes_nothing_after_a_reboot() {
    let machine = Machine::new();
    machine.apply("swappiness", "10").unwrap();
    machine.tree.write(BOOT, "two\n");
    machine.tree.write(SWAPPINESS, "60\n");
    let messages = settle(&mut machine.journal(), &machine.files).unwrap();
    assert!(messages.len() == 1 && messages[0].contains("rebooted"), "{messages:?}");
    assert_eq!((machine.undo(&Selection::All, false).unwrap(), machine.states()), (0, vec![State::Gone]));
}

/// A process killed after each step: the next one completes or restores its change.
#[test]
fn settles_a_killed_change() {
    let governor = |n| format!("sys/devices/system/cpu/cpu{n}/cpufreq/scaling_governor");
    for (written, state, value) in
        [(0, State::Failed, "powersave"), (1, State::Failed, "powersave"), (2, State::Done, "performance")]
    {
        let machine = Machine::new();
        let change = machine.change("cpu-governor", "performance");
        machine.journal().intend("cpu-governor", &change, "one").unwrap();
        change.writes.iter().take(written).for_each(|w| machine.files.write(w).unwrap());
        assert_eq!(settle(&mut machine.journal(), &machine.files).unwrap().len(), 1);
        assert_eq!((machine.states(), machine.value(&governor(0)).as_str()), (vec![state], value), "{written}");
        assert_eq!(machine.value(&governor(0)), machine.value(&governor(1)));
        // Only once.
        assert_eq!(settle(&mut machine.journal(), &machine.files).unwrap().len(), 0);
    }
    for restored in 0..=2 {
        let machine = Machine::new();
        machine.apply("cpu-governor", "performance").unwrap();
        let mut journal = machine.journal();
        journal.note(1, State::Undoing, None).unwrap();
        let change = journal.entries[0].change.clone();
        drop(journal);
        change.restore.iter().take(restored).for_each(|w| machine.files.write(w).unwrap());
        settle(&mut machine.journal(), &machine.files).unwrap();
        assert!(machine.files.hold(&change.old) && machine.states() == [State::Undone], "{restored}");
    }
}

/// The journal can be read and continued after a cut at any byte.
#[test]
fn continues_a_truncated_journal() {
    let machine = Machine::new();
    machine.apply("swappiness", "10").unwrap();
    machine.apply("swappiness", "20").unwrap();
    let whole = fs::read(&machine.path).unwrap();
    for cut in 0..whole.len() {
        fs::write(&machine.path, &whole[..cut]).unwrap();
        let (before, _) = Journal::read_entries(&machine.path).unwrap();
        // The first entry is read when its line is complete.
        let first_line = whole.iter().position(|b| *b == b'\n').unwrap();
        assert_eq!(before.is_empty(), cut < first_line, "{cut}");
        machine.tree.write(SWAPPINESS, "20\n");
        let id = machine.apply("swappiness", "30").unwrap();
        let (after, torn) = Journal::read_entries(&machine.path).unwrap();
        assert_eq!((after.len(), after.last().unwrap().state), (before.len() + 1, State::Done));
        assert!(torn <= 1 && after.iter().all(|c| c.id <= id));
    }
    fs::write(&machine.path, b"\xff\xfe{}\n[1]\n{\"id\":9,\"state\":\"done\"}\n\n").unwrap();
    assert_eq!(Journal::read_entries(&machine.path).unwrap(), (Vec::new(), 3));
}

/// A damaged journal writes only kernel settings, uses no number twice, and can be continued.
#[test]
fn survives_a_damaged_journal() {
    let machine = Machine::new();
    machine.apply("swappiness", "10").unwrap();
    let line = fs::read_to_string(&machine.path).unwrap().lines().next().unwrap().to_owned();
    for wrong in
        ["/etc/passwd", "/proc/sys/../../etc/passwd", "/sys//x", "//etc/passwd", "/proc/self/mem", "sys/x", "/"]
    {
        let damaged = line.replace("/proc/sys/vm/swappiness", wrong).replace("\"id\":1", "\"id\":7");
        fs::write(&machine.path, format!("{damaged}\n{{\"id\":7,\"state\":\"done\"}}\n")).unwrap();
        assert_eq!(Journal::read_entries(&machine.path).unwrap(), (Vec::new(), 2), "{wrong}");
    }
    // The largest number, and a number that exists.
    let largest = line.replace("\"id\":1", &format!("\"id\":{}", u64::MAX));
    let second = line.replace("\"id\":1", "\"id\":9");
    fs::write(&machine.path, format!("{second}\n{line}\n{largest}\n{line}\n")).unwrap();
    let journal = machine.journal();
    assert_eq!((journal.entries.len(), journal.torn), (2, 2));
    drop(journal);
    machine.tree.write(SWAPPINESS, "60\n");
    settle(&mut machine.journal(), &machine.files).unwrap();
    assert_eq!(machine.apply("swappiness", "20").unwrap(), 10);
}

/// A change was interrupted, and another program then set the value: it stays unless the user forces the undo.
#[test]
fn keeps_foreign_values_after_a_killed_change() {
    for is_undoing in [false, true] {
        let machine = Machine::new();
        let change = machine.change("swappiness", "10");
        let mut journal = machine.journal();
        let id = journal.intend("swappiness", &change, "one").unwrap();
        if is_undoing {
            journal.note(id, State::Done, None).unwrap();
            journal.note(id, State::Undoing, None).unwrap();
        }
        drop(journal);
        machine.tree.write(SWAPPINESS, "33\n");
        let messages = settle(&mut machine.journal(), &machine.files).unwrap();
        assert!(messages.len() == 1 && messages[0].contains("--force"), "{messages:?}");
        assert_eq!((machine.value(SWAPPINESS).as_str(), machine.states()), ("33", vec![State::Done]));
        assert!(machine.undo(&Selection::Last, false).is_err());
        machine.undo(&Selection::Last, true).unwrap();
        assert_eq!((machine.value(SWAPPINESS).as_str(), machine.states()), ("60", vec![State::Undone]));
    }
}

/// The changes of a removed disk end with it, and do not block the undo of others.
#[test]
fn forgets_changes_of_a_removed_disk() {
    const AHEAD: &str = "sys/block/sdz/queue/read_ahead_kb";
    let machine = Machine::new();
    machine.tree.write(AHEAD, "128\n");
    machine.apply("swappiness", "10").unwrap();
    machine.apply("read-ahead:sdz", "512").unwrap();
    fs::remove_dir_all(machine.tree.root().join("sys/block/sdz")).unwrap();
    assert_eq!(settle(&mut machine.journal(), &machine.files).unwrap().len(), 1);
    assert_eq!(machine.states(), [State::Done, State::Gone]);
    assert_eq!(machine.undo(&Selection::Last, false).unwrap(), 1);
    assert_eq!(machine.value(SWAPPINESS), "60");
}

/// A failed restoration is reported, and does not block other changes.
#[test]
fn reports_a_failed_restoration() {
    let machine = Machine::new();
    let change = machine.change("cpu-governor", "performance");
    machine.journal().intend("cpu-governor", &change, "one").unwrap();
    machine.files.write(&change.writes[0]).unwrap();
    machine.files.fails_from.set(Some(0));
    let messages = settle(&mut machine.journal(), &machine.files).unwrap();
    machine.files.fails_from.set(None);
    assert!(messages.len() == 1 && messages[0].contains("could not be restored"), "{messages:?}");
    machine.apply("swappiness", "10").unwrap();
    settle(&mut machine.journal(), &machine.files).unwrap();
    assert_eq!(machine.states(), [State::Failed, State::Done]);
}

#[test]
fn one_process_at_a_time() {
    let machine = Machine::new();
    let held = machine.journal();
    let error = Journal::open(&machine.path).err().unwrap();
    assert!(error.to_string().contains("another yunti machine"), "{error}");
    drop(held);
    machine.journal();
}
