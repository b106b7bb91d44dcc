//! The JVM of the service: its Java, its owner, and what trials need to run as it does.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use yunti_base::{Code, Error, Result};

/// Lets Avro read the service's classes, which it else refuses.
const AVRO: &str = "-Dorg.apache.avro.SERIALIZABLE_PACKAGES=*";

/// JVM of the service.
pub struct Service {
    pub pid: u32,
    /// Home of its JDK.
    pub home: PathBuf,
    pub user: u32,
    pub group: u32,
    /// True if this process runs as the same user.
    is_own: bool,
    /// Options of its command line that open modules.
    opens: Vec<String>,
}

impl Service {
    /// Reads what `/proc` says about a JVM, and refuses one that belongs to somebody else.
    pub fn find(pid: u32) -> Result<Service> {
        let failed = |e: std::io::Error| unreadable(pid, &e);
        let program = fs::read_link(format!("/proc/{pid}/exe")).map_err(failed)?;
        let owner = fs::metadata(format!("/proc/{pid}")).map_err(failed)?;
        let words = fs::read(format!("/proc/{pid}/cmdline")).map_err(failed)?;
        if fs::read_link(format!("/proc/{pid}/ns/mnt")).ok() != fs::read_link("/proc/self/ns/mnt").ok() {
            return Err(Error::new(Code::Input, format!("process {pid} runs in a container"))
                .hint("run yunti inside the container, or without --capture"));
        }
        let me = fs::metadata("/proc/self").map_err(failed)?.uid();
        if me != 0 && me != owner.uid() {
            return Err(Error::new(Code::Input, format!("process {pid} belongs to another user"))
                .hint("run as its owner, or as root"));
        }
        let home = program.parent().and_then(Path::parent).unwrap_or(Path::new("/")).to_owned();
        let words: Vec<String> =
            words.split(|b| *b == 0).map(|word| String::from_utf8_lossy(word).into_owned()).collect();
        let (user, group) = (owner.uid(), owner.gid());
        Ok(Service { pid, home, user, group, is_own: me == user, opens: opens(&words) })
    }

    /// Returns a command that runs this JDK's `java` as the service's user.
    pub fn java(&self) -> Command {
        let mut command = self.as_owner(&self.home.join("bin/java"));
        // Options for other JVMs would print lines, or load agents.
        for name in ["JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS"] {
            command.env_remove(name);
        }
        command
    }

    /// Returns a command that runs a program as the service's user, without standard streams.
    pub fn as_owner(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        if !self.is_own {
            command.uid(self.user).gid(self.group);
        }
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command
    }

    /// Returns the options of a trial: those of the service that open modules, and a quiet collector.
    pub fn trial_options(&self) -> Vec<String> {
        let mut all: Vec<String> = ["-Xms768m", "-Xmx1g", "-Xmn512m", "-XX:+UseSerialGC", "-XX:-UsePerfData", AVRO]
            .map(str::to_owned)
            .to_vec();
        if self.release().is_some_and(|release| release >= 23) {
            // Else libraries that use it print warnings.
            all.push("--sun-misc-unsafe-memory-access=allow".to_owned());
        }
        all.extend(self.opens.iter().cloned());
        all
    }

    /// Returns the feature release of the JDK; `None` if its file `release` does not say.
    fn release(&self) -> Option<u32> {
        let text = fs::read_to_string(self.home.join("release")).ok()?;
        let version = text.lines().find_map(|line| line.strip_prefix("JAVA_VERSION=\""))?;
        version.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
    }
}

/// Returns an error unless a process has loaded a JVM.
pub fn must_be_jvm(pid: u32) -> Result<()> {
    match fs::read_to_string(format!("/proc/{pid}/maps")) {
        Ok(maps) if maps.contains("/libjvm.so") => Ok(()),
        Ok(_) => Err(Error::new(Code::Input, format!("process {pid} is no JVM"))
            .hint("yunti observe flame shows the costs of other programs")),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
            Err(Error::new(Code::Input, format!("there is no process {pid}")).hint("`ps -e` lists what there is"))
        }
        Err(e) => Err(unreadable(pid, &e)),
    }
}

fn unreadable(pid: u32, e: &std::io::Error) -> Error {
    Error::io(Code::Input, &format!("process {pid} cannot be read"), e).hint("run as its owner, or as root")
}

/// Returns the words of a command line that open modules, each as one word.
fn opens(words: &[String]) -> Vec<String> {
    const NAMES: [&str; 2] = ["--add-opens", "--add-exports"];
    let mut all = Vec::new();
    for (i, word) in words.iter().enumerate() {
        if NAMES.iter().any(|name| word.strip_prefix(name).is_some_and(|rest| rest.starts_with('='))) {
            all.push(word.clone());
        } else if let (true, Some(next)) = (NAMES.contains(&&**word), words.get(i + 1)) {
            all.push(format!("{word}={next}"));
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_options_that_open_modules() {
        let words = ["java", "--add-opens", "a/b=ALL-UNNAMED", "-Xmx1g", "--add-exports=c/d=e", "Main", "--add-opens"];
        let words = words.map(str::to_owned);
        assert_eq!(opens(&words), ["--add-opens=a/b=ALL-UNNAMED", "--add-exports=c/d=e"]);
    }

    #[test]
    fn refuses_what_is_no_jvm() {
        let error = must_be_jvm(std::process::id()).unwrap_err();
        assert!(error.what().ends_with("is no JVM"), "{error}");
        assert!(must_be_jvm(u32::MAX).unwrap_err().what().contains("there is no process"));
    }
}
