//! A NameNode as a child process, killed on drop.

use std::net::TcpStream;
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use yunti_base::Result;

use super::home::{Home, MAIN, Setting};
use super::variant::Variant;

const STARTS_WITHIN: Duration = Duration::from_secs(90);
const RETRY: Duration = Duration::from_millis(100);

/// A NameNode that accepts connections.
pub struct NameNode {
    process: Child,
    pub home: Home,
}

impl NameNode {
    /// Starts a NameNode and returns once it accepts connections.
    ///
    /// # Errors
    /// The process ends, or accepts no connection in time.
    pub fn start(setting: &Setting, variant: &Variant) -> Result<NameNode> {
        let home = Home::make(setting, variant)?;
        let mut namenode = NameNode { process: home.java(&[MAIN], Stdio::null(), Stdio::null())?, home };
        let end = Instant::now() + STARTS_WITHIN;
        while TcpStream::connect_timeout(&namenode.home.address, RETRY).is_err() {
            if Instant::now() > end || namenode.process.try_wait().is_ok_and(|ended| ended.is_some()) {
                return Err(namenode.home.not_up());
            }
            thread::sleep(RETRY);
        }
        Ok(namenode)
    }
}

impl Drop for NameNode {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
