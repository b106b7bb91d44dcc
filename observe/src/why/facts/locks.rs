//! Locks as facts: threads that wait for each other, and sessions of a database.

use std::collections::HashMap;

/// Threads that wait for each other: what each waits for, and who holds it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Deadlock {
    /// Thread, what it waits for, and the thread that holds it.
    pub waits: Vec<(String, String, String)>,
    /// Places in which they wait, by thread.
    pub places: HashMap<String, String>,
}

/// Sessions of a server, on average.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sessions {
    /// Server, as in `postgres 4711 at 127.0.0.1:5432`; empty if the process is a session itself.
    pub server: String,
    pub waiting: f64,
    /// Sessions with a statement, waiting or not.
    pub working: f64,
    pub idle_in_transaction: f64,
    /// Statement of the waiting sessions, such as `UPDATE`.
    pub statement: String,
}
