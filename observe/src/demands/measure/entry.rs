//! Java method at which requests begin.

use yunti_base::{Code, Error, Result};
use yunti_probe::target::Process;

use crate::jvm::{self, servers};

/// Java method at which requests begin.
pub struct Entry {
    /// `com.shop.Cart.total`.
    pub method: String,
    /// Method on the stack while a thread works for requests.
    pub around: String,
    /// True if the user has named a method of the program, so that its name is the kind of its requests.
    pub is_of_user: bool,
}

impl Entry {
    /// Returns the method that the user names, or else the one of the server in the JVM.
    pub fn of(named: Option<&str>, process: &Process) -> Result<Entry> {
        let server = match named {
            Some(method) => servers::server_with(method),
            None => servers::server(&jvm::loaded_classes(process)?),
        };
        match (server, named) {
            (Some(server), _) => Ok(Entry { method: server.method(), around: server.around(), is_of_user: false }),
            (None, Some(method)) => Ok(Entry { method: method.into(), around: method.into(), is_of_user: true }),
            (None, None) => {
                let text = format!("process {} has none of these servers: {}", process.pid, servers::known());
                Err(Error::new(Code::Input, text).hint("name the method of a request: --method Class.method"))
            }
        }
    }
}
