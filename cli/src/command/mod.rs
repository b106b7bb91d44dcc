//! The commands, one module each: what a parsed command does.

pub mod generate;
pub mod inspect;
pub mod limits;
pub mod manual;
pub mod part;
pub mod report;
pub mod run;
pub mod validate;

use std::ffi::OsString;

use clap::Parser;
use yunti_base::{Code, Error};
use yunti_engine::bytes::simd;
use yunti_program::terminal::{self, stdout};

use crate::failure::{self, Outcome};
use crate::flags::{Command, Flags, MachineCommand};

pub fn act(flags: Flags) -> Outcome {
    if !simd::mask_is_known() {
        let error = Error::new(Code::Usage, format!("{} names no instruction set", simd::VARIABLE));
        return Err(error.hint("plain, avx2 or avx512; or unset it").into());
    }
    match flags.command {
        Command::Run(flags) => run::run(*flags),
        Command::Generate(flags) => generate::generate(&flags),
        Command::Validate(flags) => validate::validate(&flags),
        Command::Report(flags) => report::report(&flags),
        Command::Inspect(flags) => inspect::inspect(&flags),
        Command::Machine(flags) => match flags.command {
            MachineCommand::Doctor(flags) => yunti_doctor::doctor(&flags),
            MachineCommand::Limits(flags) => limits::limits(&flags),
            MachineCommand::Part(arguments) => part::execute(&of_the_machine(arguments)),
        },
        Command::Help(flags) => help(&flags.command),
        Command::Limits(flags) => limits::limits(&flags),
        Command::Doctor(flags) => yunti_doctor::doctor(&flags),
        Command::Completions(flags) => manual::completions(flags.shell),
        Command::Man(flags) => manual::man(&flags),
        Command::Part(arguments) => part::execute(&arguments),
    }
}

fn of_the_machine(arguments: Vec<OsString>) -> Vec<OsString> {
    [OsString::from("machine")].into_iter().chain(arguments).collect()
}

/// `yunti help X Y` is `yunti X Y --help`, whichever program has it.
fn help(words: &[OsString]) -> Outcome {
    let asked = words.iter().cloned().chain([OsString::from("--help")]);
    match Flags::try_parse_from([OsString::from("yunti")].into_iter().chain(asked)) {
        Ok(flags) => act(flags),
        Err(e) if !e.use_stderr() => stdout::print(&terminal::ansi_text(&e)),
        Err(e) => Err(failure::of_clap(&e).into()),
    }
}
