//! Folder of a NameNode that `bench` starts: its configuration, its name space, and the command line of its JVM.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use yunti_base::{Code, Error, Result};

use super::variant::{FOLDER, LOG4J_KEYS, PORT, Variant};

pub const MAIN: &str = "org.apache.hadoop.hdfs.server.namenode.NameNode";
/// log4j.properties of all variants.
const LOG4J: &str = "log4j.rootLogger=WARN,out
log4j.appender.out=org.apache.log4j.ConsoleAppender
log4j.appender.out.target=System.err
log4j.appender.out.layout=org.apache.log4j.PatternLayout
log4j.appender.out.layout.ConversionPattern=%d %p %c: %m%n
";

/// Settings that all variants share.
pub struct Setting {
    pub class_path: OsString,
    pub plugin: Option<PathBuf>,
    pub heap: String,
    pub handlers: u32,
    pub readers: u32,
}

/// A folder that is removed on drop.
pub struct Home {
    /// RPC address: 127.0.0.1 and a free port.
    pub address: SocketAddr,
    /// Address of the web server.
    pub web: SocketAddr,
    folder: PathBuf,
    name: String,
    /// Command line up to the main class.
    java: Vec<OsString>,
}

impl Home {
    /// Creates the folder and formats an empty name space.
    ///
    /// # Errors
    /// The folder cannot be written, or the format fails.
    pub fn make(setting: &Setting, variant: &Variant) -> Result<Home> {
        let folder = std::env::temp_dir().join(format!("yunti-nn-{}-{}", std::process::id(), variant.name));
        let failed = |e: io::Error| {
            Error::io(Code::Output, "cannot write a NameNode's files", &e).at_path(folder.to_string_lossy())
        };
        let (rpc, web) = free_ports().map_err(failed)?;
        let mut home = Home {
            address: SocketAddr::from(([127, 0, 0, 1], rpc)),
            web: SocketAddr::from(([127, 0, 0, 1], web)),
            folder: folder.clone(),
            name: variant.name.clone(),
            java: Vec::new(),
        };
        home.configure(setting, variant).map_err(failed)?;
        home.java = home.command_line(setting, variant);
        let mut format = home.java(&[MAIN, "-format", "-force", "-nonInteractive"], Stdio::null(), Stdio::null())?;
        if format.wait().map_err(failed)?.success() { Ok(home) } else { Err(home.not_up()) }
    }

    fn configure(&self, setting: &Setting, variant: &Variant) -> io::Result<()> {
        let folder = &self.folder;
        // The HTTP server needs this folder on the class path; the jars on Maven Central do not contain it.
        fs::create_dir_all(folder.join("webapps/hdfs"))?;
        let fill = |text: &str| {
            text.replace(PORT, &self.address.port().to_string()).replace(FOLDER, &folder.to_string_lossy())
        };
        let filled = variant.properties.iter().map(|(key, value)| (fill(key), fill(value)));
        let (log, own): (Vec<_>, Vec<_>) = filled.partition(|(key, _)| key.starts_with(LOG4J_KEYS));
        let log: String = log.iter().map(|(key, value)| format!("{key}={value}\n")).collect();
        fs::write(folder.join("log4j.properties"), format!("{LOG4J}{log}"))?;
        let core = [("fs.defaultFS".to_owned(), format!("hdfs://{}", self.address))];
        fs::write(folder.join("core-site.xml"), xml(&core))?;
        let mut hdfs: Vec<(String, String)> = [
            ("dfs.namenode.name.dir", format!("file://{}/name", folder.display())),
            ("dfs.namenode.http-address", self.web.to_string()),
            ("dfs.namenode.handler.count", setting.handlers.to_string()),
            ("dfs.namenode.fs-limits.min-block-size", "0".to_owned()),
            ("dfs.namenode.datanode.registration.ip-hostname-check", "false".to_owned()),
            ("ipc.server.read.threadpool.size", setting.readers.to_string()),
        ]
        .map(|(key, value)| (key.to_owned(), value))
        .into();
        hdfs.extend(own);
        fs::write(folder.join("hdfs-site.xml"), xml(&hdfs))
    }

    fn command_line(&self, setting: &Setting, variant: &Variant) -> Vec<OsString> {
        let mut class_path = self.folder.as_os_str().to_owned();
        let plugin = setting.plugin.iter().map(|jar| jar.as_os_str()).filter(|_| variant.needs_plugin);
        for part in plugin.chain([setting.class_path.as_os_str()]) {
            class_path.push(":");
            class_path.push(part);
        }
        let mut words: Vec<OsString> = Vec::new();
        // The JVM ends too if this process is killed.
        let setpriv = Command::new("setpriv").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
        if setpriv.is_ok_and(|status| status.success()) {
            words.extend(["setpriv", "--pdeathsig", "KILL"].map(OsString::from));
        }
        let log = format!("-Dhadoop.log.dir={}", self.folder.display());
        words.extend(["java".to_owned(), format!("-Xmx{}", setting.heap), log].map(OsString::from));
        words.extend(variant.options.iter().map(OsString::from));
        words.extend([OsString::from("-cp"), class_path]);
        words
    }

    /// Starts a JVM with this main class and arguments; its standard error goes to the log.
    pub fn java(&self, words: &[&str], input: Stdio, output: Stdio) -> Result<Child> {
        let log = File::options().create(true).append(true).open(self.log());
        let spawn = |log: File| {
            let mut command = Command::new(&self.java[0]);
            command.args(&self.java[1..]).args(words).stdin(input).stdout(output).stderr(log).spawn()
        };
        let failed = |e| Error::io(Code::Input, "cannot start java", &e).hint("install JDK 17 or later");
        log.and_then(spawn).map_err(failed)
    }

    fn log(&self) -> PathBuf {
        self.folder.join("log")
    }

    /// Returns the error for a NameNode that did not start, with the last exception of its log.
    pub fn not_up(&self) -> Error {
        let log = fs::read_to_string(self.log()).unwrap_or_default();
        Error::new(Code::Input, format!("the NameNode '{}' does not start: {}", self.name, reason(&log)))
    }
}

/// Returns the reason in a log: the line of a plug-in, else the last exception.
fn reason(log: &str) -> &str {
    const OURS: &str = "the NameNode does not start: ";
    let ours = log.lines().rev().find_map(|line| Some(&line[line.find(OURS)? + OURS.len()..]));
    let is_error = |line: &&str| line.contains("Exception") || line.contains("rror");
    let last = || log.lines().rev().find(is_error).map(|line| line.trim().trim_start_matches("Caused by: "));
    ours.or_else(last).unwrap_or("its log gives no reason")
}

impl Drop for Home {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn free_ports() -> io::Result<(u16, u16)> {
    let both = [TcpListener::bind("127.0.0.1:0")?, TcpListener::bind("127.0.0.1:0")?];
    Ok((both[0].local_addr()?.port(), both[1].local_addr()?.port()))
}

fn xml(properties: &[(String, String)]) -> String {
    let escaped = |text: &str| text.replace('&', "&amp;").replace('<', "&lt;");
    let row = |(key, value): &(String, String)| {
        format!("<property><name>{}</name><value>{}</value></property>\n", escaped(key), escaped(value))
    };
    format!("<configuration>\n{}</configuration>\n", properties.iter().map(row).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_reason_in_a_log() {
        let check = |log: &str, expect: &str| assert_eq!(reason(log), expect);
        check("", "its log gives no reason");
        check(
            "E NameNode: Failed\njava.io.IOException: a\n\tat x\nCaused by: java.net.BindException: b\n\tat y\n",
            "java.net.BindException: b",
        );
        check(
            "2026 ERROR org.yunti.namenode.start.WrongSetting: the NameNode does not start: hdfs-site.xml: k is 'v'\n\
             java.lang.Exception: later\n",
            "hdfs-site.xml: k is 'v'",
        );
    }
}
