//! Forms of lines that logs of others have: each sample is short and written for this test.

use yunti_gc::{Collector, Kind, Log, Parser};

fn parse(text: &str) -> Log {
    let mut parser = Parser::default();
    text.split('\n').for_each(|line| parser.line(line.as_bytes()));
    parser.finish()
}

fn pauses(log: &Log) -> Vec<(Kind, f64)> {
    log.events.iter().map(|event| (event.kind, (event.pause_ms * 1e6).round() / 1e6)).collect()
}

/// Name, text and pauses.
type Sample<'a> = (&'a str, &'a str, &'a [(Kind, f64)]);

/// Each sample has its pauses, and no line of an unknown form.
fn check(samples: &[Sample]) {
    for (name, text, expect) in samples {
        let log = parse(text);
        assert_eq!(pauses(&log), *expect, "{name}");
        assert_eq!((log.foreign, log.damaged), (0, 0), "{name}");
    }
}

#[test]
fn remarks_hold_young_collections() {
    check(&[
        (
            "the young collection of -XX:+CMSScavengeBeforeRemark has a line of its own",
            "1.0: [GC[YG occupancy: 90 K (100 K)]1.0: [GC 1.0: [ParNew: 90K->2K(100K), 0.0030 secs] 95K->7K(900K), 0.0040 secs] [Times: user=0.01 sys=0.00, real=0.00 secs] \n\
             1.1: [Rescan (parallel) , 0.0010 secs]1.1: [weak refs processing, 0.0001 secs] [1 CMS-remark: 5K(800K)] 7K(900K), 0.0090 secs] [Times: user=0.01 sys=0.00, real=0.01 secs] \n",
            &[(Kind::Remark, 9.0)],
        ),
        (
            "with an age table and statistics of free lists within both",
            "1.0: [GC (CMS Final Remark) [YG occupancy: 90 K (100 K)]{Heap before GC invocations=1 (full 1):\n \
             par new generation   total 100K, used 90K [0x0640, 0x06a0, 0x06a0)\n\
             1.0: [GC (CMS Final Remark) Before GC:\n\
             Statistics for BinaryTreeDictionary:\n\
             ------------------------------------\n\
             1.0: [ParNew\n\
             Desired survivor size 100 bytes, new threshold 1 (max 1)\n\
             : 90K->2K(100K), 0.0030 secs] 95K->7K(900K)After GC:\n\
             Total Free Space: 46\n\
             , 0.0040 secs] [Times: user=0.01 sys=0.00, real=0.00 secs] \n\
             Heap after GC invocations=2 (full 1):\n\
             }\n\
             1.1: [Rescan (parallel) , 0.0010 secs][1 CMS-remark: 5K(800K)] 7K(900K), 0.0090 secs]\n",
            &[(Kind::Remark, 9.0)],
        ),
        (
            "without details",
            "1.0: [GC (CMS Final Remark) {Heap before GC invocations=1 (full 1):\n \
             par new generation   total 100K, used 90K [0x0640, 0x06a0, 0x06a0)\n\
             1.0: [GC (CMS Final Remark)  95K->7K(900K), 0.0040 secs]\n\
             Heap after GC invocations=2 (full 1):\n\
             }\n 7K(900K), 0.0090 secs]\n",
            &[(Kind::Remark, 9.0)],
        ),
    ]);
}

#[test]
fn records_hold_other_output() {
    check(&[
        (
            "class histograms, whose names of arrays have brackets",
            "1.0: [Full GC (Heap Dump Initiated GC) 1.0: [Class Histogram (before full gc):\n \
             num     #instances         #bytes  class name\n\
             ----------------------------------------------\n   \
             1:      13269691     2158610984  [C\n   \
             2:       6252568      579973944  [[Ljava.lang.Object;\n\
             Total     170072935     8583124392\n\
             , 4.5000000 secs]\n 80M->70M(100M), 6.0000000 secs]\n   \
             [Eden: 4.0M(9.0M)->0.0B(9.0M) Survivors: 0.0B->0.0B Heap: 80.0M(100.0M)->70.0M(100.0M)], [Metaspace: 66K->66K(116K)]\n\
             7.0: [Class Histogram (after full gc):\n   \
             1:      13269691     2158610984  [C\n",
            &[(Kind::Full, 6000.0)],
        ),
        (
            "statistics of remembered sets, whose ranges of addresses are closed",
            "0.5: [GC pause (G1 Evacuation Pause) (young)Before GC RS summary\n\n \
             Recent concurrent refinement statistics\n  Of 20 completed buffers:\n  Did 0 coarsenings.\n    \
             Region with largest rem set = 4:(O)[0x00c0,0x00c5,0x00c5], size = 7776B, occupied = 0B.\n\
             , 0.0160000 secs]\n",
            &[(Kind::Young, 16.0)],
        ),
        (
            "the end of a phase beside the program",
            "5.1: [GC pause (G1 Evacuation Pause) (young)5.1: [GC concurrent-root-region-scan-start]\n\
             5.2: [GC concurrent-root-region-scan-end, 0.0189841 secs] (to-space exhausted), 0.3310000 secs][Eden: 0.0B(151.0M)->0.0B(153.0M) Survivors: 2048.0K->0.0B Heap: 38.0M(72.0M)->38.0M(72.0M)] [Times: user=0.20 sys=0.00, real=0.33 secs]\n\
             35.0: [Full GC (Allocation Failure) 35.1: [GC concurrent-mark-start]30M->29M(72M), 21.0 secs][Eden: 0.0B(1.0M)->0.0B(1.0M) Survivors: 0.0B->0.0B Heap: 30.0M(72.0M)->29.0M(72.0M)], [Metaspace: 93K->93K(352K)] [Times: user=16.00 sys=0.00, real=21.00 secs]\n",
            &[(Kind::Young, 331.0), (Kind::Full, 21000.0)],
        ),
        (
            "numbers of collections and a decimal comma",
            "2014-06-18T11:24:16.819+0200: 21,793: #7: [GC (Allocation Failure) 2014-06-18T11:24:16.819+0200: 21,793: #7: [DefNew: 90K->2K(100K), 0,0030000 secs] 95K->7K(900K), 0,0040000 secs] [Times: user=0,01 sys=0,00, real=0,00 secs] \n",
            &[(Kind::Young, 4.0)],
        ),
    ]);
}

#[test]
fn lines_are_joined_and_broken() {
    check(&[
        (
            "ends of lines are lost",
            "2.1: [GC [PSYoungGen: 90K->1K(100K)] 95K->8K(900K), 0.0060000 secs] [Times: user=0.03 sys=0.01, real=0.01 secs] 2.2: [Full GC [PSYoungGen: 1K->0K(100K)] [PSOldGen: 7K->6K(800K)] 8K->6K(900K) [PSPermGen: 2K->2K(21K)], 0.0080000 secs] [Times: user=0.02 sys=0.00, real=0.01 secs] 3.0: [GC [PSYoungGen: 90K->1K(100K)] 96K->9K(900K), 0.0050000 secs]",
            &[(Kind::Young, 6.0), (Kind::Full, 8.0), (Kind::Young, 5.0)],
        ),
        (
            "output of the program before a record",
            "**** Error Thu Mar 22 10:48:56 2007\t[GC 30K->20K(900K) eden 30K->0K survivor 1K->1K tenured 9K->20K, 0.2900000 secs]\n\
             8.0: [ParNew8.1: [ParNew2016-09-30T14:11:25.873+0900: 9.5: [GC (Allocation Failure) 9.5: [ParNew: 90K->2K(100K), 0.0030000 secs] 95K->7K(900K), 0.0040000 secs]\n",
            &[(Kind::Young, 290.0), (Kind::Young, 4.0)],
        ),
        (
            "output of the program before a line of unified logging",
            "a question? [1.500s][info][gc] GC(0) Pause Young (Normal) (G1 Evacuation Pause) 24M->4M(256M) 1.250ms\n\
             app-1  | [2.500s][info][gc] GC(1) Pause Remark 1.000ms\n\
             [app-1] [3.500s][info][gc] GC(2) Pause Cleanup 0.500ms\n\
             2026-01-01T10:00:00.000000000Z stdout F [4.500s][info][gc] GC(3) Pause Full (System.gc()) 4M->1M(256M) 9.000ms\n",
            &[(Kind::Young, 1.25), (Kind::Remark, 1.0), (Kind::Cleanup, 0.5), (Kind::Full, 9.0)],
        ),
        (
            "ends of lines of Windows",
            "[1.500s][info][gc] GC(0) Pause Remark 1.250ms\r\n\r\n[1.600s][info][gc] GC(0) Pause Cleanup 0.250ms\r\n",
            &[(Kind::Remark, 1.25), (Kind::Cleanup, 0.25)],
        ),
    ]);
    let log = parse("7.0: [GC (x) 1K->1K(2K), 0.0010000 secs]\n8.0: [ParNew9.5: [GC (x) 1K->1K(2K), 0.0010000 secs]\n");
    assert_eq!(log.events[1].start_s, 9.5);
}

#[test]
fn details_may_have_lost_their_indentation() {
    let log = parse(
        "1.0: [GC pause (G1 Evacuation Pause) (young), 0.0120000 secs]\n\
         [Parallel Time: 10.3 ms, GC Workers: 4]\n\
         [Ref Proc: 0.5 ms]\n\
         [Eden: 24.0M(24.0M)->0.0B(13.0M) Survivors: 0.0B->3072.0K Heap: 24.0M(256.0M)->5.5M(256.0M)]\n",
    );
    assert_eq!((log.foreign, log.events[0].workers, log.events[0].heap.total), (0, 4, 256 << 20));
    assert_eq!(log.phases.get("Ref Proc").unwrap().total_ms, 0.5);
}

#[test]
fn decorations_have_any_order() {
    for line in [
        "[gc] GC(0) Pause Remark 1.250ms",
        "[info][gc   ] GC(0) Pause Remark 1.250ms",
        "[gc][info][5.000s] GC(0) Pause Remark 1.250ms",
        "[2026-01-31T10:00:00.123+0100][1769850000123ms][5000ms][1769850000123456789ns][5000000000ns][host][4711][4712][info][gc] GC(0) Pause Remark 1.250ms",
        "[2026-01-31T09:00:00.123Z][gc] GC(0) Pause Remark 1.250ms",
        "[host.example.org][gc] GC(0) Pause Remark 1.250ms",
        "GC(0) Pause Remark 1.250ms",
        "[5.000s] GC(0) Pause Remark 1.250ms",
        "[5,000s][info][gc] GC(0) Pause Remark 1,250ms",
    ] {
        let log = parse(line);
        assert_eq!((pauses(&log), log.foreign, log.runs()), (vec![(Kind::Remark, 1.25)], 0, 1), "{line}");
    }
}

#[test]
fn other_programs_do_not_move_the_clock() {
    let log = parse(
        "[100.0s][info][gc] GC(0) Pause Remark 1.000ms\n\
         [12ms] request done\n\
         [2026-01-31 10:00:00] INFO started\n\
         [200.0s][info][gc] GC(1) Pause Remark 1.000ms\n",
    );
    assert_eq!((log.runs(), log.seconds(), log.foreign), (1, 100.0, 2));
}

#[test]
fn several_jvms_write_one_file() {
    let run = "[0.010s][info][gc] Using G1\n[5.000s][info][gc] GC(0) Pause Remark 1.000ms\n";
    let log = parse(&format!("{run}{run}{run}"));
    assert_eq!((log.runs(), log.events.len(), log.collector), (3, 3, Some(Collector::G1)));
    assert!((log.seconds() - 3.0 * 4.99).abs() < 1e-9, "{}", log.seconds());
    // A log that is cut within a line and within a record.
    let log = parse("[5.000s][info][gc] GC(0) Pause Young (Normal) (G1 Evacuation Pause) 24M->4M(25");
    assert_eq!((log.events.len(), log.damaged), (0, 1));
    let log = parse("1.0: [GC (Allocation Failure) [PSYoungGen: 65K->10K(76K)] 65K->1");
    assert_eq!((log.events.len(), log.damaged), (0, 1));
}

#[test]
fn blocks_of_a_log_are_lost() {
    let log = parse(
        "\0\0\0\0[1.500s][info][gc] GC(0) Pause Remark 1.250ms\n\
         \0\0\0\0\0\n\
         Desired survivor size 8716288 bytes, new threshold 6 (max 6)\n\
         : 138586K->2725K(153344K), 1.4300000 secs] 345082K->209555K(2080128K), 1.5000000 secs] [Times: user=0.50 sys=0.00, real=1.50 secs]\n\
         9.0: [Class Histogram (after full gc):\n   \
         1:      13269691     2158610984  [C\n\
         , 3.2000000 secs]\n\
         , 0.5000000 secs]\n",
    );
    assert_eq!(pauses(&log), [(Kind::Remark, 1.25), (Kind::Young, 1500.0), (Kind::Young, 500.0)]);
    assert_eq!((log.foreign, log.damaged, log.events[1].heap.after), (0, 2, 209_555 << 10));
}

#[test]
fn epsilon_has_no_pauses() {
    let log = parse(
        "[0.01s][info][gc] Using Epsilon\n[0.5s][info][gc] Heap: 100M reserved, 64M (64.00%) committed, 3M (3.00%) used\n",
    );
    assert_eq!((log.collector, log.events.len(), log.foreign), (Some(Collector::Epsilon), 0, 0));
}
