//! Ctrl-C: the first cancels the job, which cleans up and exits with 130; the second ends the process at once.

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use yunti_base::{Cancel, Code};

/// Sets `cancel` on SIGINT, SIGTERM and SIGHUP, except for signals that the process ignores.
///
/// `nohup` and background jobs of scripts ignore some. If the handlers cannot be set, the signals keep their default
/// action.
pub fn cancel_on_signals(cancel: &Cancel) {
    let Ok(mut signals) = Signals::new(that_end()) else { return };
    let cancel = cancel.clone();
    let _ = std::thread::Builder::new().name("yunti-signals".into()).stack_size(64 << 10).spawn(move || {
        for _ in signals.forever() {
            if cancel.is_set() {
                signal_hook::low_level::exit(i32::from(Code::Cancelled as u8));
            }
            cancel.set();
        }
    });
}

/// Returns the signals that end the process: SIGINT, SIGTERM and SIGHUP, without the ones it ignores.
pub fn that_end() -> impl Iterator<Item = i32> {
    let ignored = ignored_signals();
    [SIGINT, SIGTERM, SIGHUP].into_iter().filter(move |&signal| ignored >> (signal - 1) & 1 == 0)
}

/// Returns the mask of ignored signals from `/proc/self/status`: bit n - 1 is signal n. It is 0 if unreadable.
fn ignored_signals() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|hex| u64::from_str_radix(hex.trim(), 16).ok()).unwrap_or(0)
}
