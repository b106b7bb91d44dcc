//! Ready jobs by name: what `yunti run NAME` starts from.

use super::{InputFormat, JobSpec, Mode, OutputFormat, Partitioning};

pub struct Application {
    pub name: &'static str,
    pub summary: &'static str,
    pub spec: fn() -> JobSpec,
    /// Settings that it reads: key, meaning and default.
    pub settings: &'static [(&'static str, &'static str)],
}

pub fn applications() -> &'static [Application] {
    &[
        Application {
            name: "wordcount",
            summary: "count words, cut at space, tab, LF, CR and form feed",
            spec: || JobSpec {
                name: "wordcount".into(),
                mapper: Some("Yunti.WordCountMapper".into()),
                folder: Some("Yunti.SumFolder".into()),
                ..JobSpec::default()
            },
            settings: &[],
        },
        Application {
            name: "sort",
            summary: "sort lines by their bytes, as LC_ALL=C sort",
            spec: || JobSpec {
                name: "sort".into(),
                input_format: InputFormat::Text { delimiter: Some(b"\n".to_vec()) },
                partitioning: Partitioning::TotalOrder,
                ..JobSpec::default()
            },
            settings: &[],
        },
        Application {
            name: "terasort",
            summary: "sort records of 100 bytes by their first 10, in total order over all parts",
            spec: || JobSpec {
                name: "terasort".into(),
                input_format: InputFormat::Fixed { record_bytes: 100, key_bytes: 10 },
                output_format: OutputFormat::Raw,
                partitioning: Partitioning::TotalOrder,
                ..JobSpec::default()
            },
            settings: &[],
        },
        Application {
            name: "identity",
            summary: "copy lines as they are, without a reduce",
            spec: || JobSpec { name: "identity".into(), mode: Mode::None, ..JobSpec::default() },
            settings: &[],
        },
    ]
}
