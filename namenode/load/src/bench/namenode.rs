//! A NameNode as a process of ours: formatted in a folder of its own, on ports of 127.0.0.1 that were free; gone when it is dropped.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use yunti_engine::base::{Code, Error, Result};

use super::variant::Variant;

const MAIN: &str = "org.apache.hadoop.hdfs.server.namenode.NameNode";
const STARTS_WITHIN: Duration = Duration::from_secs(90);
const LOOK_AGAIN: Duration = Duration::from_millis(100);
const LOG4J: &str = "log4j.rootLogger=WARN,out
log4j.appender.out=org.apache.log4j.ConsoleAppender
log4j.appender.out.layout=org.apache.log4j.PatternLayout
log4j.appender.out.layout.ConversionPattern=%d %p %c: %m%n
";

/// What all of them have alike.
pub struct Setting {
    pub class_path: OsString,
    pub plugin: Option<PathBuf>,
    pub heap: String,
    pub handlers: u32,
    pub readers: u32,
}

pub struct NameNode {
    pub address: SocketAddr,
    process: Child,
    folder: PathBuf,
}

impl NameNode {
    pub fn start(setting: &Setting, variant: &Variant) -> Result<NameNode> {
        let folder = std::env::temp_dir().join(format!("yunti-nn-{}-{}", std::process::id(), variant.name));
        let failed =
            |e: io::Error| Error::io(Code::Output, "cannot write for a NameNode", &e).at_path(folder.to_string_lossy());
        let (rpc, web) = free_ports().map_err(failed)?;
        write_configuration(&folder, setting, variant, (rpc, web)).map_err(failed)?;
        let log = File::create(folder.join("log")).map_err(failed)?;
        let run = |words: &[&str]| {
            let mut command = java(setting, variant, &folder);
            command.arg(MAIN).args(words).stdin(Stdio::null());
            let log = log.try_clone().and_then(|err| Ok((log.try_clone()?, err)));
            log.map(|(out, err)| command.stdout(out).stderr(err).spawn())?
        };
        let no_java =
            |e: io::Error| Error::io(Code::Input, "java cannot be started", &e).hint("install a JDK of 17 or later");
        let formatted =
            run(&["-format", "-force", "-nonInteractive"]).and_then(|mut child| child.wait()).map_err(no_java)?;
        let address = SocketAddr::from(([127, 0, 0, 1], rpc));
        if !formatted.success() {
            let _ = fs::remove_dir_all(&folder);
            return Err(not_up(variant, &folder));
        }
        let mut namenode = NameNode { address, process: run(&[]).map_err(no_java)?, folder };
        let end = Instant::now() + STARTS_WITHIN;
        while TcpStream::connect_timeout(&address, LOOK_AGAIN).is_err() {
            if Instant::now() > end || namenode.process.try_wait().is_ok_and(|ended| ended.is_some()) {
                return Err(not_up(variant, &namenode.folder));
            }
            thread::sleep(LOOK_AGAIN);
        }
        Ok(namenode)
    }
}

impl Drop for NameNode {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn not_up(variant: &Variant, folder: &Path) -> Error {
    let log = fs::read_to_string(folder.join("log")).unwrap_or_default();
    let why = log.lines().rev().find(|line| line.contains("Exception") || line.contains("Error"));
    let what = format!("the NameNode '{}' does not start: {}", variant.name, why.unwrap_or("it says nothing").trim());
    Error::new(Code::Input, what)
}

fn java(setting: &Setting, variant: &Variant, folder: &Path) -> Command {
    let mut class_path = folder.as_os_str().to_owned();
    let parts = setting.plugin.iter().map(|jar| jar.as_os_str()).filter(|_| variant.needs_plugin);
    for part in parts.chain([setting.class_path.as_os_str()]) {
        class_path.push(":");
        class_path.push(part);
    }
    // Should we be killed, they end too.
    let dies_with_us: &[&OsStr] = &["--pdeathsig", "KILL", "java"].map(OsStr::new);
    let has_it = Command::new("setpriv").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    let mut command = match has_it {
        Ok(status) if status.success() => {
            let mut command = Command::new("setpriv");
            command.args(dies_with_us);
            command
        }
        _ => Command::new("java"),
    };
    command.arg(format!("-Xmx{}", setting.heap)).args(&variant.options).arg("-cp").arg(class_path);
    command
}

fn free_ports() -> io::Result<(u16, u16)> {
    let both = [TcpListener::bind("127.0.0.1:0")?, TcpListener::bind("127.0.0.1:0")?];
    Ok((both[0].local_addr()?.port(), both[1].local_addr()?.port()))
}

fn write_configuration(folder: &Path, setting: &Setting, variant: &Variant, (rpc, web): (u16, u16)) -> io::Result<()> {
    // Its HTTP server wants this folder on the class path; the jars on Central do not have it.
    fs::create_dir_all(folder.join("webapps/hdfs"))?;
    fs::write(folder.join("log4j.properties"), LOG4J)?;
    let core = [("fs.defaultFS".to_owned(), format!("hdfs://127.0.0.1:{rpc}"))];
    fs::write(folder.join("core-site.xml"), xml(&core))?;
    let mut hdfs: Vec<(String, String)> = [
        ("dfs.namenode.name.dir", format!("file://{}/name", folder.display())),
        ("dfs.namenode.http-address", format!("127.0.0.1:{web}")),
        ("dfs.namenode.handler.count", setting.handlers.to_string()),
        ("dfs.namenode.fs-limits.min-block-size", "0".to_owned()),
        ("dfs.namenode.datanode.registration.ip-hostname-check", "false".to_owned()),
        ("ipc.server.read.threadpool.size", setting.readers.to_string()),
        ("hadoop.log.dir", folder.display().to_string()),
    ]
    .map(|(key, value)| (key.to_owned(), value))
    .into();
    // The port of a call queue's key is known now.
    hdfs.extend(variant.properties.iter().map(|(key, value)| (key.replace("PORT", &rpc.to_string()), value.clone())));
    fs::write(folder.join("hdfs-site.xml"), xml(&hdfs))
}

fn xml(properties: &[(String, String)]) -> String {
    let escaped = |text: &str| text.replace('&', "&amp;").replace('<', "&lt;");
    let row = |(key, value): &(String, String)| {
        format!("<property><name>{}</name><value>{}</value></property>\n", escaped(key), escaped(value))
    };
    format!("<configuration>\n{}</configuration>\n", properties.iter().map(row).collect::<String>())
}
