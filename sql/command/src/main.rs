//! `yunti sql`: statements in, results out.
//!
//! ```text
//!   allocator.rs  memory of the whole program
//!   crash.rs      names a function of a class library that ends the process
//!   flags.rs --> session --> print.rs     results to standard output, an output, or nowhere (--explain)
//!                       `--> protocol.rs  JSON lines, for programs (--statements)
//!                       `--> shell.rs     statements of a person on a terminal
//!   compile.rs   the compiler of queries, if the program has one
//! ```

mod allocator;
mod compile;
mod crash;
mod flags;
mod on_yarn;
mod print;
mod protocol;
mod shell;

use std::io::{IsTerminal, Read};
use std::process::ExitCode;
use std::sync::Arc;

use yunti_base::{Cancel, Code, Error, Result};
use yunti_engine::job::default_budget_bytes_below;
use yunti_outside::library;
use yunti_program::failure::{Failure, Outcome, as_json};
use yunti_program::program;
use yunti_program::terminal::signals;
use yunti_sql_front::runtime::with_large_stack;
use yunti_sql_front::session::{Session, Settings};
use yunti_sql_front::tables::place::Place;

use flags::Flags;

#[global_allocator]
static ALLOCATOR: allocator::Allocator = allocator::Allocator;

fn main() -> ExitCode {
    program::run(|flags: Flags| {
        let outcome = with_large_stack(|| act(&flags));
        match outcome {
            Err(Failure::Error(error)) if flags.json_errors => {
                eprintln!("{}", serde_json::json!({ "error": as_json(&error) }));
                Err(Failure::Reported(error.code()))
            }
            other => other,
        }
    })
}

fn act(flags: &Flags) -> Outcome {
    let is_shell =
        !flags.statements && flags.queries.is_empty() && flags.file.is_empty() && std::io::stdin().is_terminal();
    let cancel = Cancel::default();
    if !flags.libraries.is_empty() {
        crash::install();
    }
    let mut session = Session::new(settings(flags)?, cancel.clone())?;
    if is_shell {
        return shell::run(&mut session, flags);
    }
    let mut all = Vec::new();
    for query in &flags.queries {
        all.extend(session.split(query).0);
    }
    signals::cancel_on_signals(&cancel);
    if flags.statements {
        return protocol::serve(&mut session);
    }
    for path in &flags.file {
        all.extend(session.split(&text_of(path)?).0);
    }
    if flags.queries.is_empty() && flags.file.is_empty() {
        all.extend(session.split(&text_of("-".as_ref())?).0);
    }
    if all.is_empty() {
        return Err(Error::new(Code::Usage, "there is no statement").hint("yunti sql \"select 1\"; see --help").into());
    }
    print::run(&mut session, &all, flags)
}

fn text_of(path: &std::path::Path) -> Result<String> {
    let shown = path.to_string_lossy();
    let mut bytes = Vec::new();
    let read = match &*shown {
        "-" => std::io::stdin().lock().read_to_end(&mut bytes).map(|_| ()),
        _ => std::fs::read(path).map(|all| bytes = all),
    };
    read.map_err(|e| Error::io(Code::Input, "cannot read the statements", &e).at_path(&*shown))?;
    String::from_utf8(bytes).map_err(|e| {
        let at = e.utf8_error().valid_up_to() as u64;
        Error::new(Code::Corrupt, "the statements are no UTF-8").at_path(&*shown).at_offset(at)
    })
}

fn settings(flags: &Flags) -> Result<Settings> {
    let mut env = flags.stores.env();
    if let Some(dir) = &flags.temp_dir {
        env.temp_dir.clone_from(dir);
    }
    let mut tables = Vec::new();
    for table in &flags.tables {
        let Some((name, place)) = table.split_once('=') else {
            return Err(Error::new(Code::Usage, format!("'--table {table}' names no path")).hint("write NAME=PATH"));
        };
        tables.push((name.to_string(), Place::parse(place)?));
    }
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = flags.threads.map_or(processors, usize::from);
    let memory_bytes = flags.memory.unwrap_or_else(|| default_budget_bytes_below("/".as_ref()));
    allocator::set_for_budget(memory_bytes, threads);
    Ok(Settings {
        env,
        library: Arc::new(|format| library::load(format)),
        libraries: flags.libraries.clone(),
        threads,
        memory_bytes,
        is_memory_set: flags.memory.is_some(),
        executor: flags.executor.into(),
        compilation: compile::compilation(flags.compile)?,
        reports_compilation: flags.compile_report,
        dialect: flags.dialect.into(),
        temp_dir: flags.temp_dir.clone(),
        options: flags.options.iter().filter(|(name, _)| !on_yarn::is_of_hadoop(name)).cloned().collect(),
        parameters: flags.parameters.clone(),
        tables,
        catalog: flags.catalog.clone(),
        functions: flags.functions.clone(),
        is_read_only: flags.read_only,
        allowed: (!flags.allow.is_empty()).then(|| flags.allow.clone()),
        overwrite: flags.overwrite,
        is_quiet: flags.quiet || flags.statements,
        cluster: on_yarn::cluster(flags)?,
    })
}
