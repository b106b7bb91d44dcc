//! Command line of a Java program, as the launcher `java` reads it, or of a script that starts one.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use yunti_base::{Code, Error, Result};

/// Variable whose options the launcher `java` of JDK 9 and later reads.
pub const LAUNCHER_OPTIONS: &str = "JDK_JAVA_OPTIONS";

/// Options of the launcher whose value is the next word.
const WITH_VALUE: [&str; 14] = [
    "-cp",
    "-classpath",
    "--class-path",
    "-p",
    "--module-path",
    "--upgrade-module-path",
    "--add-modules",
    "--add-reads",
    "--add-exports",
    "--add-opens",
    "--limit-modules",
    "--patch-module",
    "--source",
    "--enable-native-access",
];

/// Options that decide about archives themselves.
const OWN_ARCHIVE: [&str; 9] = [
    "-XX:SharedArchiveFile",
    "-XX:ArchiveClassesAtExit",
    "-XX:+AutoCreateSharedArchive",
    "-XX:AOTCache",
    "-XX:AOTCacheOutput",
    "-XX:AOTMode",
    "-XX:AOTConfiguration",
    "-Xshare",
    "-XX:DumpLoadedClassList",
];

/// Prefixes of options that must be the same in training and in use.
const STAMPED: [&str; 16] = [
    "-javaagent:",
    "-agentlib:",
    "-agentpath:",
    "--patch-module",
    "--upgrade-module-path",
    "--limit-modules",
    "--add-modules",
    "--module-path",
    "-Xbootclasspath/a",
    "-XX:+UseCompressedOops",
    "-XX:-UseCompressedOops",
    "-XX:+UseCompactObjectHeaders",
    "-XX:-UseCompactObjectHeaders",
    "-XX:-UseCompressedClassPointers",
    "--enable-preview",
    "-Djava.system.class.loader",
];

/// Options with which the JVM writes no archive.
const NO_ARCHIVE: [&str; 6] = [
    "-javaagent:",
    "--patch-module",
    "--upgrade-module-path",
    "--limit-modules",
    "-Xint",
    "-Djava.system.class.loader",
];

/// Program that a command line starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Main {
    Jar(String),
    Class(String),
    /// Script or other program that starts `java` itself.
    Script(String),
}

/// Command line of a Java program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandLine {
    /// Words as the user gave them.
    pub words: Vec<OsString>,
    pub main: Main,
    /// Options of the JVM, with the ones from files and from variables; values joined to their options by `=`.
    pub options: Vec<String>,
    /// Class path as the user gave it; empty for a jar or a script.
    class_path: String,
    /// Directory in which the program runs.
    pub directory: PathBuf,
}

impl CommandLine {
    /// Returns the command line of these words. `variable` reads the environment of the program.
    pub fn of(words: &[OsString], directory: &Path, variable: impl Fn(&str) -> Option<String>) -> Result<CommandLine> {
        let Some(program) = words.first() else {
            return Err(Error::new(Code::Usage, "the command is missing")
                .hint("write it after --: yunti warmup record -- java -jar shop.jar"));
        };
        let name = Path::new(program).file_name().unwrap_or(OsStr::new("")).to_string_lossy().into_owned();
        let line = |main, options, class_path| CommandLine {
            words: words.to_vec(),
            main,
            options,
            class_path,
            directory: directory.into(),
        };
        let from_variables = [LAUNCHER_OPTIONS, "JAVA_TOOL_OPTIONS"].iter().filter_map(|name| variable(name));
        let from_variables: Vec<String> = from_variables.flat_map(|text| split(&text)).collect();
        if name != "java" {
            return Ok(line(Main::Script(name), from_variables, String::new()));
        }
        let mut given = Vec::new();
        for word in &words[1..] {
            let word = word.to_string_lossy().into_owned();
            match word.strip_prefix('@') {
                Some(file) if !file.starts_with('@') => {
                    let text = std::fs::read_to_string(directory.join(file))
                        .map_err(|e| Error::io(Code::Input, "cannot read the argument file", &e).at_path(file))?;
                    let lines = text.lines().filter(|line| !line.trim_start().starts_with('#'));
                    given.extend(lines.flat_map(split));
                }
                _ => given.push(word),
            }
        }
        let mut options = Vec::new();
        let mut class_path = variable("CLASSPATH").unwrap_or_default();
        let mut rest = from_variables.into_iter().chain(given);
        while let Some(word) = rest.next() {
            let missing = || Error::new(Code::Usage, format!("'{word}' needs a value")).hint("see java --help");
            if word == "-jar" {
                return Ok(line(Main::Jar(rest.next().ok_or_else(missing)?), options, String::new()));
            }
            if word == "-m" || word == "--module" || word.starts_with("--module=") {
                let module = word
                    .split_once('=')
                    .map(|(_, name)| name.to_string())
                    .or_else(|| rest.next())
                    .ok_or_else(missing)?;
                return Ok(line(Main::Class(module), options, class_path));
            }
            if !word.starts_with('-') {
                return Ok(line(Main::Class(word), options, class_path));
            }
            let (option, value) = match word.split_once('=') {
                Some((option, value)) if WITH_VALUE.contains(&option) => (option.to_string(), Some(value.to_string())),
                _ if WITH_VALUE.contains(&word.as_str()) => (word.clone(), Some(rest.next().ok_or_else(missing)?)),
                _ => (word.clone(), None),
            };
            match (option.as_str(), value) {
                ("-cp" | "-classpath" | "--class-path", Some(value)) => class_path = value,
                ("-p", Some(value)) => options.push(format!("--module-path={value}")),
                (option, Some(value)) => options.push(format!("{option}={value}")),
                (option, None) => options.push(option.into()),
            }
        }
        Err(Error::new(Code::Usage, "the command names no program")
            .hint("name -jar FILE or a main class after the options of java"))
    }

    /// Returns words and variables that pass more options to the JVM.
    ///
    /// They come before the options of the user, so that the user's win. With `by_variables`, they are in a variable
    /// that only the launcher `java` reads, and no word changes.
    pub fn with_options(
        &self,
        more: &[String],
        by_variables: bool,
        variable: impl Fn(&str) -> Option<String>,
    ) -> (Vec<OsString>, Vec<(String, OsString)>) {
        if by_variables && !more.is_empty() {
            let quoted = more.iter().map(|option| format!("\"{option}\""));
            let value = quoted.chain(variable(LAUNCHER_OPTIONS)).collect::<Vec<_>>().join(" ");
            return (self.words.clone(), vec![(LAUNCHER_OPTIONS.into(), value.into())]);
        }
        let (first, rest) = self.words.split_first().expect("a command line has a program");
        let more = more.iter().map(OsString::from);
        (std::iter::once(first.clone()).chain(more).chain(rest.iter().cloned()).collect(), Vec::new())
    }

    /// Returns true if a script or another program starts Java.
    pub fn is_script(&self) -> bool {
        matches!(self.main, Main::Script(_))
    }

    /// Returns the option with which the user decides about archives, if there is one.
    pub fn own_archive(&self) -> Option<&str> {
        let is_own = |option: &&String| {
            let name = option.split(['=', ':']).take(if option.starts_with("-XX:") { 2 } else { 1 });
            let name = name.collect::<Vec<_>>().join(":");
            OWN_ARCHIVE.contains(&name.as_str())
        };
        self.options.iter().find(is_own).map(String::as_str)
    }

    /// Returns the option with which the JVM writes no archive, if there is one.
    pub fn no_archive(&self) -> Option<&str> {
        let prevents = |option: &&String| NO_ARCHIVE.iter().any(|prefix| option.starts_with(prefix));
        self.options.iter().find(prevents).map(String::as_str)
    }

    /// Returns the options that must be the same in training and in use, sorted: the garbage collector among them.
    pub fn stamped_options(&self) -> Vec<String> {
        let is_collector = |option: &&String| option.starts_with("-XX:+Use") && option.ends_with("GC");
        let collector = self.options.iter().rfind(is_collector);
        let others = self.options.iter().filter(|option| STAMPED.iter().any(|prefix| option.starts_with(prefix)));
        let mut stamped: Vec<String> = collector.into_iter().chain(others).cloned().collect();
        stamped.sort();
        stamped.dedup();
        stamped
    }

    /// Returns the entries of the class path as absolute paths, `DIR/*` as the jars of the directory.
    pub fn entries(&self) -> Vec<PathBuf> {
        let class_path = match &self.main {
            Main::Jar(jar) => return vec![self.directory.join(jar)],
            Main::Script(_) => return Vec::new(),
            Main::Class(_) if self.class_path.is_empty() => ".",
            Main::Class(_) => &self.class_path,
        };
        let mut entries = Vec::new();
        for entry in class_path.split(':').filter(|entry| !entry.is_empty()) {
            let Some(folder) = entry.strip_suffix('*').filter(|folder| folder.is_empty() || folder.ends_with('/'))
            else {
                entries.push(self.directory.join(entry));
                continue;
            };
            let folder = std::fs::read_dir(self.directory.join(folder)).into_iter().flatten().flatten();
            let mut jars: Vec<PathBuf> = folder.map(|file| file.path()).collect();
            jars.retain(|path| path.extension().is_some_and(|e| e.eq_ignore_ascii_case("jar")));
            jars.sort();
            entries.extend(jars);
        }
        entries
    }

    /// Returns the `java` that runs, if it can be found: the program itself, else the one of `JAVA_HOME` or `PATH`.
    pub fn java(&self, variable: impl Fn(&str) -> Option<String>) -> Option<PathBuf> {
        let is_named = |path: &PathBuf| path.components().count() > 1;
        let program = PathBuf::from(&self.words[0]);
        if !self.is_script() && is_named(&program) {
            return Some(self.directory.join(program));
        }
        let in_home = variable("JAVA_HOME").filter(|_| self.is_script()).map(|home| Path::new(&home).join("bin/java"));
        let in_path = variable("PATH").unwrap_or_default();
        let in_path = in_path.split(':').map(|folder| self.directory.join(folder).join("java"));
        in_home.into_iter().chain(in_path).find(|path| path.is_file())
    }

    /// Returns the directory of the profile that no flag names: beside the jar, else in the working directory.
    pub fn default_profile(&self) -> PathBuf {
        let place = match &self.main {
            Main::Jar(jar) => PathBuf::from(jar).with_extension(""),
            Main::Class(name) => PathBuf::from(name.rsplit(['.', '/']).next().unwrap_or(name)),
            Main::Script(name) => PathBuf::from(name),
        };
        let mut place = self.directory.join(place).into_os_string();
        place.push(".warmup");
        place.into()
    }
}

/// Returns the words of a line; quotes keep spaces.
fn split(text: &str) -> Vec<String> {
    let (mut words, mut word, mut quote, mut is_word) = (Vec::new(), String::new(), None, false);
    for letter in text.chars() {
        match quote {
            Some(mark) if letter == mark => quote = None,
            Some(_) => word.push(letter),
            None if letter == '"' || letter == '\'' => (quote, is_word) = (Some(letter), true),
            None if letter.is_whitespace() => {
                if is_word {
                    words.push(std::mem::take(&mut word));
                }
                is_word = false;
            }
            None => {
                word.push(letter);
                is_word = true;
            }
        }
    }
    if is_word {
        words.push(word);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str) -> CommandLine {
        try_line(text).unwrap()
    }

    fn try_line(text: &str) -> Result<CommandLine> {
        let words: Vec<OsString> = text.split_whitespace().map(OsString::from).collect();
        CommandLine::of(&words, Path::new("/w"), |name| {
            (name == "JAVA_TOOL_OPTIONS").then(|| "-Da='b c' -XX:+UseZGC".into())
        })
    }

    #[test]
    fn reads_options_main_and_class_path() {
        let jar = line("/j/bin/java -XX:+UseSerialGC -Xmx1g -jar lib/shop.jar -cp x");
        assert_eq!(jar.main, Main::Jar("lib/shop.jar".into()));
        assert_eq!(jar.options, ["-Da=b c", "-XX:+UseZGC", "-XX:+UseSerialGC", "-Xmx1g"]);
        assert_eq!(jar.stamped_options(), ["-XX:+UseSerialGC"]);
        assert_eq!(jar.entries(), [PathBuf::from("/w/lib/shop.jar")]);
        assert_eq!(jar.default_profile(), PathBuf::from("/w/lib/shop.warmup"));
        let (words, variables) = jar.with_options(&["-Xlog:x".into()], false, |_| None);
        assert_eq!(words[..3], ["/j/bin/java", "-Xlog:x", "-XX:+UseSerialGC"].map(OsString::from));
        assert!(variables.is_empty());
        let (words, variables) = jar.with_options(&["-Xlog:x".into()], true, |_| Some("-Da=b".into()));
        assert_eq!((words, &variables[0].1), (jar.words.clone(), &OsString::from("\"-Xlog:x\" -Da=b")));

        let class = line("java -cp a.jar:/b.jar --add-modules jdk.x -p m org.shop.Main -jar y");
        assert_eq!(class.main, Main::Class("org.shop.Main".into()));
        assert_eq!(class.entries(), [PathBuf::from("/w/a.jar"), PathBuf::from("/b.jar")]);
        assert_eq!(class.stamped_options(), ["--add-modules=jdk.x", "--module-path=m", "-XX:+UseZGC"]);
        assert_eq!(class.default_profile(), PathBuf::from("/w/Main.warmup"));

        let script = line("bin/start.sh -jar x");
        assert!(script.is_script() && script.entries().is_empty());
        assert_eq!(script.default_profile(), PathBuf::from("/w/start.sh.warmup"));
    }

    #[test]
    fn refuses_lines_without_a_program() {
        for text in ["", "java", "java -Xmx1g", "java -jar", "java -cp"] {
            assert_eq!(try_line(text).unwrap_err().code(), Code::Usage, "{text}");
        }
    }

    #[test]
    fn finds_options_about_archives() {
        for (option, own) in [
            ("-XX:AOTCache=x", true),
            ("-Xshare:off", true),
            ("-XX:SharedArchiveFile=x", true),
            ("-Xmx1g", false),
            ("-XX:+UseG1GC", false),
        ] {
            assert_eq!(line(&format!("java {option} A")).own_archive().is_some(), own, "{option}");
        }
        assert_eq!(line("java -javaagent:a.jar A").no_archive(), Some("-javaagent:a.jar"));
    }
}
