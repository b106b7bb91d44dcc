//! Workers that die, hang or send garbage at each of their points in turn: the job does not notice.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use yunti_base::Result;
use yunti_engine::env::process::Launcher;
use yunti_engine::env::simulated::{Disks, Finished, Simulation, Trouble};
use yunti_engine::isolate::{isolated, serve};
use yunti_engine::job::{Control, JobSpec, OutputFormat, OutputTarget, Partitioning, run};

use crate::case::{Controlled, worker_sources};
use crate::classes::aside::ASIDE;
use crate::watch::watched;

/// Runs a job of lines whose classes are in workers.
fn run_isolated(spec: &JobSpec, troubles: Vec<Trouble>) -> (Result<()>, Finished) {
    let mut disks = Disks::new(&["/", "/s"]);
    let lines: String = (0..300).map(|i| format!("word{} other{}\n", i * 7 % 31, i % 5)).collect();
    disks.put(Path::new("/in"), lines.as_bytes());
    let spec = JobSpec {
        inputs: vec!["/in".into()],
        output: OutputTarget::Directory("/out".into()),
        memory_bytes: Some(64 << 20),
        split_bytes: 2000,
        ..spec.clone()
    };
    let control = Control::new();
    let simulation = Simulation {
        disks,
        troubles,
        seed: 7,
        job_seed: 7,
        open_max: 100,
        exchanges: true,
        boot: 0,
        threads_max: 2,
        left_bytes: 1 << 30,
        host: Box::new(Controlled(control.clone())),
        serve: Arc::new(|memory| drop(serve::serve(worker_sources(), memory, || false))),
        around: |files| files,
    };
    let launcher =
        Launcher { program: "/worker".into(), arguments: Vec::new(), variables: Vec::new(), memory_bytes: None };
    let what = format!("workers with {:?}", simulation.troubles);
    watched(what, || {
        simulation.run(|env| {
            let classes = isolated(launcher, env, Some(Duration::from_secs(5)))?;
            run(&spec, env, &[classes], &control).map(drop)
        })
    })
}

fn output(finished: &Finished) -> Vec<Vec<u8>> {
    let parts = finished.disks.list(Path::new("/out")).expect("an output");
    let parts = parts.into_iter().filter(|path| path.to_string_lossy().contains("part-"));
    parts.map(|path| finished.disks.get(&path)).collect()
}

fn expect_unnoticed(spec: &JobSpec, points: u64) {
    let (result, calm) = run_isolated(spec, Vec::new());
    result.unwrap();
    let answer = output(&calm);
    assert!(answer.concat().len() > 100);
    for nth in 1..=points {
        for trouble in [Trouble::WorkerDies { nth }, Trouble::WorkerHangs { nth }, Trouble::WorkerDamages { nth }] {
            let (result, finished) = run_isolated(spec, vec![trouble]);
            assert_eq!(finished.failure, None, "{trouble}");
            match result {
                Ok(()) => assert!(output(&finished) == answer, "{trouble}: another answer"),
                // The first worker tells which classes there are, before any task.
                Err(e) => assert!(nth <= 2 && e.to_string().starts_with("a worker process "), "{trouble}: {e}"),
            }
        }
    }
}

#[test]
fn a_worker_may_fail_at_any_point_of_a_count() {
    let spec = JobSpec {
        mapper: Some("Yunti.WordCountMapper".into()),
        folder: Some("Yunti.SumFolder".into()),
        threads: Some(2),
        ..JobSpec::default()
    };
    expect_unnoticed(&spec, 60);
}

/// The keys are sampled first, through mappers of their own.
#[test]
fn a_worker_may_fail_at_any_point_of_a_total_order() {
    let spec = JobSpec {
        mapper: Some("Yunti.WordCountMapper".into()),
        reducer: Some("Test.Sum".into()),
        partitioning: Partitioning::TotalOrder,
        reduces: 3,
        threads: Some(1),
        ..JobSpec::default()
    };
    expect_unnoticed(&spec, 150);
}

#[test]
fn a_class_may_open_its_named_output_when_it_is_made() {
    let spec = JobSpec {
        mapper: Some("Test.Aside".into()),
        input_format: yunti_engine::job::InputFormat::KeyValue { separator: b' ' },
        outputs: [(ASIDE.to_string(), OutputFormat::Raw)].into(),
        ..JobSpec::default()
    };
    let (result, finished) = run_isolated(&spec, Vec::new());
    result.unwrap();
    let aside = finished.disks.list(Path::new("/out")).unwrap();
    assert!(aside.iter().any(|path| path.to_string_lossy().contains("aside-")), "{aside:?}");
}
