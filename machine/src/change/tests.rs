//! Changes and their ways back on machines made of files, with each way to fail and to be killed.

use std::fs;
use std::path::PathBuf;

use yunti_settings::tree::Tree;
use yunti_settings::{Wanted, named};

use super::apply::{apply, put_back};
use super::files::Files;
use super::journal::{Journal, State};
use super::undo::{Which, changed_since, chosen, settle, undo};

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

    fn wanted(&self, name: &str, value: &str) -> Wanted {
        named(&self.files.system, name).unwrap().wanted(&self.files.system, value).unwrap()
    }

    fn apply(&self, name: &str, value: &str) -> yunti_base::Result<u64> {
        apply(&mut self.journal(), &self.files, name, &self.wanted(name, value))
    }

    fn value(&self, path: &str) -> String {
        self.files.value(path).unwrap()
    }

    fn states(&self) -> Vec<State> {
        self.journal().changes.iter().map(|c| c.state).collect()
    }

    fn undo(&self, which: &Which, is_forced: bool) -> yunti_base::Result<usize> {
        let mut journal = self.journal();
        let chosen = chosen(&journal.changes, which);
        chosen.iter().try_for_each(|change| undo(&mut journal, &self.files, change, is_forced))?;
        Ok(chosen.len())
    }
}

#[test]
fn there_and_back_again() {
    let machine = Machine::new();
    machine.apply("swappiness", "10").unwrap();
    machine.apply("swappiness", "5").unwrap();
    machine.apply("cpu-governor", "performance").unwrap();
    assert_eq!(machine.value("sys/devices/system/cpu/cpu1/cpufreq/scaling_governor"), "performance");
    assert_eq!(machine.undo(&Which::Named("swappiness"), false).unwrap(), 1);
    assert_eq!(machine.value(SWAPPINESS), "10");
    assert_eq!(machine.states(), [State::Done, State::Undone, State::Done]);
    assert_eq!(machine.undo(&Which::All, false).unwrap(), 2);
    assert_eq!(machine.value(SWAPPINESS), "60");
    assert_eq!(machine.value("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"), "powersave");
    assert_eq!(machine.undo(&Which::Last, false).unwrap(), 0);
}

/// The n-th write fails: what is before it goes back.
#[test]
fn all_of_its_files_or_none() {
    for fails_from in 0..2 {
        let machine = Machine::new();
        machine.files.fails_from.set(Some(fails_from));
        let journal = &mut machine.journal();
        let wanted = machine.wanted("cpu-governor", "performance");
        let error = apply(journal, &machine.files, "cpu-governor", &wanted).unwrap_err();
        machine.files.fails_from.set(None);
        // All writes fail from there on, the way back too: that is told.
        let is_back = fails_from == 0;
        assert_eq!(error.to_string().contains("nothing is changed"), is_back, "{error}");
        assert_eq!(machine.files.hold(&wanted.old), is_back);
        drop(put_back(&machine.files, &wanted));
        assert!(machine.files.hold(&wanted.old));
    }
    // A file that may not be written: the first is put back.
    let machine = Machine::new();
    let wanted = machine.wanted("cpu-governor", "performance");
    let second = machine.tree.root().join("sys/devices/system/cpu/cpu1/cpufreq/scaling_governor");
    fs::remove_file(&second).unwrap();
    fs::create_dir(&second).unwrap();
    let first = "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor";
    assert!(apply(&mut machine.journal(), &machine.files, "cpu-governor", &wanted).is_err());
    assert_eq!((machine.value(first).as_str(), machine.states()), ("powersave", vec![State::Failed]));
}

#[test]
fn the_form_that_was_in_force_comes_back() {
    let machine = Machine::new();
    machine.apply("dirty-limit", "1G").unwrap();
    assert_eq!(machine.value("proc/sys/vm/dirty_bytes"), "1073741824");
    // As the kernel does it.
    machine.tree.write("proc/sys/vm/dirty_ratio", "0\n");
    machine.tree.write("proc/sys/vm/dirty_background_ratio", "0\n");
    assert_eq!(machine.undo(&Which::Last, false).unwrap(), 1);
    assert_eq!(machine.value("proc/sys/vm/dirty_ratio"), "20");
    assert_eq!(machine.value("proc/sys/vm/dirty_background_ratio"), "10");
}

#[test]
fn what_somebody_else_has_set_since_stays() {
    let machine = Machine::new();
    machine.apply("swappiness", "10").unwrap();
    machine.tree.write(SWAPPINESS, "33\n");
    let error = machine.undo(&Which::Last, false).unwrap_err();
    assert!(error.to_string().contains("is 33 now") && error.to_string().contains("--force"), "{error}");
    assert_eq!((machine.value(SWAPPINESS).as_str(), machine.states()), ("33", vec![State::Done]));
    assert!(changed_since(&machine.files, &machine.journal().changes[0]).is_some());
    machine.undo(&Which::Last, true).unwrap();
    assert_eq!(machine.value(SWAPPINESS), "60");
}

#[test]
fn after_a_start_of_the_machine_nothing_is_undone() {
    let machine = Machine::new();
    machine.apply("swappiness", "10").unwrap();
    machine.tree.write(BOOT, "two\n");
    machine.tree.write(SWAPPINESS, "60\n");
    let told = settle(&mut machine.journal(), &machine.files).unwrap();
    assert!(told.len() == 1 && told[0].contains("started anew"), "{told:?}");
    assert_eq!((machine.undo(&Which::All, false).unwrap(), machine.states()), (0, vec![State::Gone]));
}

/// Killed after each step: what the next one makes of it.
#[test]
fn one_who_did_not_end() {
    let governor = |n| format!("sys/devices/system/cpu/cpu{n}/cpufreq/scaling_governor");
    for (written, state, value) in
        [(0, State::Failed, "powersave"), (1, State::Failed, "powersave"), (2, State::Done, "performance")]
    {
        let machine = Machine::new();
        let wanted = machine.wanted("cpu-governor", "performance");
        machine.journal().intend("cpu-governor", &wanted, "one").unwrap();
        wanted.writes.iter().take(written).for_each(|w| machine.files.write(w).unwrap());
        assert_eq!(settle(&mut machine.journal(), &machine.files).unwrap().len(), 1);
        assert_eq!((machine.states(), machine.value(&governor(0)).as_str()), (vec![state], value), "{written}");
        assert_eq!(machine.value(&governor(0)), machine.value(&governor(1)));
        // Once.
        assert_eq!(settle(&mut machine.journal(), &machine.files).unwrap().len(), 0);
    }
    for restored in 0..=2 {
        let machine = Machine::new();
        machine.apply("cpu-governor", "performance").unwrap();
        let mut journal = machine.journal();
        journal.note(1, State::Undoing, None).unwrap();
        let wanted = journal.changes[0].wanted.clone();
        drop(journal);
        wanted.restore.iter().take(restored).for_each(|w| machine.files.write(w).unwrap());
        settle(&mut machine.journal(), &machine.files).unwrap();
        assert!(machine.files.hold(&wanted.old) && machine.states() == [State::Undone], "{restored}");
    }
}

/// Cut anywhere, the journal can be read, and what comes is read again.
#[test]
fn a_journal_that_was_cut_off() {
    let machine = Machine::new();
    machine.apply("swappiness", "10").unwrap();
    machine.apply("swappiness", "20").unwrap();
    let whole = fs::read(&machine.path).unwrap();
    for cut in 0..whole.len() {
        fs::write(&machine.path, &whole[..cut]).unwrap();
        let (before, _) = Journal::look(&machine.path).unwrap();
        // What is read is what was written: the first is there when its line is whole.
        let first_line = whole.iter().position(|b| *b == b'\n').unwrap();
        assert_eq!(before.is_empty(), cut < first_line, "{cut}");
        machine.tree.write(SWAPPINESS, "20\n");
        let id = machine.apply("swappiness", "30").unwrap();
        let (after, torn) = Journal::look(&machine.path).unwrap();
        assert_eq!((after.len(), after.last().unwrap().state), (before.len() + 1, State::Done));
        assert!(torn <= 1 && after.iter().all(|c| c.id <= id));
    }
    fs::write(&machine.path, b"\xff\xfe{}\n[1]\n{\"id\":9,\"state\":\"done\"}\n\n").unwrap();
    assert_eq!(Journal::look(&machine.path).unwrap(), (Vec::new(), 3));
}

/// Whatever has become of the journal: no file but the kernel's settings is written, no number is taken twice, and it goes on.
#[test]
fn a_journal_that_is_damaged() {
    let machine = Machine::new();
    machine.apply("swappiness", "10").unwrap();
    let line = fs::read_to_string(&machine.path).unwrap().lines().next().unwrap().to_owned();
    for wrong in
        ["/etc/passwd", "/proc/sys/../../etc/passwd", "/sys//x", "//etc/passwd", "/proc/self/mem", "sys/x", "/"]
    {
        let told = line.replace("/proc/sys/vm/swappiness", wrong).replace("\"id\":1", "\"id\":7");
        fs::write(&machine.path, format!("{told}\n{{\"id\":7,\"state\":\"done\"}}\n")).unwrap();
        assert_eq!(Journal::look(&machine.path).unwrap(), (Vec::new(), 2), "{wrong}");
    }
    // The largest number, and one that is there already.
    let largest = line.replace("\"id\":1", &format!("\"id\":{}", u64::MAX));
    let second = line.replace("\"id\":1", "\"id\":9");
    fs::write(&machine.path, format!("{second}\n{line}\n{largest}\n{line}\n")).unwrap();
    let journal = machine.journal();
    assert_eq!((journal.changes.len(), journal.torn), (2, 2));
    drop(journal);
    machine.tree.write(SWAPPINESS, "60\n");
    settle(&mut machine.journal(), &machine.files).unwrap();
    assert_eq!(machine.apply("swappiness", "20").unwrap(), 10);
}

/// Killed in its middle, and then somebody else has set it: his value stays until he who undoes wants that.
#[test]
fn one_who_did_not_end_and_somebody_else() {
    for is_undoing in [false, true] {
        let machine = Machine::new();
        let wanted = machine.wanted("swappiness", "10");
        let mut journal = machine.journal();
        let id = journal.intend("swappiness", &wanted, "one").unwrap();
        if is_undoing {
            journal.note(id, State::Done, None).unwrap();
            journal.note(id, State::Undoing, None).unwrap();
        }
        drop(journal);
        machine.tree.write(SWAPPINESS, "33\n");
        let told = settle(&mut machine.journal(), &machine.files).unwrap();
        assert!(told.len() == 1 && told[0].contains("--force"), "{told:?}");
        assert_eq!((machine.value(SWAPPINESS).as_str(), machine.states()), ("33", vec![State::Done]));
        assert!(machine.undo(&Which::Last, false).is_err());
        machine.undo(&Which::Last, true).unwrap();
        assert_eq!((machine.value(SWAPPINESS).as_str(), machine.states()), ("60", vec![State::Undone]));
    }
}

/// A disk that was taken away takes its changes with it, and keeps nobody from undoing others.
#[test]
fn a_disk_that_is_gone() {
    const AHEAD: &str = "sys/block/sdz/queue/read_ahead_kb";
    let machine = Machine::new();
    machine.tree.write(AHEAD, "128\n");
    machine.apply("swappiness", "10").unwrap();
    machine.apply("read-ahead:sdz", "512").unwrap();
    fs::remove_dir_all(machine.tree.root().join("sys/block/sdz")).unwrap();
    assert_eq!(settle(&mut machine.journal(), &machine.files).unwrap().len(), 1);
    assert_eq!(machine.states(), [State::Done, State::Gone]);
    assert_eq!(machine.undo(&Which::Last, false).unwrap(), 1);
    assert_eq!(machine.value(SWAPPINESS), "60");
}

/// What cannot be put back is told, and keeps nobody from others.
#[test]
fn one_who_did_not_end_and_a_file_that_cannot_be_written() {
    let machine = Machine::new();
    let wanted = machine.wanted("cpu-governor", "performance");
    machine.journal().intend("cpu-governor", &wanted, "one").unwrap();
    machine.files.write(&wanted.writes[0]).unwrap();
    machine.files.fails_from.set(Some(0));
    let told = settle(&mut machine.journal(), &machine.files).unwrap();
    machine.files.fails_from.set(None);
    assert!(told.len() == 1 && told[0].contains("could not be put back"), "{told:?}");
    machine.apply("swappiness", "10").unwrap();
    settle(&mut machine.journal(), &machine.files).unwrap();
    assert_eq!(machine.states(), [State::Failed, State::Done]);
}

#[test]
fn one_at_a_time() {
    let machine = Machine::new();
    let held = machine.journal();
    let error = Journal::open(&machine.path).err().unwrap();
    assert!(error.to_string().contains("another yunti machine"), "{error}");
    drop(held);
    machine.journal();
}
