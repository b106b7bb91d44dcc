//! What was proposed for the NameNode in 2012, in the form that it has today, each beside what it cures.

use super::in_process::Way;
use super::variant::{Variant, known};

pub struct Cure {
    pub name: &'static str,
    /// What it is today.
    pub today: &'static str,
    pub ill: Variant,
    pub cured: Variant,
    /// How it is met in process.
    pub way: Way,
}

/// Of a JDK before 20, and since: what tells text of ASCII by vectors of bytes.
const TELLS_ASCII: [&str; 2] = ["_hasNegatives", "_countPositives"];
const ENCODES: &str = "_encodeISOArray";

/// @param java the JDK's version
pub fn all(java: u32) -> Vec<Cure> {
    let tells_ascii = TELLS_ASCII[usize::from(java >= 20)];
    let plain_text = Variant {
        name: "plain-text".to_owned(),
        properties: Vec::new(),
        options: vec![
            "-XX:+UnlockDiagnosticVMOptions".to_owned(),
            format!("-XX:DisableIntrinsic={tells_ascii},{ENCODES}"),
        ],
        needs_plugin: false,
    };
    vec![
        Cure {
            name: "many call queues",
            today: "a queue of shards in each level of priority (stock has one queue)",
            ill: known("stock"),
            cured: known("queue"),
            way: Way::Queue,
        },
        Cure {
            name: "SIMD UTF-8",
            today: "the JDK's own vectors (without them: switched off)",
            ill: plain_text,
            cured: known("stock"),
            way: Way::Direct,
        },
        Cure {
            name: "logging out of the path",
            today: "audit lines by a ring (stock: a log4j appender in the handler)",
            ill: known("audit-stock"),
            cured: known("audit"),
            way: Way::Direct,
        },
        Cure {
            name: "update lock, by a setting",
            today: "dfs.namenode.fslock.fair=false (stock: a fair lock)",
            ill: known("stock"),
            cured: known("unfair"),
            way: Way::Direct,
        },
        Cure {
            name: "update lock",
            today: "phases of readers and writers, preset throughput (stock: a fair lock)",
            ill: known("stock"),
            cured: known("throughput"),
            way: Way::Direct,
        },
        Cure {
            name: "edit log outside the lock",
            today: "dfs.namenode.edits.asynclogging, stock since 2.8 (without it: false)",
            ill: known("edits-inside"),
            cured: known("stock"),
            way: Way::Direct,
        },
        Cure {
            name: "all together",
            today: "lock, audit, queue of ours (stock: with its audit appender)",
            ill: known("audit-stock"),
            cured: known("throughput").and(&[known("audit"), known("queue")]).named("all"),
            way: Way::Queue,
        },
    ]
}
