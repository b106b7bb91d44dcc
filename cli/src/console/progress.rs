//! Progress on a terminal: stage, a bar, MB/s, time left. Nothing is shown if standard error is not a terminal.
//!
//! The bar appears after `FIRST`, so that a short job shows none, and is erased at the end. The engine computes the
//! completed share of the whole job. From 99 % on, the bar shows the stage that finishes, instead of a percentage.

use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use yunti_engine::job::{Control, Progress};

use crate::text::numbers;

/// Delay before the bar appears.
const FIRST: Duration = Duration::from_millis(300);
/// Interval between updates of the bar.
const EACH: Duration = Duration::from_millis(100);

/// Progress display, which lasts until it is dropped.
pub struct ProgressDisplay {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// Shows progress until the result is dropped. Calls `progress` ten times a second; `quiet` shows nothing.
pub fn show(progress: impl Fn() -> Progress + Send + 'static, quiet: bool) -> ProgressDisplay {
    if quiet || !super::is_rich(&std::io::stderr()) {
        return ProgressDisplay { stop: None, thread: None };
    }
    let (stop, stopped) = channel::<()>();
    let begin = Instant::now();
    let thread = std::thread::Builder::new().name("yunti-progress".into()).spawn(move || {
        let mut bar: Option<ProgressBar> = None;
        let mut rate = Rate::default();
        let mut wait = FIRST;
        while stopped.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
            wait = EACH;
            let bar = bar.get_or_insert_with(new_bar);
            let (permille, line) = describe(&progress(), begin.elapsed(), &mut rate);
            bar.set_position(permille);
            bar.set_message(line);
            bar.tick();
        }
        if let Some(bar) = bar {
            bar.finish_and_clear();
        }
    });
    ProgressDisplay { stop: Some(stop), thread: thread.ok() }
}

pub fn show_job(control: &Arc<Control>, quiet: bool) -> ProgressDisplay {
    let control = control.clone();
    show(move || control.progress(), quiet)
}

impl Drop for ProgressDisplay {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn new_bar() -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(1000), ProgressDrawTarget::stderr());
    let style = ProgressStyle::with_template("{spinner:.cyan} {bar:24.cyan/dim} {wide_msg}");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("━╸─"));
    bar
}

/// Bytes per second, smoothed over the last seconds.
#[derive(Default)]
struct Rate {
    last: Option<(Duration, u64)>,
    bytes_per_s: f64,
}

impl Rate {
    fn update(&mut self, now: Duration, bytes: u64) -> f64 {
        if let Some((then, before)) = self.last {
            let seconds = (now - then).as_secs_f64();
            if seconds > 0.0 {
                let fresh = bytes.saturating_sub(before) as f64 / seconds;
                let weight = (seconds / 2.0).min(1.0);
                self.bytes_per_s += (fresh - self.bytes_per_s) * weight;
            }
        } else if now > Duration::ZERO {
            self.bytes_per_s = bytes as f64 / now.as_secs_f64();
        }
        self.last = Some((now, bytes));
        self.bytes_per_s
    }
}

/// Returns the completed share in thousandths, and the text beside the bar.
fn describe(p: &Progress, elapsed: Duration, rate: &mut Rate) -> (u64, String) {
    let bytes_per_s = rate.update(elapsed, p.done_bytes);
    let mut words = Vec::new();
    let mut permille = 0;
    if p.total_bytes > 0 {
        permille = (u128::from(p.done_bytes.min(p.total_bytes)) * 1000 / u128::from(p.total_bytes)) as u64;
        if permille < 990 {
            words.push(format!("{:>2} %", permille / 10));
        }
    }
    words.push(match p.stage {
        "" => "starting".into(),
        stage if permille >= 990 => format!("finishing: {stage}"),
        stage => stage.to_string(),
    });
    if p.total_bytes == 0 && p.done_bytes > 0 {
        words.push(numbers::bytes(p.done_bytes));
    }
    if bytes_per_s >= 1.0 {
        words.push(numbers::rate(bytes_per_s / 1e6));
        if p.total_bytes > 0 && permille < 990 {
            let left = p.total_bytes.saturating_sub(p.done_bytes) as f64 / bytes_per_s;
            words.push(format!("{} left", numbers::seconds(left.ceil())));
        }
    }
    words.extend(p.status.clone());
    (permille, words.join(" · "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(done_bytes: u64, total_bytes: u64, expect: &str) {
        let p = Progress { stage: "map", done_bytes, total_bytes, records: 0, output_bytes: 0, status: None };
        let (_, line) = describe(&p, Duration::from_secs(2), &mut Rate::default());
        assert_eq!(line, expect);
    }

    #[test]
    fn a_line_of_progress() {
        check(0, 1000, " 0 % · map");
        check(50_000_000, 200_000_000, "25 % · map · 25 MB/s · 6 s left");
        check(50_000_000, 0, "map · 50 MB · 25 MB/s");
        // From 99 % on no percentage is shown.
        check(199_900_000, 200_000_000, "finishing: map · 100 MB/s");
        check(500_000_000, 200_000_000, "finishing: map · 250 MB/s");
    }
}
