//! Settings of a watch: what is measured, when, and where results go.

use serde::{Deserialize, Serialize};

/// Name and version of the settings' format.
pub const FORMAT: &str = "yunti-watch-settings/1";

/// Settings of one watch.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    pub format: String,
    /// Regular expression that matches the command line of the process.
    pub pid_of: String,
    /// Address for the load run; without it, the service's own traffic is measured.
    pub url: Option<String>,
    /// Access log whose requests the load run sends.
    pub urls: Option<String>,
    /// Local time of the daily measurement, `03:00`.
    pub daily: Option<String>,
    /// Time for which records are kept, in days.
    pub keep_days: u32,
    /// Command whose first line is the release label.
    pub label_cmd: Option<String>,
    /// Requests a second of the load run, and its length in seconds.
    pub load_rate: f64,
    pub load_seconds: u32,
    /// True if a load in steps searches for the peak after each measurement.
    pub peak: bool,
    /// Address to which the verdict of each measurement is posted.
    pub hook: Option<String>,
    /// Number of windows, and their length in seconds.
    pub windows: u32,
    pub window_seconds: u32,
    /// Unix time of the creation in milliseconds: earlier schedules are not due.
    pub created_ms: u64,
}
