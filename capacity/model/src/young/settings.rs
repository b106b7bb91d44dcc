//! Settings that give a JVM a young generation of a size, by collector.

use serde::Serialize;

use crate::demands::{Collector, Gc};

const MEGABYTE: f64 = 1048576.0;
/// Heap that the old generation needs, by its live bytes.
const OLD_PER_LIVE: f64 = 1.5;

/// Options of the JVM, and what to know about them.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Settings {
    pub collector: Collector,
    /// Options to write; empty if the present size is large enough.
    pub options: Vec<String>,
    pub notes: Vec<String>,
}

impl Settings {
    /// Returns the settings for another size of the young generation, or of the free heap between two cycles of a
    /// collector that works beside the requests.
    pub fn of(gc: &Gc, present_bytes: f64, young_bytes: f64) -> Settings {
        let collector = Collector::of(&gc.collector);
        let mut settings = Settings { collector, options: Vec::new(), notes: Vec::new() };
        if young_bytes <= present_bytes {
            let what = if collector.is_concurrent() { "heap" } else { "young generation" };
            settings.notes.push(format!("The {what} is large enough."));
            return settings;
        }
        match collector {
            Collector::Parallel | Collector::Serial | Collector::Other => settings.generations(gc, young_bytes),
            Collector::G1 => settings.regions(gc, young_bytes),
            Collector::Z | Collector::Shenandoah => settings.headroom(gc, young_bytes - present_bytes),
        }
        settings
    }

    /// Raises the heap so that the old generation keeps its room. Returns its megabytes; absent if they are unknown.
    fn heap(&mut self, gc: &Gc, young_bytes: f64) -> Option<f64> {
        let needed = ((young_bytes + gc.live_bytes_after_old.unwrap_or(0.0) * OLD_PER_LIVE) / MEGABYTE).ceil();
        let heap = heap_megabytes(gc);
        match heap {
            Some(heap) if heap < needed => self.options.push(format!("-Xmx{needed}m")),
            Some(_) => {}
            None => self.notes.push("Raise -Xmx by as much as the young generation grows.".into()),
        }
        heap.map(|heap| heap.max(needed))
    }

    fn generations(&mut self, gc: &Gc, young_bytes: f64) {
        self.heap(gc, young_bytes);
        let young = (young_bytes / MEGABYTE).ceil();
        self.options.push(format!("-Xmn{young}m"));
        self.options.push("-XX:+AlwaysPreTouch".into());
        let note = "Without AlwaysPreTouch the first pass through a larger Eden is slow, and a trial of it misleads.";
        self.notes.push(note.into());
    }

    fn regions(&mut self, gc: &Gc, young_bytes: f64) {
        let young = (young_bytes / MEGABYTE).ceil();
        match self.heap(gc, young_bytes) {
            Some(heap) => {
                let least = (young / heap * 100.0).ceil().clamp(1.0, 90.0);
                self.options.push("-XX:+UnlockExperimentalVMOptions".into());
                self.options.push(format!("-XX:G1NewSizePercent={least}"));
                self.options.push(format!("-XX:G1MaxNewSizePercent={}", (least + 10.0).clamp(60.0, 95.0)));
            }
            None => {
                let note = format!("Set -XX:G1NewSizePercent to the share that {young} MB are of -Xmx.");
                self.notes.push(note + " It needs -XX:+UnlockExperimentalVMOptions.");
            }
        }
        self.notes.push("G1 sizes the young generation by its pause goal: -XX:MaxGCPauseMillis may limit it.".into());
        self.notes.push("-Xmn with G1 fixes the size and switches the pause goal off.".into());
    }

    fn headroom(&mut self, gc: &Gc, more_bytes: f64) {
        let more = (more_bytes / MEGABYTE).ceil();
        match heap_megabytes(gc) {
            Some(heap) => self.options.push(format!("-Xmx{}m", heap + more)),
            None => self.notes.push(format!("Raise -Xmx by {more} MB.")),
        }
        self.notes.push("This collector has no young size to set: its cycles are rarer with more free heap.".into());
        self.notes.push(
            "If -XX:SoftMaxHeapSize is below -Xmx, raise it as well; that needs no restart: jcmd PID VM.set_flag."
                .into(),
        );
        if gc.stall_ms_per_request.unwrap_or(0.0) > 0.0 {
            self.notes.push(
                "Requests waited for free memory. If a larger heap does not end it, let the collector use more \
                 processors: -XX:ConcGCThreads."
                    .into(),
            );
        }
    }
}

fn heap_megabytes(gc: &Gc) -> Option<f64> {
    gc.heap_bytes.map(|heap| (heap / MEGABYTE).floor())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_collector_has_its_options() {
        let mb = MEGABYTE;
        for (name, heap, expect) in [
            ("Parallel", Some(4096.0), "-Xmn1024m -XX:+AlwaysPreTouch"),
            ("PS Scavenge", Some(1100.0), "-Xmx1174m -Xmn1024m -XX:+AlwaysPreTouch"),
            ("Serial", None, "-Xmn1024m -XX:+AlwaysPreTouch"),
            ("G1", None, ""),
            ("G1", Some(2048.0), "-XX:+UnlockExperimentalVMOptions -XX:G1NewSizePercent=50 -XX:G1MaxNewSizePercent=60"),
            ("ZGC", Some(2048.0), "-Xmx3008m"),
            ("generational ZGC", Some(2048.0), "-Xmx3008m"),
            ("Shenandoah", None, ""),
            ("Shenandoah", Some(512.0), "-Xmx1472m"),
        ] {
            let gc = Gc {
                collector: name.into(),
                heap_bytes: heap.map(|heap| heap * mb),
                live_bytes_after_old: Some(100.0 * mb),
                ..Gc::default()
            };
            let found = Settings::of(&gc, 64.0 * mb, 1024.0 * mb);
            assert_eq!(found.options.join(" "), expect, "{name}");
            assert!(!found.notes.is_empty());
            assert!(Settings::of(&gc, 1024.0 * mb, 1024.0 * mb).options.is_empty());
            let is_late = Gc { stall_ms_per_request: Some(0.1), ..gc };
            let late = Settings::of(&is_late, 64.0 * mb, 1024.0 * mb).notes;
            assert_eq!(late.iter().any(|note| note.contains("ConcGCThreads")), found.collector.is_concurrent());
        }
    }
}
