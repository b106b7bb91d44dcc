//! Flags that several commands have: the program, its profile, and the replay.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use clap::Args;
use yunti_base::{Code, Error, Result};
use yunti_replay::request::Request;

use crate::java::command_line::CommandLine;
use crate::java::release::Release;

/// Program and profile.
#[derive(Debug, Args)]
pub struct Subject {
    /// Directory of the profile [default: shop.warmup beside shop.jar; NAME.warmup here for a class or a script]
    #[arg(long, value_name = "DIR")]
    pub profile: Option<PathBuf>,

    /// The java that a script starts [default: $JAVA_HOME/bin/java, else java of PATH]
    #[arg(long, value_name = "FILE")]
    pub java: Option<PathBuf>,

    /// The program: java with its arguments, or a script that starts java
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
}

/// Replay before the port opens.
#[derive(Clone, Debug, Args)]
pub struct Replay {
    /// Longest replay; it ends earlier when the JVM's compilers are quiet
    #[arg(long, value_name = "N", default_value = "2", value_parser = seconds)]
    pub replay_seconds: f64,

    /// Connections of the replay
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u8).range(1..=64))]
    pub connections: u8,

    /// Port at which the program listens, if it is not the one of the recorded requests
    #[arg(long, value_name = "PORT")]
    pub port: Option<u16>,

    /// Replay nothing, so that the port opens at once
    #[arg(long)]
    pub no_replay: bool,
}

impl Subject {
    /// Returns the command line of the program.
    pub fn line(&self) -> Result<CommandLine> {
        CommandLine::of(&self.command, &here()?, variable)
    }

    /// Returns the build of the Java that runs.
    pub fn release(&self, line: &CommandLine) -> Result<Release> {
        let named = self.java.clone().or_else(|| line.java(variable));
        let java =
            named.ok_or_else(|| Error::new(Code::Usage, "there is no java in PATH").hint("name one with --java"))?;
        Release::of_program(&java)
    }

    /// Returns the directory of the profile as an absolute path.
    pub fn folder(&self, line: &CommandLine) -> Result<PathBuf> {
        Ok(match &self.profile {
            Some(folder) => std::path::absolute(folder)
                .map_err(|e| Error::io(Code::Usage, "cannot find the profile", &e).at_path(folder.to_string_lossy()))?,
            None => line.default_profile(),
        })
    }
}

/// Parses a length of time in seconds.
pub fn seconds(text: &str) -> std::result::Result<f64, String> {
    let is_fit = |n: &f64| *n > 0.0 && *n <= 3600.0;
    text.parse().ok().filter(is_fit).ok_or("a number of seconds above 0 and up to 3600 is needed".into())
}

/// Returns the working directory.
pub fn here() -> Result<PathBuf> {
    std::env::current_dir().map_err(|e| Error::io(Code::Input, "cannot find the working directory", &e))
}

/// Returns a variable of the environment, if it is set and not empty.
pub fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// Returns the address of a request's server.
pub fn address(request: &Request) -> Result<SocketAddr> {
    request.address().map_err(|e| Error::io(Code::Input, "cannot find the host", &e).at_path(request.url()))
}

/// Returns a path as text for the JVM, whose options are text.
pub fn text_of(path: &Path) -> Result<String> {
    // A colon separates two archives, and a percent sign begins a number of the process.
    let text = path.to_str().filter(|text| !text.contains(['\n', '"', ':', '%']));
    text.map(String::from).ok_or_else(|| {
        Error::new(Code::Usage, "the JVM's options cannot hold this path")
            .at_path(path.to_string_lossy())
            .hint("name another with --profile")
    })
}
