//! The proposals of 2012 for the NameNode, in today's form: pairs of variants, without and with each.

use super::in_process::Way;
use super::variant::{Variant, known};

/// A proposal of 2012.
pub struct Cure {
    pub name: &'static str,
    /// Its form today, as one line.
    pub today: &'static str,
    pub without: Variant,
    pub with: Variant,
    /// Way of its calls in process.
    pub way: Way,
}

/// Intrinsics that test for ASCII text by vectors of bytes: of JDKs before 20, and since.
const TESTS_ASCII: [&str; 2] = ["_hasNegatives", "_countPositives"];
/// Intrinsic that encodes text by vectors.
const ENCODES: &str = "_encodeISOArray";

/// Returns all proposals.
///
/// @param java the JDK's feature release
pub fn all(java: u32) -> Vec<Cure> {
    let tests_ascii = TESTS_ASCII[usize::from(java >= 20)];
    let plain_text = Variant {
        name: "plain-text".to_owned(),
        properties: Vec::new(),
        options: vec![
            "-XX:+UnlockDiagnosticVMOptions".to_owned(),
            format!("-XX:DisableIntrinsic={tests_ascii},{ENCODES}"),
        ],
        needs_plugin: false,
    };
    vec![
        Cure {
            name: "many call queues",
            today: "a sharded queue for each priority level (stock: one queue)",
            without: known("stock"),
            with: known("queue"),
            way: Way::Queue,
        },
        Cure {
            name: "SIMD UTF-8",
            today: "the JDK's vector intrinsics (without: switched off)",
            without: plain_text,
            with: known("stock"),
            way: Way::Direct,
        },
        Cure {
            name: "logging out of the path",
            today: "audit lines through a ring (stock: a log4j appender in the handler)",
            without: known("audit-stock"),
            with: known("audit"),
            way: Way::Direct,
        },
        Cure {
            name: "update lock, by a setting",
            today: "dfs.namenode.fslock.fair=false (stock: a fair lock)",
            without: known("stock"),
            with: known("unfair"),
            way: Way::Direct,
        },
        Cure {
            name: "update lock",
            today: "phases of readers and writers, preset throughput (stock: a fair lock)",
            without: known("stock"),
            with: known("throughput"),
            way: Way::Direct,
        },
        Cure {
            name: "edit log outside the lock",
            today: "dfs.namenode.edits.asynclogging, stock since 2.8 (without: false)",
            without: known("edits-inside"),
            with: known("stock"),
            way: Way::Direct,
        },
        Cure {
            name: "all together",
            today: "our lock, audit logger and queue (stock: with its audit appender)",
            without: known("audit-stock"),
            with: known("throughput").and(&[known("audit"), known("queue")]).named("all"),
            way: Way::Queue,
        },
    ]
}
