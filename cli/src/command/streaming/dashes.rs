//! Hadoop's spelling of options: one dash before a long name (`-input a b`). The parser wants `--input=a --input=b`.

use std::ffi::{OsStr, OsString};

use clap::{ArgAction, Args};
use yunti_base::{Code, Error, Result};

use super::StreamingFlags;
use crate::command::part::most_similar;

/// Options that take all words up to the next option, as in Hadoop.
const SEVERAL: [&str; 4] = ["input", "file", "cacheFile", "cacheArchive"];

/// Options of one dash that are no long ones.
const SHORT: [char; 1] = ['D'];

/// Returns the arguments of this process with two dashes before the long options of `yunti streaming`, each joined to
/// its value. Arguments of other commands stay unchanged.
///
/// Errors: `Usage` for an option of one dash that does not exist, with the most similar one.
pub fn with_double_dashes(arguments: Vec<OsString>) -> Result<Vec<OsString>> {
    match arguments.get(1) {
        Some(command) if command == "streaming" => {}
        _ => return Ok(arguments),
    }
    let command = StreamingFlags::augment_args(clap::Command::new("streaming"));
    // Returns whether the option of this name takes a value; None: there is no such option.
    let takes_value = |name: &str| {
        let mut all = command.get_arguments();
        let found = all.find(|a| a.get_long_and_visible_aliases().is_some_and(|names| names.contains(&name)))?;
        Some(matches!(found.get_action(), ArgAction::Set | ArgAction::Append))
    };
    let mut words = arguments.into_iter();
    let mut out: Vec<OsString> = words.by_ref().take(2).collect();
    let mut several = None::<String>;
    while let Some(word) = words.next() {
        let text = word.to_string_lossy();
        let name = text.strip_prefix('-').map(|rest| rest.strip_prefix('-').unwrap_or(rest));
        match name {
            // Hadoop's detailed help.
            Some("info") => out.push("--help".into()),
            Some("help") => out.push("-h".into()),
            Some(name) if name.len() > 1 => {
                several = None;
                match takes_value(name) {
                    Some(true) => {
                        let Some(value) = words.next() else {
                            // The parser says that the value is missing.
                            out.push(format!("--{name}").into());
                            break;
                        };
                        several = SEVERAL.contains(&name).then(|| name.to_string());
                        out.push(joined(name, &value));
                    }
                    Some(false) => out.push(format!("--{name}").into()),
                    None if text.starts_with("--") || name.starts_with(SHORT) => out.push(word),
                    None => match name.split_once('=').filter(|(name, _)| takes_value(name).is_some()) {
                        Some(_) => out.push(format!("--{name}").into()),
                        None => return Err(unknown(name.split('=').next().unwrap_or(name), &command)),
                    },
                }
            }
            None => match &several {
                Some(name) => out.push(joined(name, &word)),
                None => out.push(word),
            },
            // `-D` and its value, which may begin with a dash.
            Some(_) => {
                several = None;
                out.push(word);
                out.extend(words.next());
            }
        }
    }
    Ok(out)
}

/// Returns the error for an option that does not exist.
fn unknown(name: &str, command: &clap::Command) -> Error {
    let error = Error::new(Code::Usage, format!("unexpected argument '-{name}' found"));
    let names = command.get_arguments().filter_map(|argument| argument.get_long());
    error.hint(match most_similar(name, names) {
        Some(known) => format!("did you mean '-{known}'?"),
        None => "see yunti streaming -info".into(),
    })
}

fn joined(name: &str, value: &OsStr) -> OsString {
    let mut word = OsString::from(format!("--{name}="));
    word.push(value);
    word
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, expect: &str) {
        let words = line.split(' ').map(OsString::from).collect();
        let out: Vec<String> =
            with_double_dashes(words).unwrap().iter().map(|w| w.to_string_lossy().into_owned()).collect();
        assert_eq!(out.join(" "), expect);
    }

    #[test]
    fn spells_options_with_two_dashes() {
        check(
            "yunti streaming -D a=b -input x y -mapper -v -output out -input z",
            "yunti streaming -D a=b --input=x --input=y --mapper=-v --output=out --input=z",
        );
        check("yunti streaming --input x -numReduceTasks 3", "yunti streaming --input=x --numReduceTasks=3");
        check("yunti streaming -lazyOutput x -Da=b", "yunti streaming --lazyOutput x -Da=b");
        check("yunti streaming --wrong x --threads=2", "yunti streaming --wrong x --threads=2");
        check("yunti streaming -input=x -q -t 2", "yunti streaming --input=x -q -t 2");
        check("yunti streaming -info", "yunti streaming --help");
        check("yunti streaming -input", "yunti streaming --input");
        check("yunti run -input x", "yunti run -input x");
    }

    #[test]
    fn a_misspelt_option_is_named_with_the_nearest_one() {
        for (word, expect) in [
            ("-inptu", "unexpected argument '-inptu' found: did you mean '-input'?"),
            ("-maper=x", "unexpected argument '-maper' found: did you mean '-mapper'?"),
            ("-numReduceTask", "unexpected argument '-numReduceTask' found: did you mean '-numReduceTasks'?"),
            ("-zzz", "unexpected argument '-zzz' found: see yunti streaming -info"),
        ] {
            let words = ["yunti", "streaming", word, "x"].map(OsString::from).to_vec();
            assert_eq!(with_double_dashes(words).unwrap_err().to_string(), expect);
        }
    }
}
