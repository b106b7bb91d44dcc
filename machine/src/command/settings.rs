//! `yunti machine settings`, `apply`, `undo` and `journal`: single changes that can be undone.

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::{Value, json};
use yunti_base::{Code, Error, Result};
use yunti_program::failure::Outcome;
use yunti_program::terminal::stdout;
use yunti_settings::{Advice, Change, Setting, System, Values, Write};

use crate::change::apply::apply;
use crate::change::files::Files;
use crate::change::journal::{self, Entry, Journal, State};
use crate::change::undo::{Selection, changed_since, select, settle, undo};

/// List the settings and better values for this machine; `yunti machine doctor` also measures
#[derive(Debug, Args)]
pub struct SettingsFlags {
    /// Print one JSON document
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    machine: MachineFlags,
}

/// Change one setting until the next boot, or until `yunti machine undo`
#[derive(Debug, Args)]
pub struct ApplyFlags {
    /// Setting, as `yunti machine settings` lists it; with =VALUE another value than the recommended one
    #[arg(value_name = "NAME[=VALUE]")]
    what: String,
    #[command(flatten)]
    how: HowFlags,
}

/// Restore the value from before the last change, of one setting, or of all
#[derive(Debug, Args)]
pub struct UndoFlags {
    /// Restore this setting
    #[arg(value_name = "NAME", conflicts_with = "all")]
    name: Option<String>,
    /// Restore all changes in the journal, the last first
    #[arg(long)]
    all: bool,
    /// Restore even if another program has changed the value since
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    how: HowFlags,
}

/// List the changes and their state
#[derive(Debug, Args)]
pub struct JournalFlags {
    /// Journal of changes
    #[arg(long, value_name = "FILE", default_value = journal::DEFAULT_PATH)]
    journal: PathBuf,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
struct MachineFlags {
    /// Folder with proc and sys
    #[arg(long, value_name = "DIR", hide = true, default_value = "/")]
    root: PathBuf,
}

#[derive(Debug, Args)]
struct HowFlags {
    /// Only print the writes
    #[arg(long)]
    dry_run: bool,
    /// Journal of changes
    #[arg(long, value_name = "FILE", default_value = journal::DEFAULT_PATH)]
    journal: PathBuf,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    machine: MachineFlags,
}

impl HowFlags {
    fn may_change(&self) -> Result<()> {
        let is_own = self.machine.root != Path::new("/");
        if is_own || rustix::process::geteuid().is_root() {
            return Ok(());
        }
        Err(Error::new(Code::Output, "only root can change settings of the machine").hint("sudo, or --dry-run"))
    }
}

/// Prints the settings.
pub fn settings(flags: &SettingsFlags) -> Outcome {
    let all = yunti_settings::all(&System::at(&flags.machine.root));
    if flags.json {
        return stdout::print_json(&json!({"settings": all.iter().map(document).collect::<Vec<_>>()}));
    }
    let width = all.iter().map(|s| s.name.len()).max().unwrap_or(0);
    let mut text = String::new();
    for setting in &all {
        let better = setting.recommended.as_ref().map(|value| format!("; better {value}")).unwrap_or_default();
        text += &format!("{:<7}  {:<width$}  {}{better}\n", level(setting.advice), setting.name, setting.now);
    }
    for setting in all.iter().filter(|s| s.advice != Advice::Keep) {
        text += &format!("\n{}: {}.\n", setting.name, setting.why);
        text += &format!("  costs:  {}\n  change: yunti machine apply {}\n", setting.cost, setting.name);
    }
    stdout::print(&text)
}

fn level(advice: Advice) -> &'static str {
    match advice {
        Advice::Keep => "ok",
        Advice::Consider => "note",
        Advice::Change => "WARNING",
    }
}

fn document(setting: &Setting) -> Value {
    json!({
        "name": setting.name, "area": setting.area, "now": setting.now, "level": level(setting.advice).to_lowercase(),
        "recommended": setting.recommended, "why": setting.why, "cost": setting.cost,
        "can_be_changed": setting.values != Values::Nothing,
    })
}

/// Plan for a requested change in the present state.
enum Plan {
    Change(Setting, Change),
    Nothing(Setting, String),
}

fn plan(files: &Files, name: &str, value: Option<&str>) -> Result<Plan> {
    let setting = yunti_settings::named(&files.system, name).ok_or_else(|| unknown(&files.system, name))?;
    let Some(value) = value.or(setting.recommended.as_deref()) else {
        let nothing = format!(
            "{}: {}: no better value for this machine; NAME=VALUE sets another one.",
            setting.name, setting.now
        );
        return Ok(Plan::Nothing(setting, nothing));
    };
    let change = setting
        .change_to(&files.system, value)
        .map_err(|why| Error::new(Code::Usage, format!("{}: {why}", setting.name)))?;
    if files.hold(&change.writes) {
        let nothing = format!("{}: already {value}.", setting.name);
        return Ok(Plan::Nothing(setting, nothing));
    }
    Ok(Plan::Change(setting, change))
}

/// Applies one change, and prints it.
pub fn apply_one(flags: &ApplyFlags) -> Outcome {
    let files = Files::below(&flags.how.machine.root);
    let (name, value) = flags.what.split_once('=').map_or((&*flags.what, None), |(n, v)| (n, Some(v)));
    let mut planned = plan(&files, name, value)?;
    let mut journal = None;
    if !flags.how.dry_run && matches!(planned, Plan::Change(..)) {
        flags.how.may_change()?;
        journal = Some(open_journal(&flags.how, &files)?);
        // Another process may have changed it while this one waited for the journal: the value of now is the one to
        // restore.
        planned = plan(&files, name, value)?;
    }
    let (setting, change) = match planned {
        Plan::Change(setting, change) => (setting, change),
        Plan::Nothing(setting, why) => return report(flags.how.json, "nothing", &why, &setting.name, None, None),
    };
    let Some(mut journal) = journal else {
        let would = format!("{}: would be changed:\n{}", setting.name, lines(&change.old, &change.writes));
        return report(flags.how.json, "dry run", &would, &setting.name, Some(&change), None);
    };
    let id = apply(&mut journal, &files, &setting.name, &change)?;
    let text = format!(
        "{}: changed until the next boot or `yunti machine undo {}`:\n{}{}",
        setting.name,
        setting.name,
        lines(&change.old, &change.writes),
        kept(&change.writes)
    );
    report(flags.how.json, "changed", &text, &setting.name, Some(&change), Some(id))
}

fn unknown(system: &System, name: &str) -> Error {
    let all = yunti_settings::all(system);
    let several: Vec<&str> = all.iter().map(|s| &*s.name).filter(|n| n.split(':').next() == Some(name)).collect();
    let error = Error::new(Code::Input, format!("unknown setting '{name}'"));
    match several.len() {
        0 => error.hint("yunti machine settings lists them"),
        _ => error.hint(format!("use one of {}", several.join(", "))),
    }
}

fn lines(before: &[Write], after: &[Write]) -> String {
    let before = before.iter().map(|w| (&w.path, &w.value));
    let pairs = before.zip(after).map(|((path, old), new)| {
        format!("  /{path}: {} -> {}\n", old.replace('\t', " "), new.value.replace('\t', " "))
    });
    pairs.collect()
}

/// Text on how to keep a change after a reboot. Only sysctl(8) has one way on all systems.
fn kept(writes: &[Write]) -> String {
    let sysctl = |w: &Write| {
        let name = w.path.strip_prefix("proc/sys/")?.replace('/', ".");
        Some(format!("  {name} = {}\n", w.value.replace('\t', " ")))
    };
    match writes.iter().map(sysctl).collect::<Option<String>>() {
        Some(text) => format!("To keep it after a reboot, add this to a file of /etc/sysctl.d:\n{text}"),
        None => {
            "To keep it after a reboot, use a udev rule, or a systemd unit that runs this command at boot.\n".to_owned()
        }
    }
}

fn open_journal(how: &HowFlags, files: &Files) -> Result<Journal> {
    let mut journal = Journal::open(&how.journal)?;
    if journal.torn > 0 {
        eprintln!("{} lines of the journal are cut off, and were skipped", journal.torn);
    }
    settle(&mut journal, files)?.iter().for_each(|message| eprintln!("{message}"));
    Ok(journal)
}

fn report(as_json: bool, state: &str, text: &str, name: &str, change: Option<&Change>, id: Option<u64>) -> Outcome {
    if !as_json {
        return stdout::print(&format!("{}\n", text.trim_end()));
    }
    let list = |writes: &[Write]| -> Value {
        writes.iter().map(|w| json!({"file": format!("/{}", w.path), "value": w.value})).collect()
    };
    stdout::print_json(&json!({
        "state": state, "name": name, "id": id, "old": change.map(|w| list(&w.old)),
        "new": change.map(|w| list(&w.writes)),
    }))
}

/// Undoes the selected changes, and prints them.
pub fn undo_some(flags: &UndoFlags) -> Outcome {
    let files = Files::below(&flags.how.machine.root);
    let name = flags.name.as_deref().map(|name| named_in(&files.system, &flags.how.journal, name)).transpose()?;
    let selection = match &name {
        Some(name) => Selection::Named(name),
        None if flags.all => Selection::All,
        None => Selection::Last,
    };
    let (mut undone, mut refused): (Vec<Entry>, Vec<(String, Error)>) = (Vec::new(), Vec::new());
    if flags.how.dry_run {
        let (entries, _) = Journal::read_entries(&flags.how.journal)?;
        let here: Vec<Entry> = entries.into_iter().filter(|entry| entry.boot == files.boot()).collect();
        undone = select(&here, &selection);
        for entry in &undone {
            changed_since(&files, entry)
                .iter()
                .for_each(|why| eprintln!("{}: another program has changed it since: {why}", entry.name));
        }
    } else {
        flags.how.may_change()?;
        let mut journal = open_journal(&flags.how, &files)?;
        for entry in select(&journal.entries, &selection) {
            // A change that cannot be undone keeps the earlier ones of its setting; other settings go on.
            if refused.iter().any(|(name, _)| *name == entry.name) {
                continue;
            }
            match undo(&mut journal, &files, &entry, flags.force) {
                Ok(()) => undone.push(entry),
                Err(error) => refused.push((entry.name, error)),
            }
        }
    }
    report_undone(flags, name.as_deref(), &undone, !refused.is_empty())?;
    let mut refused = refused.into_iter().map(|(_, error)| error);
    match refused.next() {
        None => Ok(()),
        Some(first) => {
            refused.for_each(|error| eprintln!("{error}"));
            Err(first.into())
        }
    }
}

/// Returns the name under which the journal has a setting. Fails if neither the journal nor this machine knows it.
fn named_in(system: &System, journal: &Path, name: &str) -> Result<String> {
    let (entries, _) = Journal::read_entries(journal)?;
    // A disk may have been removed since the change of its setting.
    if entries.iter().any(|entry| entry.name == name) {
        return Ok(name.to_owned());
    }
    yunti_settings::named(system, name).map(|setting| setting.name).ok_or_else(|| unknown(system, name))
}

fn report_undone(flags: &UndoFlags, name: Option<&str>, undone: &[Entry], is_refused: bool) -> Outcome {
    if flags.how.json {
        let names = undone.iter().map(|c| json!({"id": c.id, "name": c.name})).collect::<Vec<_>>();
        return stdout::print_json(
            &json!({"state": if flags.how.dry_run { "dry run" } else { "undone" }, "undone": names}),
        );
    }
    if undone.is_empty() {
        let of = name.map(|name| format!("{name}: ")).unwrap_or_default();
        return if is_refused { Ok(()) } else { stdout::print(&format!("{of}nothing to undo.\n")) };
    }
    let word = if flags.how.dry_run { "would be undone" } else { "undone" };
    let changes = undone
        .iter()
        .map(|entry| format!("{}: {word}:\n{}", entry.name, lines(&entry.change.writes, &entry.change.old)));
    stdout::print(&changes.collect::<String>())
}

/// Prints the changes in the journal.
pub fn show_journal(flags: &JournalFlags) -> Outcome {
    let (entries, torn) = Journal::read_entries(&flags.journal)?;
    if flags.json {
        let list = entries
            .iter()
            .map(|c| json!({"id": c.id, "name": c.name, "time": c.time, "boot": c.boot, "state": c.state.name()}));
        return stdout::print_json(&json!({"changes": list.collect::<Vec<_>>(), "lines_cut_off": torn}));
    }
    let lines = entries.iter().map(|c| {
        let head = format!("{:>4}  {}  {:<8}  {}\n", c.id, c.time, c.state.name(), c.name);
        if c.state == State::Done { head + &lines(&c.change.old, &c.change.writes) } else { head }
    });
    let text: String = lines.collect();
    stdout::print(if text.is_empty() { "no changes.\n" } else { &text })
}
