//! `yunti streaming`: a job written as a command line of Hadoop Streaming (`hadoop jar hadoop-streaming.jar ..`).
//!
//! ```text
//!   -input a -mapper m.py ..  --> dashes.rs --> StreamingFlags --> job.rs --> RunFlags --> yunti run
//! ```
//! The one thing that `yunti run` does not have is the directory of the programs, with the files of -files
//! (`task_directory.rs`).

mod archive;
mod dashes;
mod java_classes;
mod job;
mod task_directory;

use crate::command::numbers::whole;
use clap::Args;

use super::run::common_flags::{ReportingFlags, ResourceFlags, TaskFlags};
use super::run::flags::{Cluster, parse_setting};
use super::run::{self};
use crate::failure::Outcome;
use job::is_remote;
use task_directory::TaskDirectory;

pub use dashes::with_double_dashes;

/// Run a job of Hadoop Streaming, by its own options
///
/// Takes the command line that follows `hadoop jar hadoop-streaming.jar`. Options have one dash or two. The output is
/// the output of Hadoop, part by part.
#[derive(Debug, Default, Args)]
#[command(after_help = "Examples:\n  \
    yunti streaming -input logs -output out -mapper map.py -reducer 'uniq -c' -file map.py\n  \
    yunti streaming -D mapreduce.job.reduces=4 -input in -output out -mapper cat -reducer aggregate\n  \
    yunti streaming -input in -output out -mapper 'grep x' -numReduceTasks 0")]
pub struct StreamingFlags {
    /// Input to read: files, directories or globs, separated by commas; may be repeated
    #[arg(long, value_name = "PATH", help_heading = "Input and output")]
    pub input: Vec<String>,

    /// Output directory, which does not exist yet; - for standard output
    #[arg(long, value_name = "DIR", help_heading = "Input and output")]
    pub output: Option<String>,

    /// Replace the output if it exists
    #[arg(long, help_heading = "Input and output")]
    pub overwrite: bool,

    /// Keep a journal of what is done; after a kill, a crash or a full disk, the same command goes on from there
    #[arg(long, help_heading = "Input and output")]
    pub resume: bool,

    /// TextInputFormat, KeyValueTextInputFormat or NLineInputFormat [default: TextInputFormat]
    #[arg(long, value_name = "CLASS", help_heading = "Input and output")]
    pub inputformat: Option<String>,

    /// TextOutputFormat [default: TextOutputFormat]
    #[arg(long, value_name = "CLASS", help_heading = "Input and output")]
    pub outputformat: Option<String>,

    /// Program that maps, with its arguments; NONE: records pass unchanged
    #[arg(long, value_name = "COMMAND", help_heading = "The job")]
    pub mapper: Option<String>,

    /// Program that reduces; NONE: no reduce; aggregate: as the keys say, as in LongValueSum:word
    #[arg(long, value_name = "COMMAND", help_heading = "The job")]
    pub reducer: Option<String>,

    /// Program that combines map output; aggregate: as the keys say
    #[arg(long, value_name = "COMMAND", help_heading = "The job")]
    pub combiner: Option<String>,

    /// Number of reduces, each of which writes a part; 0: no reduce [default: 1]
    #[arg(long = "numReduceTasks", value_name = "N", value_parser = whole(0..=u32::MAX), help_heading = "The job")]
    pub reduces: Option<u32>,

    /// Write no part file without records
    #[arg(long = "lazyOutput", help_heading = "The job")]
    pub lazy_output: bool,

    /// HashPartitioner, KeyFieldBasedPartitioner or TotalOrderPartitioner [default: HashPartitioner]
    #[arg(long, value_name = "CLASS", help_heading = "The job")]
    pub partitioner: Option<String>,

    /// Form of records in pipes: text, rawbytes or typedbytes [default: text]
    #[arg(long, value_name = "FORM", help_heading = "The job")]
    pub io: Option<String>,

    /// File in the programs' working directory; may be repeated
    #[arg(long, value_name = "FILE", help_heading = "The job")]
    pub file: Vec<String>,

    /// Files in the programs' working directory, separated by commas; PATH#NAME gives a file another name
    #[arg(long, value_name = "FILES", value_delimiter = ',', help_heading = "The job")]
    pub files: Vec<String>,

    /// Archives (zip, jar, tar, tgz) to unpack in the working directory, separated by commas; PATH#NAME names the
    /// directory
    #[arg(long, value_name = "FILES", value_delimiter = ',', help_heading = "The job")]
    pub archives: Vec<String>,

    /// Old name of -files, for one file
    #[arg(long = "cacheFile", value_name = "FILE", hide = true)]
    pub cache_file: Vec<String>,

    /// Old name of -archives, for one archive
    #[arg(long = "cacheArchive", value_name = "FILE", hide = true)]
    pub cache_archive: Vec<String>,

    /// Environment variable of the programs; may be repeated
    #[arg(long, value_name = "NAME=VALUE", value_parser = parse_setting, help_heading = "The job")]
    pub cmdenv: Vec<(String, String)>,

    /// Setting of the job, under Hadoop's name; may be repeated
    #[arg(short = 'D', long = "jobconf", value_name = "KEY=VALUE", value_parser = parse_setting, help_heading = "The job")]
    pub settings: Vec<(String, String)>,

    /// Accepted without effect: the report has what Hadoop prints
    #[arg(long, visible_alias = "debug", help_heading = "Reports and messages")]
    pub verbose: bool,

    /// Place to run: here, or on the cluster of the `hadoop` in PATH, where inputs and output are Hadoop's paths
    #[arg(long, value_name = "WHERE", value_enum, default_value_t = Cluster::Here, help_heading = "The job")]
    pub on: Cluster,

    /// Options of Hadoop that have no meaning here; each is refused with a reason
    #[command(flatten)]
    pub refused: RefusedFlags,

    #[command(flatten)]
    pub tasks: TaskFlags,

    #[command(flatten)]
    pub resources: ResourceFlags,

    #[command(flatten)]
    pub reports: ReportingFlags,
}

/// Options of Hadoop Streaming that this command refuses.
#[derive(Debug, Default, Args)]
pub struct RefusedFlags {
    #[arg(long, hide = true)]
    pub inputreader: Option<String>,
    #[arg(long, hide = true)]
    pub mapdebug: Option<String>,
    #[arg(long, hide = true)]
    pub reducedebug: Option<String>,
    #[arg(long, hide = true)]
    pub background: bool,
    #[arg(long, hide = true)]
    pub libjars: Option<String>,
    #[arg(long, hide = true)]
    pub conf: Option<String>,
    #[arg(long, hide = true)]
    pub additionalconfspec: Option<String>,
    #[arg(long, hide = true)]
    pub fs: Option<String>,
    #[arg(long, hide = true)]
    pub dfs: Option<String>,
    #[arg(long, hide = true)]
    pub jt: Option<String>,
}

pub fn streaming(flags: StreamingFlags) -> Outcome {
    let is_here = flags.on == Cluster::Here;
    let files = flags.file.iter().chain(&flags.files).chain(flags.cache_file.iter().filter(|_| is_here));
    // Files that are in the cluster's file systems already stay there, and its nodes unpack archives.
    let files: Vec<&str> = files.map(String::as_str).filter(|file| is_here || !is_remote(file)).collect();
    let archives = flags.archives.iter().chain(&flags.cache_archive).filter(|_| is_here);
    let archives: Vec<&str> = archives.map(String::as_str).collect();
    let commands = [&flags.mapper, &flags.combiner, &flags.reducer];
    let commands: Vec<&str> = commands.into_iter().flatten().map(String::as_str).collect();
    let directory = TaskDirectory::create(&files, &archives, &commands)?;
    let mut run_flags = job::run_flags(flags)?;
    if let Some(directory) = &directory {
        for command in [&mut run_flags.mapper, &mut run_flags.combiner, &mut run_flags.reducer].into_iter().flatten() {
            *command = directory.local_command(command);
        }
    }
    run::run_in(run_flags, directory.as_ref().map(|d| d.path().into()))
}
