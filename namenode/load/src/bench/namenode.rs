//! A NameNode as a process of ours, gone when it is dropped.

use std::net::TcpStream;
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use yunti_base::Result;

use super::home::{Home, MAIN, Setting};
use super::variant::Variant;

const STARTS_WITHIN: Duration = Duration::from_secs(90);
const LOOK_AGAIN: Duration = Duration::from_millis(100);

pub struct NameNode {
    process: Child,
    pub home: Home,
}

impl NameNode {
    pub fn start(setting: &Setting, variant: &Variant) -> Result<NameNode> {
        let home = Home::make(setting, variant)?;
        let mut namenode = NameNode { process: home.java(&[MAIN], Stdio::null(), Stdio::null())?, home };
        let end = Instant::now() + STARTS_WITHIN;
        while TcpStream::connect_timeout(&namenode.home.address, LOOK_AGAIN).is_err() {
            if Instant::now() > end || namenode.process.try_wait().is_ok_and(|ended| ended.is_some()) {
                return Err(namenode.home.not_up());
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
    }
}
