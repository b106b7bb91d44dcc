//! Programs as classes: the command is the name.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::command_line::{self, Program};
use super::mapper::ProgramMapper;
use super::print_reducer::{self, PrintReducer};
use super::reducer::ProgramReducer;
use crate::env::{Env, Files, Processes};
use crate::operator::{Class, ClassInfo, ClassSource, Kind, Mapper, Reducer, TaskContext, Type};
use yunti_base::{Code, Error, Result};

/// Returns the source of programs. It must be the last source, so that classes come first.
pub fn programs(env: &Env) -> Arc<dyn ClassSource> {
    Arc::new(Programs { processes: env.processes.clone(), files: env.files.clone() })
}

/// Returns the program of a command. Fails with `Code::UserCode` if there is no such program.
pub fn program(command: &str, env: &Env) -> Result<Program> {
    let missing = || Error::new(Code::UserCode, format!("there is no program {command}")).hint("check PATH");
    find(command, &*env.processes)?.ok_or_else(missing)
}

/// Returns the program of a command; None for one word that names no program and may name a class.
fn find(command: &str, processes: &dyn Processes) -> Result<Option<Program>> {
    let mut arguments = command_line::words(command);
    if arguments.is_empty() {
        return Ok(None);
    }
    let first = arguments.remove(0);
    if let Some(executable) = command_line::executable(&first, processes)? {
        let arguments = arguments.into_iter().map(Into::into).collect();
        return Ok(Some(Program { text: command.into(), executable, arguments }));
    }
    // A class name has neither a slash nor a blank, so this was meant as a program.
    if first.contains('/') {
        return Err(Error::new(Code::UserCode, "there is no such program").at_path(first).hint("check the path"));
    }
    // The name of a class has a dot.
    if arguments.is_empty() && first.contains('.') && !Path::new(&first).exists() {
        return Ok(None);
    }
    let error = Error::new(Code::UserCode, format!("there is no program {first} in PATH"));
    Err(error.hint(format!("a program of the current directory is ./{first}")))
}

struct Programs {
    processes: Arc<dyn Processes>,
    files: Arc<dyn Files>,
}

impl ClassSource for Programs {
    fn find(&self, _: &str) -> Option<Arc<dyn Class>> {
        None
    }

    fn find_of_kinds(&self, name: &str, kinds: &[Kind]) -> Result<Option<Arc<dyn Class>>> {
        let Some(&kind) = kinds.iter().find(|k| matches!(k, Kind::Mapper | Kind::Reducer | Kind::Combiner)) else {
            return Ok(None);
        };
        if name == print_reducer::NAME {
            let mut info = ClassInfo::of_bytes(name, Kind::Reducer);
            (info.in_value_type, info.flags.pure) = (Type::Bytes, true);
            return Ok(Some(Arc::new(PrintClass(info))));
        }
        let Some(program) = find(name, &*self.processes)? else { return Ok(None) };
        let mut info = ClassInfo::of_bytes(name, kind);
        info.in_value_type = Type::Bytes;
        info.flags.starts_process = true;
        Ok(Some(Arc::new(ProgramClass { info, program })))
    }

    fn names(&self) -> Vec<String> {
        Vec::new()
    }

    /// The program itself, and its arguments that are files: the script of an interpreter.
    fn files(&self, name: &str) -> Vec<PathBuf> {
        let Ok(Some(program)) = find(name, &*self.processes) else { return Vec::new() };
        let arguments = program.arguments.iter().map(PathBuf::from);
        let is_file = |path: &PathBuf| self.files.meta(path).is_ok_and(|meta| !meta.is_dir && !meta.is_stream);
        std::iter::once(program.executable).chain(arguments).filter(is_file).collect()
    }
}

struct PrintClass(ClassInfo);

impl Class for PrintClass {
    fn info(&self) -> &ClassInfo {
        &self.0
    }
    fn reducer(&self, context: &Arc<TaskContext>) -> Result<Box<dyn Reducer>> {
        Ok(Box::new(PrintReducer::new(context)?))
    }
}

struct ProgramClass {
    info: ClassInfo,
    program: Program,
}

impl Class for ProgramClass {
    fn info(&self) -> &ClassInfo {
        &self.info
    }
    fn mapper(&self, context: &Arc<TaskContext>) -> Result<Box<dyn Mapper>> {
        Ok(Box::new(ProgramMapper::new(self.program.clone(), context)?))
    }
    fn reducer(&self, context: &Arc<TaskContext>) -> Result<Box<dyn Reducer>> {
        Ok(Box::new(ProgramReducer::new(self.program.clone(), self.info.kind, context)?))
    }
}
