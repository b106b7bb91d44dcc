//! `yunti machine settings`, `apply`, `undo` and `journal`: changes that are asked for one by one, and can be undone.

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::{Value, json};
use yunti_base::{Code, Error, Result};
use yunti_program::failure::Outcome;
use yunti_program::terminal::stdout;
use yunti_settings::{Advice, Setting, System, Takes, Wanted, Write};

use crate::change::apply::apply;
use crate::change::files::Files;
use crate::change::journal::{self, Change, Journal, State};
use crate::change::undo::{Which, changed_since, chosen, settle, undo};

/// Says what is set, and what should be here; `yunti machine doctor` measures what it can of it
#[derive(Debug, Args)]
pub struct SettingsFlags {
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    machine: MachineFlags,
}

/// Changes one setting until the machine is started anew, or `yunti machine undo`
#[derive(Debug, Args)]
pub struct ApplyFlags {
    /// Which, of `yunti machine settings`; with =VALUE another one than is recommended
    #[arg(value_name = "NAME[=VALUE]")]
    what: String,
    #[command(flatten)]
    how: HowFlags,
}

/// Brings back what was before the last change, or the last one of a setting, or before all
#[derive(Debug, Args)]
pub struct UndoFlags {
    #[arg(value_name = "NAME", conflicts_with = "all")]
    name: Option<String>,
    /// All that the journal has, the last first
    #[arg(long)]
    all: bool,
    /// Though somebody else has changed it since
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    how: HowFlags,
}

/// Says what was changed and undone
#[derive(Debug, Args)]
pub struct JournalFlags {
    #[arg(long, value_name = "FILE", default_value = journal::USUAL)]
    journal: PathBuf,
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
struct MachineFlags {
    /// Where proc and sys are
    #[arg(long, value_name = "DIR", hide = true, default_value = "/")]
    root: PathBuf,
}

#[derive(Debug, Args)]
struct HowFlags {
    /// Only say what would be done
    #[arg(long)]
    dry_run: bool,
    /// Where changes are written down
    #[arg(long, value_name = "FILE", default_value = journal::USUAL)]
    journal: PathBuf,
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
        "recommended": setting.recommended, "why": setting.why, "cost": setting.cost, "can_be_changed": setting.takes != Takes::Nothing,
    })
}

/// What a request comes to, as things are now.
enum Plan {
    Change(Setting, Wanted),
    Nothing(Setting, String),
}

fn plan(files: &Files, name: &str, value: Option<&str>) -> Result<Plan> {
    let setting = yunti_settings::named(&files.system, name).ok_or_else(|| unknown(&files.system, name))?;
    let Some(value) = value.or(setting.recommended.as_deref()) else {
        let nothing =
            format!("{}: {}: nothing is to be changed here; NAME=VALUE sets another one.", setting.name, setting.now);
        return Ok(Plan::Nothing(setting, nothing));
    };
    let wanted = setting
        .wanted(&files.system, value)
        .map_err(|why| Error::new(Code::Usage, format!("{}: {why}", setting.name)))?;
    if files.hold(&wanted.writes) {
        let nothing = format!("{}: it is {value} already.", setting.name);
        return Ok(Plan::Nothing(setting, nothing));
    }
    Ok(Plan::Change(setting, wanted))
}

pub fn apply_one(flags: &ApplyFlags) -> Outcome {
    let files = Files::below(&flags.how.machine.root);
    let (name, value) = flags.what.split_once('=').map_or((&*flags.what, None), |(n, v)| (n, Some(v)));
    let mut planned = plan(&files, name, value)?;
    let mut journal = None;
    if !flags.how.dry_run && matches!(planned, Plan::Change(..)) {
        flags.how.may_change()?;
        journal = Some(opened(&flags.how, &files)?);
        // While we waited for the journal somebody may have changed it: what is there now is what comes back.
        planned = plan(&files, name, value)?;
    }
    let (setting, wanted) = match planned {
        Plan::Change(setting, wanted) => (setting, wanted),
        Plan::Nothing(setting, why) => return tell(flags.how.json, "nothing", &why, &setting.name, None, None),
    };
    let Some(mut journal) = journal else {
        let would = format!("{}: would be changed:\n{}", setting.name, lines(&wanted.old, &wanted.writes));
        return tell(flags.how.json, "dry run", &would, &setting.name, Some(&wanted), None);
    };
    let id = apply(&mut journal, &files, &setting.name, &wanted)?;
    let text = format!(
        "{}: changed, until the machine is started anew or `yunti machine undo {}`:\n{}{}",
        setting.name,
        setting.name,
        lines(&wanted.old, &wanted.writes),
        kept(&wanted.writes)
    );
    tell(flags.how.json, "changed", &text, &setting.name, Some(&wanted), Some(id))
}

fn unknown(system: &System, name: &str) -> Error {
    let all = yunti_settings::all(system);
    let several: Vec<&str> = all.iter().map(|s| &*s.name).filter(|n| n.split(':').next() == Some(name)).collect();
    let error = Error::new(Code::Input, format!("there is no setting '{name}' here"));
    match several.len() {
        0 => error.hint("yunti machine settings lists them"),
        _ => error.hint(format!("say which: {}", several.join(", "))),
    }
}

fn lines(before: &[Write], after: &[Write]) -> String {
    let before = before.iter().map(|w| (&w.path, &w.value));
    let pairs = before.zip(after).map(|((path, old), new)| {
        format!("  /{path}: {} -> {}\n", old.replace('\t', " "), new.value.replace('\t', " "))
    });
    pairs.collect()
}

/// What would keep it after a start of the machine: of sysctl(8) alone there is one way on all systems.
fn kept(writes: &[Write]) -> String {
    let sysctl = |w: &Write| {
        let name = w.path.strip_prefix("proc/sys/")?.replace('/', ".");
        Some(format!("  {name} = {}\n", w.value.replace('\t', " ")))
    };
    match writes.iter().map(sysctl).collect::<Option<String>>() {
        Some(text) => format!("To keep it: into a file of /etc/sysctl.d\n{text}"),
        None => {
            "To keep it: a rule of udev, or a unit that runs this command after the start of the machine.\n".to_owned()
        }
    }
}

fn opened(how: &HowFlags, files: &Files) -> Result<Journal> {
    let mut journal = Journal::open(&how.journal)?;
    if journal.torn > 0 {
        eprintln!("{} lines of the journal are cut off, and passed over", journal.torn);
    }
    settle(&mut journal, files)?.iter().for_each(|told| eprintln!("{told}"));
    Ok(journal)
}

fn tell(as_json: bool, state: &str, text: &str, name: &str, wanted: Option<&Wanted>, id: Option<u64>) -> Outcome {
    if !as_json {
        return stdout::print(&format!("{}\n", text.trim_end()));
    }
    let list = |writes: &[Write]| -> Value {
        writes.iter().map(|w| json!({"file": format!("/{}", w.path), "value": w.value})).collect()
    };
    stdout::print_json(&json!({
        "state": state, "name": name, "id": id, "old": wanted.map(|w| list(&w.old)), "new": wanted.map(|w| list(&w.writes)),
    }))
}

pub fn undo_some(flags: &UndoFlags) -> Outcome {
    let files = Files::below(&flags.how.machine.root);
    let which = match &flags.name {
        Some(name) => Which::Named(name),
        None if flags.all => Which::All,
        None => Which::Last,
    };
    let (mut undone, mut refused): (Vec<Change>, Vec<(String, Error)>) = (Vec::new(), Vec::new());
    if flags.how.dry_run {
        let (changes, _) = Journal::look(&flags.how.journal)?;
        let here: Vec<Change> = changes.into_iter().filter(|change| change.boot == files.boot()).collect();
        undone = chosen(&here, &which);
        for change in &undone {
            changed_since(&files, change)
                .iter()
                .for_each(|why| eprintln!("{}: somebody has changed it since: {why}", change.name));
        }
    } else {
        flags.how.may_change()?;
        let mut journal = opened(&flags.how, &files)?;
        for change in chosen(&journal.changes, &which) {
            // One that cannot be undone keeps what was before it; other settings do not wait for it.
            if refused.iter().any(|(name, _)| *name == change.name) {
                continue;
            }
            match undo(&mut journal, &files, &change, flags.force) {
                Ok(()) => undone.push(change),
                Err(error) => refused.push((change.name, error)),
            }
        }
    }
    tell_undone(flags, &undone, !refused.is_empty())?;
    let mut refused = refused.into_iter().map(|(_, error)| error);
    match refused.next() {
        None => Ok(()),
        Some(first) => {
            refused.for_each(|error| eprintln!("{error}"));
            Err(first.into())
        }
    }
}

fn tell_undone(flags: &UndoFlags, undone: &[Change], is_refused: bool) -> Outcome {
    if flags.how.json {
        let names = undone.iter().map(|c| json!({"id": c.id, "name": c.name})).collect::<Vec<_>>();
        return stdout::print_json(
            &json!({"state": if flags.how.dry_run { "dry run" } else { "undone" }, "undone": names}),
        );
    }
    if undone.is_empty() {
        return if is_refused { Ok(()) } else { stdout::print("nothing is to be undone.\n") };
    }
    let word = if flags.how.dry_run { "would be undone" } else { "undone" };
    let told = undone
        .iter()
        .map(|change| format!("{}: {word}:\n{}", change.name, lines(&change.wanted.writes, &change.wanted.old)));
    stdout::print(&told.collect::<String>())
}

pub fn show_journal(flags: &JournalFlags) -> Outcome {
    let (changes, torn) = Journal::look(&flags.journal)?;
    if flags.json {
        let list = changes
            .iter()
            .map(|c| json!({"id": c.id, "name": c.name, "time": c.time, "boot": c.boot, "state": c.state.name()}));
        return stdout::print_json(&json!({"changes": list.collect::<Vec<_>>(), "lines_cut_off": torn}));
    }
    let told = changes.iter().map(|c| {
        let head = format!("{:>4}  {}  {:<8}  {}\n", c.id, c.time, c.state.name(), c.name);
        if c.state == State::Done { head + &lines(&c.wanted.old, &c.wanted.writes) } else { head }
    });
    let text: String = told.collect();
    stdout::print(if text.is_empty() { "nothing was changed.\n" } else { &text })
}
