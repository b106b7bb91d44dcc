//! A query on the cluster: values of plans within expressions first, then its jobs, one after the other.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use yunti_base::{Cancel, Code, Error, Result};
use yunti_engine::columns::vector::Value;
use yunti_engine::env::Env;
use yunti_sql_execute::operators::scalars;
use yunti_sql_plan::{Batch, Node};

use crate::cut::{self, Choices, Drive, Job};
use crate::directory::Directory;
use crate::job::{Libraries, Request, TempFile, temp_file};
use crate::{client, explain, result};

/// A cluster, and how queries run there.
#[derive(Debug)]
pub struct Yarn {
    pub choices: Choices,
    pub libraries: Libraries,
    /// Settings of Hadoop.
    pub settings: Vec<(String, String)>,
    /// Memory of a query in each task.
    pub memory_bytes: u64,
    /// The user's home on the cluster, such as `hdfs:///user/ada`.
    pub home: String,
    /// Prints no notes.
    pub is_quiet: bool,
    /// Program that renders reports of jobs, for `--analyze`.
    pub reporter: Option<PathBuf>,
    /// Reports of the jobs so far, as text.
    pub reports: Mutex<String>,
}

/// Receives rows.
pub type Out<'o> = dyn FnMut(Batch) -> Result<()> + 'o;

impl Yarn {
    /// Returns the path on the cluster that a query means by a path: without a scheme it is one of HDFS, and without a
    /// slash in front it is below the user's home.
    pub fn located(&self, path: &str) -> String {
        match path {
            _ if path.contains("://") => path.into(),
            _ if path.starts_with('/') => format!("hdfs://{path}"),
            _ => format!("{}/{path}", self.home),
        }
    }

    /// Returns the stages of a plan as text.
    pub fn explain(&self, plan: &Node, env: &Env) -> Result<String> {
        let size = |path: &Path| size(path, env);
        explain::text(&cut::cut(plan, &self.choices, &size)?)
    }

    /// Runs a plan. Calls `out` with its rows, in order.
    ///
    /// Errors: `Usage` for what tasks cannot do; those of the tasks; `Cancelled`.
    pub fn run(&self, plan: &Node, env: &Env, cancel: &Cancel, out: &mut Out<'_>) -> Result<()> {
        let directory = Directory::new(&self.home);
        let query = Query { yarn: self, env, cancel, directory, jobs: AtomicUsize::new(0) };
        query.run(plan, out)
    }
}

fn size(path: &Path, env: &Env) -> Result<u64> {
    let meta = env.files.meta(path);
    meta.map(|meta| meta.len)
        .map_err(|e| Error::io(Code::Input, "cannot read the table", &e).at_path(path.to_string_lossy()))
}

struct Query<'q> {
    yarn: &'q Yarn,
    env: &'q Env,
    cancel: &'q Cancel,
    directory: Directory,
    /// Jobs so far: a query has others within.
    jobs: AtomicUsize,
}

impl Query<'_> {
    fn run(&self, plan: &Node, out: &mut Out<'_>) -> Result<()> {
        let size = |path: &Path| size(path, self.env);
        let resolved;
        let plan = match scalars::is_needed(plan) {
            true => {
                resolved = scalars::resolve(plan, &mut |plan| self.value(plan))?;
                &resolved
            }
            false => plan,
        };
        let jobs = cut::cut(plan, &self.yarn.choices, &size)?;
        let first = self.jobs.fetch_add(jobs.len(), Ordering::Relaxed);
        for number in 0..jobs.len() {
            self.job(&jobs, number, first)?;
        }
        let last = self.directory.of_job(first + jobs.len() - 1);
        result::read(&last, &plan.types(), &*self.env.files, out)
    }

    /// Returns the only value of the only row of a plan; null without a row.
    fn value(&self, plan: &Node) -> Result<Value> {
        let (mut rows, mut value) = (0, Value::Null);
        self.run(plan, &mut |batch| {
            if let (Some(column), true) = (batch.columns.first(), batch.rows > 0) {
                value = column.value(0);
            }
            rows += batch.rows;
            Ok(())
        })?;
        match rows {
            0 | 1 => Ok(value),
            _ => Err(Error::new(Code::Invalid, "a subquery that is used as a value gives more than one row")
                .hint("add 'limit 1' to it, or an aggregate such as max")),
        }
    }

    fn job(&self, jobs: &[Job], number: usize, first: usize) -> Result<()> {
        let job = &jobs[number];
        let own = first + number;
        let program = client::program()?;
        let request = Request {
            job,
            name: format!("yunti sql, stage {} of {}", number + 1, jobs.len()),
            inputs: job.drives.iter().map(|drive| self.inputs(job, drive, first)).collect::<Result<_>>()?,
            output: self.directory.of_job(own),
            libraries: &self.yarn.libraries,
            settings: &self.yarn.settings,
            memory_bytes: self.yarn.memory_bytes,
        };
        let name = |what: &str| format!("yunti-sql-{}-{own}.{what}", std::process::id());
        let stage = temp_file(&name("stage"), &job.stage.to_bytes()?)?;
        let file = temp_file(&name("toml"), request.job_file(&name("stage"))?.as_bytes())?;
        let (facts, failure): (TempFile, TempFile) = (temp_file(&name("json"), b"")?, temp_file(&name("txt"), b"")?);
        let mut command = request.command(&program, [&file.0, &stage.0, &facts.0, &failure.0]);
        let mut started = |job: &str| {
            if !self.yarn.is_quiet {
                eprintln!("yunti: {}: {job}", request.name);
            }
        };
        let id = client::run(&mut command, &failure.0, self.cancel, &mut started)?;
        match &self.yarn.reporter {
            Some(reporter) => self.report(&request.name, &id, reporter, &facts.0),
            None => Ok(()),
        }
    }

    /// Adds the report of a job.
    fn report(&self, name: &str, id: &str, reporter: &Path, facts: &Path) -> Result<()> {
        let done = Command::new(reporter).arg("report").arg(facts).output();
        let done = done.map_err(|e| Error::io(Code::Usage, "cannot run the program for reports", &e))?;
        let mut reports = self.yarn.reports.lock().unwrap_or_else(|e| e.into_inner());
        let text = String::from_utf8_lossy(if done.status.success() { &done.stdout } else { &done.stderr });
        reports.push_str(&format!("{name}: {id}\n{text}\n"));
        Ok(())
    }

    fn inputs(&self, job: &Job, drive: &Drive, first: usize) -> Result<Vec<String>> {
        let shown = |path: &Path| path.to_string_lossy().into_owned();
        match drive {
            Drive::Files(paths) => Ok(paths.iter().map(|path| shown(path)).collect()),
            Drive::Stage(stage) => Ok(vec![shown(&self.directory.of_job(first + stage))]),
            // Any file that is there: the source reads nothing of it.
            Drive::Once => {
                for (path, _) in &job.shipped {
                    if size(path, self.env)? > 0 {
                        return Ok(vec![shown(path)]);
                    }
                }
                Err(Error::new(Code::Usage, "a query without rows of a table cannot run on a cluster")
                    .hint("leave out --on yarn"))
            }
        }
    }
}
