//! Support for tests of whole jobs: temporary directories, running a job, reading its output.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use yunti_base::Result;
use yunti_engine::env::Env;
use yunti_engine::job::{Control, JobSpec, Outcome, OutputTarget, run};
use yunti_engine::library::builtin_classes;

use crate::classes::test_classes;

/// A directory that is removed with its contents on drop.
pub struct Temp(PathBuf);

impl Temp {
    pub fn new(name: &str) -> Temp {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let n = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("yunti-test-{}-{name}-{n}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Temp(path)
    }
    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
    pub fn write(&self, name: &str, bytes: &[u8]) -> String {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, bytes).unwrap();
        path.to_string_lossy().into_owned()
    }
    /// Returns the names in the directory.
    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<String> =
            std::fs::read_dir(&self.0).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

impl Drop for Temp {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

pub fn run_in(env: &Env, spec: &JobSpec) -> Result<Outcome> {
    run(spec, env, &[builtin_classes(), test_classes()], &Control::new())
}

/// Runs a job with output `out` and returns its parts.
pub fn parts_of(spec: &JobSpec, out: &Path) -> Result<Vec<Vec<u8>>> {
    let spec = JobSpec { output: OutputTarget::Directory(out.to_path_buf()), overwrite: true, ..spec.clone() };
    run_in(&Env { maps_files: true, ..Env::real() }, &spec)?;
    Ok(read_parts(out))
}

pub fn read_parts(out: &Path) -> Vec<Vec<u8>> {
    let mut names: Vec<PathBuf> = std::fs::read_dir(out).unwrap().map(|e| e.unwrap().path()).collect();
    names.sort();
    assert!(names.iter().any(|n| n.ends_with("_SUCCESS")));
    names
        .iter()
        .filter(|n| n.file_name().unwrap().to_str().unwrap().starts_with("part-"))
        .map(|n| std::fs::read(n).unwrap())
        .collect()
}

/// Returns random bytes, the same in every run.
pub fn noise(seed: u64, n: usize) -> Vec<u8> {
    let mut random = yunti_engine::env::random::Random::new(seed);
    (0..n).map(|_| random.next_u64() as u8).collect()
}
