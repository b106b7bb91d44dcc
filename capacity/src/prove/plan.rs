//! Recipes of the two copies: without the changes, and with them.
//!
//! Yunti makes changes of processors and of the young generation itself. All others need the user's command of a copy
//! that has them.

use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;

use yunti_base::{Code, Error, Result};
use yunti_model::what_if::{Amount, Change};

use super::original::{Original, processors};
use super::ports;

/// Hint about a change that Yunti does not make.
const GIVE_COMMAND: &str = "give the command of a copy that has it: --copy 'COMMAND --port {port}'";
const PORT: &str = "{port}";
const SHELL: &str = "/bin/sh";
const ACTIVE: &str = "-XX:ActiveProcessorCount=";
const MEGABYTE: f64 = 1_048_576.0;
/// Options of a JVM that set the size of the young generation.
const YOUNG: [&str; 4] = ["-Xmn", "-XX:NewSize=", "-XX:MaxNewSize=", "-XX:NewRatio="];
/// Options of a JVM that would write to files of the original, or wait for a debugger.
const LEFT_OUT: [&str; 5] = ["-Xloggc:", "-XX:StartFlightRecording", "-agentlib:jdwp", "-Xrunjdwp", "-XX:LogFile="];

/// Wishes of the user.
#[derive(Clone, Copy, Debug)]
pub struct Wishes<'a> {
    pub changes: &'a [Change],
    /// Commands of copies, with `{port}` for the port.
    pub copy: Option<&'a str>,
    pub unchanged: Option<&'a str>,
    /// Port of the address that gets the load.
    pub port: u16,
    pub original: Option<&'a Original>,
}

/// Recipes of both copies.
#[derive(Debug)]
pub struct Plan {
    pub unchanged: Recipe,
    pub changed: Recipe,
    /// Changes that the user's command has.
    pub by_user: Vec<String>,
    pub notes: Vec<String>,
}

/// Command of a copy, with its surroundings.
#[derive(Clone, Debug, Default)]
pub struct Recipe {
    pub program: PathBuf,
    pub words: Vec<OsString>,
    /// Absent: as this process.
    pub environment: Option<Vec<(OsString, OsString)>>,
    pub folder: Option<PathBuf>,
    pub user: Option<(u32, u32)>,
    /// Numbers of its processors; empty: all.
    pub processors: Vec<usize>,
    pub files_max: Option<u64>,
    /// Ports that the copy gets others for, its own first; empty if its command has `{port}`.
    pub moved: Vec<u16>,
}

impl Plan {
    /// Returns the recipes. An error names the change that cannot be tried, or what is missing.
    pub fn of(wishes: &Wishes<'_>) -> Result<Plan> {
        for (flag, command) in [("--copy", wishes.copy), ("--unchanged", wishes.unchanged)] {
            if command.is_some_and(|text| !text.contains(PORT)) {
                return Err(Error::new(Code::Usage, format!("the command of {flag} has no {PORT}"))
                    .hint("write {port} where the copy's port belongs"));
            }
        }
        let is_own = |change: &&Change| match change {
            Change::Processors(_) => true,
            Change::Young(_) => wishes.copy.is_none(),
            _ => false,
        };
        let by_user: Vec<String> =
            wishes.changes.iter().filter(|change| !is_own(change)).map(Change::to_string).collect();
        if let (Some(change), None) = (by_user.first(), wishes.copy) {
            return Err(Error::new(Code::Usage, format!("Yunti cannot make the change '{change}' on a copy"))
                .hint(GIVE_COMMAND));
        }
        // With changes of Yunti alone, both copies run the user's command.
        let of_unchanged = wishes.unchanged.or(wishes.copy.filter(|_| by_user.is_empty()));
        let mut unchanged = match of_unchanged {
            Some(command) => Recipe::of_command(command, wishes.original),
            None => Recipe::of_process(wishes, if by_user.is_empty() { "--copy" } else { "--unchanged" })?,
        };
        let mut changed = match wishes.copy {
            Some(command) => Recipe::of_command(command, wishes.original),
            None => unchanged.clone(),
        };
        let online = online();
        if unchanged.processors.is_empty() {
            unchanged.processors.clone_from(&online);
        }
        changed.processors.clone_from(&unchanged.processors);
        let mut notes = Vec::new();
        let left_out = [&mut unchanged, &mut changed].map(Recipe::leave_out);
        if let Some(words) = left_out.into_iter().find(|words| !words.is_empty()) {
            notes.push(format!(
                "The copies run without options that write to the service's files: {}.",
                words.join(" ")
            ));
        }
        for change in wishes.changes.iter().filter(is_own) {
            match change {
                Change::Processors(amount) => changed.set_processors(*amount, &online, change)?,
                Change::Young(bytes) => changed.set_young(*bytes, change)?,
                _ => {}
            }
        }
        if wishes.copy.is_none() && wishes.changes.iter().any(|change| matches!(change, Change::Young(_))) {
            // The first use of a larger young generation would be slow in the changed copy alone.
            for recipe in [&mut unchanged, &mut changed] {
                recipe.words.insert(1, "-XX:+AlwaysPreTouch".into());
            }
        }
        Ok(Plan { unchanged, changed, by_user, notes })
    }
}

impl Recipe {
    /// Returns the recipe of a user's command, in the surroundings of the original if there is one.
    fn of_command(command: &str, original: Option<&Original>) -> Recipe {
        Recipe {
            program: SHELL.into(),
            words: vec!["sh".into(), "-c".into(), command.into()],
            ..original.map(Recipe::surroundings).unwrap_or_default()
        }
    }

    /// Returns the recipe of the process as it runs.
    ///
    /// @param flag flag that gives a command instead, for errors
    fn of_process(wishes: &Wishes<'_>, flag: &str) -> Result<Recipe> {
        let instead = format!("give the command of a copy: {flag} 'COMMAND --port {PORT}'");
        let Some(original) = wishes.original else {
            return Err(Error::new(Code::Usage, "there is no process to copy").hint(instead));
        };
        let (pid, port) = (original.pid, wishes.port);
        if !original.ports.contains(&port) {
            return Err(Error::new(Code::Input, format!("process {pid} does not listen on port {port} of --load"))
                .hint(format!("name its own address, or {instead}")));
        }
        if original.words.is_empty() || !original.program.exists() {
            let error = Error::new(Code::Input, format!("the program of process {pid} is no longer there"));
            return Err(error.at_path(original.program.to_string_lossy()).hint(instead));
        }
        let mut moved = vec![port];
        moved.extend(original.ports.iter().copied().filter(|other| *other != port && original.names(*other)));
        if !original.names(port) {
            return Err(Error::new(
                Code::Input,
                format!("neither the command line nor the environment of process {pid} has its port {port}"),
            )
            .hint(instead));
        }
        let (program, words) = (original.program.clone(), original.words.clone());
        Ok(Recipe { program, words, moved, ..Recipe::surroundings(original) })
    }

    fn surroundings(original: &Original) -> Recipe {
        Recipe {
            environment: Some(original.environment.clone()),
            folder: Some(original.folder.clone()),
            user: Some((original.user, original.group)),
            processors: original.processors.clone(),
            files_max: original.files_max,
            ..Recipe::default()
        }
    }

    /// Returns the words and the environment of a copy with this port.
    ///
    /// @param other returns a free port for each other one that moves
    pub fn at(&self, port: u16, other: &mut dyn FnMut() -> Result<u16>) -> Result<Recipe> {
        let mut made = self.clone();
        if self.moved.is_empty() {
            for word in &mut made.words {
                if let Some(text) = word.to_str() {
                    *word = text.replace(PORT, &port.to_string()).into();
                }
            }
        }
        for (nth, from) in self.moved.iter().enumerate() {
            let to = if nth == 0 { port } else { other()? };
            let values = made.environment.iter_mut().flatten().map(|(_, value)| value);
            for word in made.words.iter_mut().skip(1).chain(values) {
                if let Some(text) = word.to_str().and_then(|text| ports::replaced(text, *from, to)) {
                    *word = text.into();
                }
            }
        }
        Ok(made)
    }

    /// Removes options that would touch files of the original, and returns them.
    fn leave_out(&mut self) -> Vec<String> {
        let mut out = Vec::new();
        if self.is_java() {
            self.words.retain(|word| {
                let text = word.to_string_lossy();
                let logs = text.starts_with("-Xlog:") && text.contains("file=");
                let is_out = logs || LEFT_OUT.iter().any(|option| text.starts_with(option));
                if is_out {
                    out.push(text.into_owned());
                }
                !is_out
            });
        }
        out
    }

    fn is_java(&self) -> bool {
        self.program.file_name().is_some_and(|name| name == "java")
    }

    fn set_processors(&mut self, amount: Amount, online: &[usize], change: &Change) -> Result<()> {
        let wanted = amount.of(self.processors.len() as f64);
        if wanted < 1.0 || wanted.fract() != 0.0 {
            return Err(Error::new(
                Code::Usage,
                format!("change '{change}': a copy gets whole processors, at least one"),
            ));
        }
        if wanted > online.len() as f64 {
            let (has, needs) = (online.len(), wanted);
            return Err(Error::new(
                Code::Usage,
                format!("change '{change}' needs {needs} processors, and this machine has {has}"),
            )
            .hint("try it on a larger machine, or without --prove"));
        }
        let more: Vec<usize> = online.iter().copied().filter(|one| !self.processors.contains(one)).collect();
        self.processors.extend(more);
        self.processors.truncate(wanted as usize);
        for word in &mut self.words {
            if word.to_string_lossy().starts_with(ACTIVE) {
                *word = format!("{ACTIVE}{wanted}").into();
            }
        }
        Ok(())
    }

    fn set_young(&mut self, bytes: f64, change: &Change) -> Result<()> {
        if !self.is_java() {
            return Err(Error::new(Code::Usage, format!("change '{change}' needs a JVM that is started by 'java'"))
                .hint(GIVE_COMMAND));
        }
        let heap = self.words.iter().filter_map(|word| size(word.to_string_lossy().strip_prefix("-Xmx")?)).next_back();
        if let Some(heap) = heap.filter(|heap| bytes >= *heap) {
            return Err(Error::new(
                Code::Usage,
                format!("change '{change}' does not fit into the heap of {:.0} MiB", heap / MEGABYTE),
            )
            .hint("give the command of a copy with a larger heap: --copy 'java -Xmx.. -Xmn..'"));
        }
        self.words.retain(|word| !YOUNG.iter().any(|option| word.to_string_lossy().starts_with(option)));
        self.words.insert(1, format!("-Xmn{:.0}m", bytes / MEGABYTE).into());
        Ok(())
    }
}

impl Original {
    /// Returns whether its words or variables name a port.
    fn names(&self, port: u16) -> bool {
        let values = self.environment.iter().map(|(_, value)| value);
        let mut all = self.words.iter().skip(1).chain(values);
        all.any(|word| word.to_str().is_some_and(|text| ports::replaced(text, port, port).is_some()))
    }
}

/// Returns the bytes of a size as a JVM writes it: `512m`.
fn size(text: &str) -> Option<f64> {
    let at = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let unit = match &text[at..].to_ascii_lowercase()[..] {
        "" => 1.0,
        "k" => 1024.0,
        "m" => MEGABYTE,
        "g" => 1024.0 * MEGABYTE,
        _ => return None,
    };
    text[..at].parse::<f64>().ok().map(|number| number * unit)
}

/// Returns the numbers of the machine's processors.
fn online() -> Vec<usize> {
    let all = processors(&fs::read_to_string("/sys/devices/system/cpu/online").unwrap_or_default());
    if all.is_empty() { (0..std::thread::available_parallelism().map_or(1, usize::from)).collect() } else { all }
}

#[cfg(test)]
mod tests {
    use super::*;
    use yunti_model::what_if::parse;

    fn original(words: &[&str], variables: &[(&str, &str)]) -> Original {
        Original {
            pid: 7,
            program: if words[0] == "java" { "/bin/java".into() } else { "/bin/sh".into() },
            words: words.iter().map(OsString::from).collect(),
            environment: variables.iter().map(|(name, value)| (name.into(), value.into())).collect(),
            folder: "/srv".into(),
            user: 5,
            group: 6,
            processors: vec![0],
            ports: vec![8080, 9999],
            files_max: Some(99),
        }
    }

    fn plan(
        original: Option<&Original>,
        changes: &[&str],
        copy: Option<&str>,
        unchanged: Option<&str>,
    ) -> Result<Plan> {
        let changes: Vec<Change> = changes.iter().map(|text| parse(text).unwrap()).collect();
        Plan::of(&Wishes { changes: &changes, copy, unchanged, port: 8080, original })
    }

    fn texts(recipe: &Recipe) -> String {
        let made = recipe.at(21_000, &mut || Ok(21_001)).unwrap();
        let values = made.environment.into_iter().flatten().map(|(name, value)| format!("{name:?}={value:?}"));
        let words = made.words.iter().map(|word| word.to_string_lossy().into_owned());
        words.chain(values).collect::<Vec<_>>().join(" ").replace('"', "")
    }

    /// Original whose program exists: the checks that follow are about words.
    fn shop(words: &[&str], variables: &[(&str, &str)]) -> Original {
        Original { program: "/bin/sh".into(), ..original(words, variables) }
    }

    #[test]
    fn copies_of_the_process_get_another_port() {
        let shop = shop(&["shop", "--port", "8080", "--db", "db:8080", "--jmx=9999"], &[("PORT", "8080"), ("A", "b")]);
        let plan = plan(Some(&shop), &["cpu 1"], None, None).unwrap();
        assert_eq!(texts(&plan.unchanged), "shop --port 21000 --db db:8080 --jmx=21001 PORT=21000 A=b");
        assert_eq!(texts(&plan.changed), texts(&plan.unchanged));
        let recipe = &plan.changed;
        assert_eq!((&recipe.folder, recipe.user, recipe.files_max), (&Some("/srv".into()), Some((5, 6)), Some(99)));
        assert_eq!(recipe.processors, [0]);
    }

    #[test]
    fn commands_of_the_user() {
        let shop = shop(&["shop", "8080"], &[]);
        let plan = |changes: &[&str], copy, unchanged| plan(Some(&shop), changes, copy, unchanged).unwrap();
        // With a change of Yunti alone, both run the command.
        let both = plan(&["cpu 1"], Some("run {port}"), None);
        assert_eq!((&texts(&both.unchanged)[..], both.by_user.len()), ("sh -c run 21000", 0));
        let one = plan(&["lock x0.5", "cpu 1"], Some("run {port}"), None);
        assert_eq!((&texts(&one.unchanged)[..], &texts(&one.changed)[..]), ("shop 21000", "sh -c run 21000"));
        assert_eq!(one.by_user, ["lock x0.5"]);
        let two = plan(&["lock x0.5"], Some("run {port}"), Some("old {port}"));
        assert_eq!((&texts(&two.unchanged)[..], &texts(&two.changed)[..]), ("sh -c old 21000", "sh -c run 21000"));
    }

    #[test]
    fn a_young_generation_of_a_jvm() {
        let words =
            ["java", "-Xmx512m", "-Xmn16m", "-XX:NewRatio=2", "-Xlog:gc:file=/log/gc", "-Xlog:gc", "Main", "8080"];
        let mut java = original(&words, &[]);
        java.program = std::env::temp_dir().join("java");
        let changes = [parse("young 64m").unwrap()];
        let wishes = Wishes { changes: &changes, copy: None, unchanged: None, port: 8080, original: Some(&java) };
        // The program must be there.
        fs::write(&java.program, "").unwrap();
        let plan = Plan::of(&wishes).unwrap();
        assert_eq!(texts(&plan.changed), "java -XX:+AlwaysPreTouch -Xmn64m -Xmx512m -Xlog:gc Main 21000");
        assert_eq!(
            texts(&plan.unchanged),
            "java -XX:+AlwaysPreTouch -Xmx512m -Xmn16m -XX:NewRatio=2 -Xlog:gc Main 21000"
        );
        assert!(plan.notes[0].contains("-Xlog:gc:file=/log/gc"));
        let changes = [parse("young 512m").unwrap()];
        let error = Plan::of(&Wishes { changes: &changes, ..wishes }).unwrap_err();
        assert!(error.what().contains("does not fit into the heap of 512 MiB"), "{error}");
    }

    #[test]
    fn what_cannot_be_tried_is_one_line() {
        let shop = shop(&["shop", "8080"], &[]);
        let elsewhere = Original { words: vec!["shop".into()], ..shop.clone() };
        let deaf = Original { ports: Vec::new(), ..shop.clone() };
        for (original, changes, copy, expect) in [
            (Some(&shop), "lock x0.5", None, "cannot make the change 'lock x0.5' on a copy: give the command"),
            (Some(&shop), "cpu +100000", None, "needs 100001 processors, and this machine has"),
            (Some(&shop), "cpu -1", None, "at least one"),
            (Some(&shop), "cpu 1.5", None, "whole processors"),
            (Some(&shop), "young 64m", None, "needs a JVM"),
            (Some(&shop), "cpu 1", Some("run"), "the command of --copy has no {port}"),
            (Some(&elsewhere), "cpu 1", None, "has its port 8080: give the command of a copy: --copy"),
            (Some(&elsewhere), "lock x0.5", Some("run {port}"), "give the command of a copy: --unchanged"),
            (Some(&deaf), "cpu 1", None, "does not listen on port 8080 of --load"),
            (None, "cpu 1", None, "there is no process to copy"),
        ] {
            let error = plan(original, &[changes], copy, None).unwrap_err().to_string();
            assert!(error.contains(expect) && !error.contains('\n'), "{error}");
        }
    }

    #[test]
    fn sizes() {
        assert_eq!(
            (size("512m"), size("2G"), size("1024"), size("x"), size("5x")),
            (Some(512.0 * MEGABYTE), Some(2048.0 * MEGABYTE), Some(1024.0), None, None)
        );
    }
}
