//! The commands, one module each: what a parsed command does.

pub mod doctor;
pub mod generate;
pub mod inspect;
pub mod limits;
pub mod manual;
pub mod part;
pub mod report;
pub mod run;
pub mod validate;

use yunti_base::{Code, Error};
use yunti_engine::bytes::simd;

use crate::failure::Outcome;
use crate::flags::{Command, Flags};

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
        Command::Limits(flags) => limits::limits(&flags),
        Command::Doctor(flags) => doctor::doctor(&flags),
        Command::Completions(flags) => manual::completions(flags.shell),
        Command::Man(flags) => manual::man(&flags),
        Command::Part(arguments) => part::execute(&arguments),
    }
}
