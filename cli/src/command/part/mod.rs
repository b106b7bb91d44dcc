//! `yunti X` for an X that is a separate program: this process becomes `libexec/yunti-X`. Old spellings run the command
//! under its present name.

pub use yunti_outside::stores;

use std::ffi::{OsStr, OsString};
use std::os::unix::process::CommandExt;
use std::process::Command;

use yunti_base::{Code, Error};
use yunti_program::control_group::ControlGroup;
use yunti_program::part::{self, PARTS, Part};

use crate::failure::Outcome;

/// Commands of `yunti machine` that `yunti observe` had before.
const MOVED_FROM_OBSERVE: [&str; 5] = ["cache", "cgroup", "crash", "ext4", "net"];

/// Jaro-Winkler similarity (0 to 1) from which a word counts as a typing error.
const SIMILAR_MIN: f64 = 0.8;

/// Replaces this process by a part; returns only if the part cannot be executed. `arguments`: its name, then its own
/// arguments; `commands`: the commands of this program, for suggestions.
pub fn execute(arguments: &[OsString], commands: &[String]) -> Outcome {
    let mut arguments = respelled(arguments);
    let group = take_group(&mut arguments)?;
    let name = arguments.first().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    let program = match Part::named(&name) {
        Some(part) => part.installed()?,
        // A program in libexec that is not one of Yunti's parts.
        None => part::program(&name).ok_or_else(|| unknown(&name, commands))?,
    };
    let mut command = Command::new(&program);
    if let Some(group) = group {
        // The part's JVMs are then in the group from their start: they size heaps and threads by it.
        let folder = group.enter()?;
        // A JVM that waits in the pool is outside.
        command.env("YUNTI_CONTROL_GROUP", folder);
    }
    let error = command.args(&arguments[1..]).exec();
    Err(Error::io(Code::Usage, &format!("cannot execute yunti-{name}"), &error)
        .at_path(program.to_string_lossy())
        .hint("install it again")
        .into())
}

/// Returns a command in its present spelling: `host X` and `observe cache` are commands of `machine`.
fn respelled(arguments: &[OsString]) -> Vec<OsString> {
    let word = |n: usize| arguments.get(n).and_then(|word| word.to_str());
    let is_moved = match word(0) {
        Some("host") => true,
        Some("observe") => word(1).is_some_and(|command| MOVED_FROM_OBSERVE.contains(&command)),
        _ => false,
    };
    let mut arguments = arguments.to_vec();
    if is_moved {
        arguments[0] = OsStr::new("machine").to_os_string();
    }
    arguments
}

/// Takes the flag from `hadoop run --cgroup GROUP JAR ..`.
fn take_group(arguments: &mut Vec<OsString>) -> Result<Option<ControlGroup>, Error> {
    let word = |n: usize| arguments.get(n).and_then(|word| word.to_str());
    let (Some("hadoop"), Some("run"), Some(flag)) = (word(0), word(1), word(2)) else {
        return Ok(None);
    };
    let (group, words) = match flag.strip_prefix("--cgroup") {
        Some("") => (word(3).unwrap_or_default(), 2),
        Some(value) if value.starts_with('=') => (&value[1..], 1),
        _ => return Ok(None),
    };
    let group = group.parse().map_err(|why| Error::new(Code::Usage, format!("--cgroup: {why}")))?;
    arguments.drain(2..2 + words);
    Ok(Some(group))
}

/// Returns the known word that is most similar to a word with a typing error, if any is.
pub fn most_similar<'w>(word: &str, known: impl Iterator<Item = &'w str>) -> Option<&'w str> {
    let similar = known
        .map(|known| (strsim::jaro_winkler(known, word), known))
        .filter(|(similarity, _)| *similarity >= SIMILAR_MIN)
        .max_by(|a, b| a.0.total_cmp(&b.0));
    similar.map(|(_, known)| known)
}

/// Returns the error for an unknown command, with the most similar known one as a hint.
fn unknown(name: &str, commands: &[String]) -> Error {
    let error = Error::new(Code::Usage, format!("there is no command '{name}'"));
    let all = commands.iter().map(String::as_str).chain(PARTS.iter().map(|part| part.name));
    error.hint(match most_similar(name, all) {
        Some(known) => format!("did you mean '{known}'? see yunti --help"),
        None => "see yunti --help".into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_spellings_become_machine_commands() {
        for (old, new) in [
            ("host settings", "machine settings"),
            ("observe cache -s 3", "machine cache -s 3"),
            ("observe ext4 usage /data", "machine ext4 usage /data"),
            ("observe flame 12", "observe flame 12"),
            ("observe", "observe"),
            ("hadoop host", "hadoop host"),
        ] {
            let words = |text: &str| text.split(' ').map(OsString::from).collect::<Vec<_>>();
            assert_eq!(respelled(&words(old)), words(new), "{old}");
        }
    }

    #[test]
    fn takes_the_group_of_a_program_on_one_machine() {
        let taken = |text: &str| {
            let mut words: Vec<OsString> = text.split(' ').map(OsString::from).collect();
            let group = take_group(&mut words).map_err(|error| error.to_string());
            (group.map(|group| group.is_some()), words.join(OsStr::new(" ")).into_string().unwrap())
        };
        for (text, left) in [
            ("hadoop run --cgroup g,cpu=1 a.jar --cgroup x", "hadoop run a.jar --cgroup x"),
            ("hadoop run --cgroup=g a.jar", "hadoop run a.jar"),
        ] {
            assert_eq!(taken(text), (Ok(true), left.to_string()));
        }
        for text in ["hadoop run a.jar --cgroup g", "hadoop check --cgroup g", "hadoop run --cgroups g a.jar"] {
            assert_eq!(taken(text), (Ok(false), text.to_string()));
        }
        assert!(taken("hadoop run --cgroup").0.unwrap_err().contains("'' is no name of a group"));
    }

    #[test]
    fn suggests_the_command_for_a_typing_error() {
        let commands = ["run", "machine", "doctor"].map(String::from);
        for (typed, meant) in
            [("rum", "'run'"), ("obsreve", "'observe'"), ("machien", "'machine'"), ("docter", "'doctor'")]
        {
            let error = unknown(typed, &commands);
            assert!(error.hint_text().is_some_and(|hint| hint.contains(meant)), "{error}");
        }
        assert_eq!(unknown("qqq", &commands).hint_text(), Some("see yunti --help"));
    }
}
