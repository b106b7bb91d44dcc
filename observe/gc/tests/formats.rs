//! Logs of every collector and version, in excerpts of their style; and logs that are damaged.

use yunti_gc::event::Space;
use yunti_gc::{Collector, Kind, Log, Parser, Summary, findings, verdict};

fn parse(text: &str) -> Log {
    let mut parser = Parser::default();
    text.lines().for_each(|line| parser.line(line.as_bytes()));
    parser.finish()
}

/// Checks kinds, causes and milliseconds of all pauses of a log without damage.
fn check(text: &str, collector: Collector, expect: &[(Kind, &str, f64)]) -> Log {
    let log = parse(text);
    let found: Vec<(Kind, &str, f64)> =
        log.events.iter().map(|event| (event.kind, log.cause(event), event.pause_ms)).collect();
    assert_eq!(found.len(), expect.len(), "{found:?}");
    for (found, expect) in found.iter().zip(expect) {
        assert_eq!((found.0, found.1), (expect.0, expect.1));
        assert!((found.2 - expect.2).abs() < 1e-6, "{found:?} {expect:?}");
    }
    assert_eq!((log.collector, log.foreign, log.damaged), (Some(collector), 0, 0));
    log
}

const MIB: u64 = 1 << 20;

const G1: &str = "\
[0.006s][info][gc     ] Using G1
[0.021s][info][gc,init] Version: 21.0.1+12 (release)
[0.021s][info][gc,init] CPUs: 8 total, 4 available
[0.021s][info][gc,init] Heap Region Size: 2M
[0.021s][info][gc,init] Heap Max Capacity: 512M
[1.000s][info][gc,start    ] GC(0) Pause Young (Normal) (G1 Evacuation Pause)
[1.000s][info][gc,task     ] GC(0) Using 4 workers of 4 for evacuation
[1.005s][info][gc,phases   ] GC(0)   Pre Evacuate Collection Set: 0.1ms
[1.005s][info][gc,phases   ] GC(0)   Evacuate Collection Set: 4.7ms
[1.005s][debug][gc,phases  ] GC(0)     Ext Root Scanning (ms):   Min:  0.1, Avg:  0.2, Max:  0.3, Diff:  0.2, Sum:  0.8, Workers: 4
[1.005s][info][gc,heap     ] GC(0) Eden regions: 12->0(20)
[1.005s][info][gc,heap     ] GC(0) Survivor regions: 0->2(3)
[1.005s][info][gc,heap     ] GC(0) Old regions: 3->4
[1.005s][info][gc,heap     ] GC(0) Humongous regions: 1->1
[1.005s][info][gc,metaspace] GC(0) Metaspace: 3495K(3712K)->3495K(3712K) NonClass: 3140K(3264K)->3140K(3264K)
[1.005s][info][gc          ] GC(0) Pause Young (Normal) (G1 Evacuation Pause) 31M->13M(512M) 5.500ms
[1.005s][info][gc,cpu      ] GC(0) User=0.02s Sys=0.01s Real=0.01s
[2.000s][info][gc          ] GC(1) Pause Young (Concurrent Start) (Metadata GC Threshold) 31M->13M(512M) 2.000ms
[2.000s][info][gc          ] GC(2) Concurrent Mark Cycle
[2.001s][info][gc          ] GC(3) To-space exhausted
[2.001s][info][gc          ] GC(3) Pause Young (Normal) (G1 Evacuation Pause) 500M->480M(512M) 50.000ms
[2.500s][info][gc          ] GC(2) Pause Remark 480M->480M(512M) 1.250ms
[2.600s][info][gc          ] GC(2) Pause Cleanup 480M->470M(512M) 0.125ms
[2.600s][info][gc          ] GC(2) Concurrent Mark Cycle 600.000ms
[3.000s][info][gc          ] GC(4) Pause Full (G1 Compaction Pause) 500M->100M(512M) 300.000ms
[3.100s][info][safepoint   ] Safepoint \"ThreadDump\", Time since last: 5 ns, Reaching safepoint: 1000000 ns, At safepoint: 2000000 ns, Leaving safepoint: 1 ns, Total: 3000000 ns, Threads: 0 runnable, 9 total
";

#[test]
fn g1_of_unified_logging() {
    let log = check(
        G1,
        Collector::G1,
        &[
            (Kind::Young, "G1 Evacuation Pause", 5.5),
            (Kind::ConcurrentStart, "Metadata GC Threshold", 2.0),
            (Kind::Young, "G1 Evacuation Pause", 50.0),
            (Kind::Remark, "concurrent cycle", 1.25),
            (Kind::Cleanup, "concurrent cycle", 0.125),
            (Kind::Full, "G1 Compaction Pause", 300.0),
        ],
    );
    let first = log.events[0];
    assert!((first.start_s - 0.9995).abs() < 1e-9);
    assert_eq!((first.workers, first.heap.before, first.heap.total), (4, 31 * MIB, 512 * MIB));
    assert_eq!(first.space(Space::Eden).before, 24 * MIB);
    assert_eq!(first.space(Space::Survivor).after, 4 * MIB);
    assert_eq!(first.space(Space::Humongous).after, 2 * MIB);
    assert_eq!(first.space(Space::Metaspace).total, 3712 << 10);
    assert_eq!(first.cpu.unwrap().user, 0.02);
    assert_eq!((log.settings.version.as_str(), log.settings.processors), ("21.0.1+12", 4));
    assert_eq!(log.events.iter().filter(|event| event.is_exhausted).count(), 1);
    assert_eq!(log.phases.get("Ext Root Scanning").unwrap().total_ms, 0.2);
    assert_eq!(log.phases.get("Evacuate Collection Set").unwrap().total_ms, 4.7);
    assert_eq!(log.concurrent.get("Concurrent Mark Cycle").unwrap().total_ms, 600.0);
    let stops = log.safepoints.get("ThreadDump").unwrap();
    assert_eq!((stops.total.total_ms, stops.reaching.total_ms), (3.0, 1.0));
    assert_eq!(log.longest[0].event.kind, Kind::Full);
    // 31 - 13 MiB, twice, 500 - 13, nothing, and 500 - 470.
    assert_eq!(log.heap.allocated, (18 + 487 + 30) * MIB);
}

#[test]
fn decorations_may_be_any() {
    let pause = "GC(7) Pause Young (Allocation Failure) 34M->2M(123M) 17.500ms";
    for (decorations, start_s) in [
        ("[12.000s][info][gc] ", 11.9825),
        ("[12000ms][1234][5678][info][gc          ] ", 11.9825),
        ("[12000000000ns] ", 11.9825),
        ("[2026-01-31T10:00:00.000+0100][12.000s][host-1][info][gc] ", 11.9825),
        ("[2026-01-31T10:00:00.000+0100][gc] ", 0.0),
        ("[1769850000000ms][gc] ", 0.0),
        ("[gc] ", 0.0),
        ("", 0.0),
    ] {
        let log = parse(&format!("{decorations}{pause}\n"));
        assert_eq!((log.events.len(), log.foreign), (1, 0), "{decorations}");
        assert!((log.events[0].start_s - start_s).abs() < 1e-9, "{decorations} {}", log.events[0].start_s);
    }
}

#[test]
fn old_unified_logs_have_times_in_the_message() {
    let log = check(
        "[0.015s][info][gc] Using G1\n\
         [0.200s][info][gc] GC(0) Pause Initial Mark (G1 Humongous Allocation) 9M->8M(16M) (0.190s, 0.200s) 10.000ms\n\
         [0.300s][info][gc,marking] GC(1) Concurrent Mark (0.290s, 0.300s) 10.000ms\n\
         [0.400s][info][gc] GC(2) Pause Mixed (G1 Evacuation Pause) 9M->8M(16M) 2.000ms\n",
        Collector::G1,
        &[(Kind::ConcurrentStart, "G1 Humongous Allocation", 10.0), (Kind::Mixed, "G1 Evacuation Pause", 2.0)],
    );
    assert_eq!(log.concurrent.get("Concurrent Mark").unwrap().count, 1);
}

#[test]
fn serial_and_parallel_of_unified_logging() {
    let log = check(
        "[0.005s][info][gc] Using Serial\n\
         [3.705s][info][gc,heap     ] GC(0) DefNew: 300K(400K)->20K(400K) Eden: 300K(300K)->0K(300K) From: 0K(50K)->20K(50K)\n\
         [3.705s][info][gc,heap     ] GC(0) Tenured: 0K(800K)->10K(800K)\n\
         [3.705s][info][gc          ] GC(0) Pause Young (Allocation Failure) 300K->30K(1200K) 17.500ms\n\
         [3.708s][info][gc,cpu      ] GC(0) User=0.01s Sys=0.01s Real=0.02s\n",
        Collector::Serial,
        &[(Kind::Young, "Allocation Failure", 17.5)],
    );
    assert_eq!(log.events[0].space(Space::Survivor).after, 20 << 10);
    assert_eq!(log.heap.promoted, 10 << 10);
    let log = check(
        "[0.005s][info][gc] Using Parallel\n\
         [4.0s][info][gc,phases   ] GC(3) Marking Phase 3.500ms\n\
         [4.0s][info][gc,heap     ] GC(3) PSYoungGen: 30K->0K(400K)\n\
         [4.0s][info][gc,heap     ] GC(3) ParOldGen: 100K->80K(800K)\n\
         [4.0s][info][gc          ] GC(3) Pause Full (Ergonomics) 0M->0M(1M) 12.000ms\n",
        Collector::Parallel,
        &[(Kind::Full, "Ergonomics", 12.0)],
    );
    assert_eq!(log.phases.get("Marking Phase").unwrap().total_ms, 3.5);
    assert_eq!(log.events[0].space(Space::Old).after, 80 << 10);
}

#[test]
fn zgc_of_one_generation() {
    let log = check(
        "[0.010s][info][gc,init] Initializing The Z Garbage Collector\n\
         [0.010s][info][gc,init] Max Capacity: 128M\n\
         [0.010s][info][gc     ] Using The Z Garbage Collector\n\
         [1.600s][info][gc,start    ] GC(5) Garbage Collection (Allocation Rate)\n\
         [1.666s][info][gc,phases   ] GC(5) Pause Mark Start 0.009ms\n\
         [1.677s][info][gc,phases   ] GC(5) Concurrent Mark 10.444ms\n\
         [1.677s][info][gc,phases   ] GC(5) Pause Mark End 0.019ms\n\
         [1.682s][info][gc,phases   ] GC(5) Pause Relocate Start 0.016ms\n\
         [1.683s][info][gc,heap     ] GC(5)      Live:         -                 3M (3%)            3M (3%)\n\
         [1.683s][info][gc,heap     ] GC(5) Allocated:         -                 1M (0%)            5M (5%)             -\n\
         [1.683s][info][gc          ] GC(5) Garbage Collection (Allocation Rate) 100M(78%)->12M(9%)\n\
         [1.690s][info][gc          ] Allocation Stall (main) 25.500ms\n",
        Collector::Z,
        &[
            (Kind::MarkStart, "Allocation Rate", 0.009),
            (Kind::MarkEnd, "Allocation Rate", 0.019),
            (Kind::RelocateStart, "Allocation Rate", 0.016),
        ],
    );
    let sample = log.heap.samples[0];
    assert_eq!((sample.before, sample.after, sample.live), (100 * MIB, 12 * MIB, 3 * MIB));
    assert_eq!(log.heap.allocated, 5 * MIB);
    assert_eq!(log.stalls.get("main").unwrap().max_ms, 25.5);
}

#[test]
fn zgc_with_generations() {
    let log = check(
        "[0.124s][info][gc     ] Using The Z Garbage Collector\n\
         [1.079s][info][gc          ] GC(2) Minor Collection (Allocation Rate)\n\
         [1.080s][info][gc,phases   ] GC(2) y: Young Generation\n\
         [1.080s][info][gc,phases   ] GC(2) y: Pause Mark Start 0.029ms\n\
         [1.094s][info][gc,heap     ] GC(2) y: Allocated:         -                 2M (2%)            9M (7%)\n\
         [1.094s][info][gc,phases   ] GC(2) y: Young Generation 74M(58%)->44M(34%) 0.015s\n\
         [1.094s][info][gc          ] GC(2) Minor Collection (Allocation Rate) 74M(58%)->46M(36%) 0.015s\n\
         [1.200s][info][gc          ] GC(3) Major Collection (Warmup)\n\
         [1.200s][info][gc,phases   ] GC(3) O: Pause Mark End 0.017ms\n\
         [1.300s][info][gc          ] GC(3) Major Collection (Warmup) 80M(63%)->30M(24%) 0.100s\n",
        Collector::GenerationalZ,
        &[(Kind::MarkStart, "Allocation Rate", 0.029), (Kind::MarkEnd, "Warmup", 0.017)],
    );
    assert_eq!((log.heap.samples.len(), log.heap.allocated), (2, 9 * MIB));
}

#[test]
fn shenandoah_of_unified_logging() {
    let log = check(
        "[0.2s][info][gc     ] Using Shenandoah\n\
         [0.4s][info][gc,init] Mode: Generational\n\
         [3.3s][info][gc          ] Trigger (Young): Free (19M) is below minimum threshold (20M)\n\
         [3.408s][info][gc          ] GC(3) Pause Init Mark (unload classes) 0.034ms\n\
         [3.422s][info][gc          ] GC(3) Concurrent marking (unload classes) 13.538ms\n\
         [3.422s][info][gc          ] GC(3) Pause Final Mark (unload classes) 0.131ms\n\
         [3.425s][info][gc          ] GC(3) Concurrent cleanup 44M->27M(128M) 0.028ms\n\
         [3.436s][info][gc          ] GC(3) Pause Init Update Refs 0.017ms\n\
         [3.448s][info][gc          ] GC(3) Pause Final Update Refs 0.083ms\n\
         [3.452s][info][gc          ] GC(3) Concurrent cleanup 47M->42M(128M) 0.046ms\n\
         [4.000s][info][gc          ] GC(4) Pause Degenerated GC (Outside of Cycle) 120M->20M(128M) 55.000ms\n",
        Collector::GenerationalShenandoah,
        &[
            (Kind::MarkStart, "Free", 0.034),
            (Kind::MarkEnd, "Free", 0.131),
            (Kind::UpdateStart, "Free", 0.017),
            (Kind::UpdateEnd, "Free", 0.083),
            (Kind::Degenerated, "Outside of Cycle", 55.0),
        ],
    );
    assert_eq!(log.heap.allocated, (20 + 78) * MIB);
}

#[test]
fn parallel_and_serial_of_jdk_8() {
    let log = check(
        "2015-05-26T14:45:37.987-0200: 1.126: [GC (Allocation Failure) [PSYoungGen: 65K->10K(76K)] 65K->14K(251K), 0.0125000 secs] [Times: user=0.06 sys=0.01, real=0.02 secs] \n\
         2015-05-26T14:45:38.987-0200: 2.126: [Full GC (Ergonomics) [PSYoungGen: 10K->0K(76K)] [ParOldGen: 4K->9K(175K)] 14K->9K(251K), [Metaspace: 2K->2K(1056K)], 0.2500000 secs] [Times: user=0.20 sys=0.00, real=0.25 secs] \n\
         2015-05-26T14:45:39.987-0200: 3.126: Total time for which application threads were stopped: 0.2600000 seconds, Stopping threads took: 0.0010000 seconds\n",
        Collector::Parallel,
        &[(Kind::Young, "Allocation Failure", 12.5), (Kind::Full, "Ergonomics", 250.0)],
    );
    assert_eq!(log.events[0].start_s, 1.126);
    assert_eq!(log.events[0].space(Space::Young).after, 10 << 10);
    assert_eq!(log.events[1].cpu.unwrap().real, 0.25);
    assert_eq!(log.heap.promoted, 4 << 10);
    assert_eq!(log.safepoints.get("collection").unwrap().total.total_ms, 260.0);
    check(
        "1.0: [GC (Allocation Failure) 1.0: [DefNew\n\
         Desired survivor size 35782656 bytes, new threshold 15 (max 15)\n\
         - age   1:     123456 bytes,     123456 total\n\
         : 300K->20K(400K), 0.0050000 secs] 300K->30K(1200K), 0.0060000 secs] [Times: user=0.01 sys=0.00, real=0.01 secs] \n",
        Collector::Serial,
        &[(Kind::Young, "Allocation Failure", 6.0)],
    );
}

#[test]
fn cms_of_jdk_8() {
    let log = check(
        "1.0: [GC (Allocation Failure) 1.0: [ParNew: 613K->68K(613K), 0.1020840 secs] 618K->95K(2063K), 0.1021820 secs] [Times: user=0.15 sys=0.02, real=0.10 secs]\n\
         2.0: [GC (CMS Initial Mark) [1 CMS-initial-mark: 1081K(1190K)] 1088K(1251K), 0.0002000 secs] [Times: user=0.00 sys=0.00, real=0.00 secs] \n\
         2.1: [CMS-concurrent-mark-start]\n\
         2.2: [CMS-concurrent-mark: 0.035/0.040 secs] [Times: user=0.10 sys=0.00, real=0.04 secs] \n\
         3.0: [GC (CMS Final Remark) [YG occupancy: 387 K (613 K)]3.0: [Rescan (parallel) , 0.0085 secs]3.0: [weak refs processing, 0.0000243 secs][1 CMS-remark: 1081K(1190K)] 1120K(1251K), 0.0110000 secs] [Times: user=0.01 sys=0.00, real=0.01 secs] \n\
         4.0: [GC (Allocation Failure) 4.0: [ParNew (promotion failed): 613K->611K(613K), 0.1 secs]4.1: [CMS (concurrent mode failure): 1081K->500K(1190K), 5.1 secs] 1600K->500K(1804K), [Metaspace: 2K->2K(1056K)], 5.2000000 secs] [Times: user=5.20 sys=0.00, real=5.20 secs] \n",
        Collector::Cms,
        &[
            (Kind::Young, "Allocation Failure", 102.182),
            (Kind::ConcurrentStart, "CMS Initial Mark", 0.2),
            (Kind::Remark, "CMS Final Remark", 11.0),
            (Kind::Full, "Allocation Failure", 5200.0),
        ],
    );
    assert_eq!((log.lost_cycles, log.exhausted), (1, 1));
    assert_eq!(log.concurrent.get("CMS-concurrent-mark").unwrap().total_ms, 40.0);
}

#[test]
fn g1_of_jdk_8() {
    let log = check(
        "1.234: [GC pause (G1 Evacuation Pause) (young), 0.0125000 secs]\n   \
         [Parallel Time: 10.3 ms, GC Workers: 4]\n      \
         [Ext Root Scanning (ms): Min: 0.1, Avg: 0.2, Max: 0.3, Diff: 0.2, Sum: 0.8]\n      \
         [Ref Proc: 0.5 ms]\n   \
         [Eden: 24.0M(24.0M)->0.0B(13.0M) Survivors: 0.0B->3072.0K Heap: 24.0M(256.0M)->5.5M(256.0M)]\n \
         [Times: user=0.03 sys=0.00, real=0.01 secs] \n\
         2.0: [GC pause (G1 Humongous Allocation) (young) (initial-mark) (to-space exhausted), 0.1000000 secs]\n\
         3.0: [GC concurrent-mark-start]\n\
         3.1: [GC concurrent-mark-end, 0.0300000 secs]\n\
         3.2: [GC remark 3.2: [Finalize Marking, 0.0002 secs] 3.2: [GC ref-proc, 0.0001 secs], 0.0030000 secs]\n\
         3.3: [GC cleanup 100M->90M(256M), 0.0010000 secs]\n\
         4.0: [Full GC (System.gc())  90M->10M(256M), 0.5000000 secs]\n",
        Collector::G1,
        &[
            (Kind::Young, "G1 Evacuation Pause", 12.5),
            (Kind::ConcurrentStart, "G1 Humongous Allocation", 100.0),
            (Kind::Remark, "concurrent cycle", 3.0),
            (Kind::Cleanup, "concurrent cycle", 1.0),
            (Kind::Full, "System.gc()", 500.0),
        ],
    );
    let first = log.events[0];
    assert_eq!((first.workers, first.space(Space::Eden).before, first.heap.total), (4, 24 * MIB, 256 * MIB));
    assert_eq!(log.phases.get("Ref Proc").unwrap().total_ms, 0.5);
    assert_eq!(log.concurrent.get("GC concurrent-mark").unwrap().total_ms, 30.0);
}

#[test]
fn other_output_breaks_records_of_jdk_8() {
    // An age table within a record, a concurrent phase within a pause, and the heap around a young collection.
    let log = check(
        "1.0: [GC (Allocation Failure) \n\
         Desired survivor size 4194304 bytes, new threshold 7 (max 15)\n\
         [PSYoungGen: 300K->20K(400K)] 300K->30K(1200K), 0.0125000 secs] [Times: user=0.02 sys=0.02, real=0.01 secs]\n\
         2.0: [GC pause (G1 Humongous Allocation) (young)2.0: [GC concurrent-root-region-scan-end, 0.0150000 secs]\n\
         2.0: [GC concurrent-mark-start]\n\
         , 0.0470000 secs]\n      \
         [GC Worker Start (ms): Min: 160, Avg: 161, Max: 162, Diff: 2]\n\
         3.0: [GC (CMS Final Remark) [YG occupancy: 10 K (47 K)]{Heap before GC invocations=22 (full 13):\n \
         par new generation   total 47936K, used 10451K [0x00f6, 0x00f9, 0x00f9)\n\
         3.0: [GC (CMS Final Remark) 3.0: [ParNew: 10K->9K(47K), 0.0001 secs] 11K->10K(15K), 0.0002 secs]\n\
         }\n\
         3.1: [Rescan (parallel) , 0.0002 secs][1 CMS-remark: 1K(1K)] 1K(1K), 0.0080000 secs] [Times: user=0.01 sys=0.00, real=0.01 secs]\n",
        Collector::Cms,
        &[
            (Kind::Young, "Allocation Failure", 12.5),
            (Kind::Young, "G1 Humongous Allocation", 47.0),
            (Kind::Remark, "CMS Final Remark", 8.0),
        ],
    );
    assert_eq!(log.events[0].heap.after, 30 << 10);
}

#[test]
fn lines_of_others_are_counted() {
    let log = parse("hello\n[not closed\n\n2026-01-01 INFO started\n[1.0s][info][gc] GC(0) Pause Remark 1.000ms\n");
    assert_eq!((log.lines, log.foreign, log.events.len()), (5, 3, 1));
}

#[test]
fn findings_have_a_cure() {
    let mut text = "[0.006s][info][gc] Using Parallel\n[0.01s][info][gc,init] Heap Max Capacity: 2048M\n".to_owned();
    for n in 1..200 {
        let at = f64::from(n) * 0.1;
        text += &format!(
            "[{at:.3}s][info][gc,heap] GC({n}) PSYoungGen: 60M(70M)->2M(70M) Eden: 58M(60M)->0M(60M) From: 2M(8M)->2M(8M)\n\
             [{at:.3}s][info][gc] GC({n}) Pause Young (Allocation Failure) 100M->42M(170M) 8.000ms\n"
        );
    }
    let log = parse(&text);
    let summary = Summary::of(&log);
    let findings = findings(&log, &summary);
    assert_eq!(findings[0].rule, "young too small");
    let sentence = verdict(&summary, &findings);
    assert!(
        sentence.starts_with("pauses take 8.0 % of the time (199 pauses, longest 8 ms); most are young"),
        "{sentence}"
    );
    assert!(sentence.contains("-Xmn"), "{sentence}");
    let healthy = parse(&text.replace("8.000ms", "0.100ms"));
    let summary = Summary::of(&healthy);
    assert_eq!(
        verdict(&summary, &yunti_gc::findings(&healthy, &summary)),
        "nothing is wrong: pauses take 0.1 %, longest 0.1 ms"
    );
}

/// Returns the next number of a fixed sequence (Marsaglia's xorshift).
fn next(state: &mut u64) -> usize {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state as usize
}

/// No bytes make the parser or the rules panic.
#[test]
fn damaged_logs_do_no_harm() {
    let source = include_str!("formats.rs").as_bytes();
    let mut state = 0x2545_f491_4f6c_dd1d;
    for round in 0..400 {
        let mut bytes = if round % 2 == 0 { G1.as_bytes().to_vec() } else { source.to_vec() };
        for _ in 0..1 + next(&mut state) % 60 {
            let at = next(&mut state) % bytes.len();
            match next(&mut state) % 5 {
                0 => bytes[at] = next(&mut state) as u8,
                1 => bytes[at] = b"0123456789.,()[]->KMGms:\n "[next(&mut state) % 26],
                2 => bytes.insert(at, b"9[]()-"[next(&mut state) % 6]),
                3 => _ = bytes.drain(at..(at + next(&mut state) % 40).min(bytes.len())),
                _ => bytes.truncate(bytes.len().max(at + 100)),
            }
            if bytes.is_empty() {
                break;
            }
        }
        let mut parser = Parser::default();
        // The excerpts of this file are indented and quoted.
        bytes.split(|c| *c == b'\n').for_each(|line| parser.line(line.trim_ascii_start()));
        let log = parser.finish();
        let summary = Summary::of(&log);
        let found = findings(&log, &summary);
        assert!(!verdict(&summary, &found).is_empty());
        assert!(summary.pause_share() >= 0.0 && found.iter().all(|finding| finding.cost.is_finite()));
    }
}
