//! Conditions and groups from the command line, for each watch: names get the types that its signature has.

use yunti_base::{Code, Error, Result};

use yunti_probe::condition::expression::{Expression, Variable, Width, parse};
use yunti_probe::condition::{Conditions, Grouping, KEYS_MAX, Key};

use super::NativeFlags;
use super::signature::Kind;
use super::watch::Watch;

/// Key that is a stack, which is not a number.
const STACK: &str = "stack";

/// Returns the texts of the keys without the stack, as the user wrote them.
pub fn keys(flags: &NativeFlags) -> Vec<&str> {
    words(flags).filter(|word| *word != STACK).collect()
}

/// Returns true if calls are grouped by their stacks too.
pub fn by_stack(flags: &NativeFlags) -> bool {
    words(flags).any(|word| word == STACK)
}

/// Returns true if calls are grouped.
pub fn is_grouped(flags: &NativeFlags) -> bool {
    flags.count_by.is_some() || flags.sum.is_some()
}

fn words(flags: &NativeFlags) -> impl Iterator<Item = &str> {
    flags.count_by.iter().flat_map(|text| text.split(',')).map(str::trim)
}

/// Returns the conditions of a watch. Fails with the place of the first error.
pub fn conditions(flags: &NativeFlags, watch: &Watch) -> Result<Conditions> {
    let scope = |name: &str| value(watch, name);
    let of = |option: &str, text: &str| {
        parse(text, &scope)
            .map_err(|e| Error::new(Code::Usage, format!("{option} for {}: {e}", watch.name)).hint(hint(watch)))
    };
    let mut when = Vec::new();
    if let Some(text) = &flags.when {
        of("--when", text)?.conjuncts(&mut when);
    }
    let keys: Vec<&str> = keys(flags);
    if keys.len() > KEYS_MAX {
        let error = Error::new(Code::Usage, format!("--count-by has {} values", keys.len()));
        return Err(error.hint(format!("give at most {KEYS_MAX}, and 'stack'")));
    }
    let key = |text: &&str| {
        Ok(match *text {
            "process" => Key::Process,
            "thread" => Key::Thread,
            text => Key::Value(of("--count-by", text)?),
        })
    };
    let grouping = match is_grouped(flags) {
        false => None,
        true => Some(Grouping {
            keys: keys.iter().map(key).collect::<Result<_>>()?,
            sum: flags.sum.as_deref().map(|text| of("--sum", text)).transpose()?,
            has_stack: by_stack(flags),
        }),
    };
    Ok(Conditions { when, grouping })
}

/// Returns the value of a name, with its type.
fn value(watch: &Watch, name: &str) -> Option<Expression> {
    let unsigned = |variable| Some(Expression::Variable { variable, is_signed: false });
    match name {
        "pid" => unsigned(Variable::Pid),
        "tid" => unsigned(Variable::Tid),
        "cpu" => unsigned(Variable::Cpu),
        "uid" => unsigned(Variable::Uid),
        "time" if watch.has_end() => unsigned(Variable::Time),
        "return" if watch.has_end() => {
            // Errors of system calls are below zero, whatever their results are else.
            let kind = watch.signature.as_ref().filter(|_| !watch.is_system_call()).map_or(Kind::Long, |s| s.result);
            Some(typed(Variable::Return, kind))
        }
        _ => {
            let by_number = || name.strip_prefix("arg").filter(|digit| digit.len() == 1)?.parse::<usize>().ok();
            let by_name = || watch.parameters.as_ref()?.iter().position(|parameter| parameter == name);
            let last = watch.parameters.as_ref().map_or(ARGUMENTS, |parameters| parameters.len().min(ARGUMENTS));
            let number = by_number().or_else(by_name).filter(|number| *number < last)?;
            let kind = watch.signature.as_ref().and_then(|s| s.arguments.get(number)).copied().unwrap_or(Kind::Hex);
            Some(typed(Variable::Argument(number as u8), kind))
        }
    }
}

const ARGUMENTS: usize = yunti_probe::kernel::ARGUMENTS;

fn typed(variable: Variable, kind: Kind) -> Expression {
    let of = |is_signed| Expression::Variable { variable, is_signed };
    match kind {
        Kind::Int => Expression::Cast(Width { bytes: 4, is_signed: true }, of(false).into()),
        Kind::Long => of(true),
        _ => of(false),
    }
}

fn hint(watch: &Watch) -> String {
    let ends = if watch.has_end() { "return, time, " } else { "" };
    match &watch.parameters {
        Some(parameters) if parameters.is_empty() => "it has no arguments; names are pid, tid, cpu, uid".to_owned(),
        Some(parameters) => {
            let parameters: Vec<&str> = parameters.iter().take(ARGUMENTS).map(String::as_str).collect();
            let last = parameters.len() - 1;
            format!("names are {} (arg0 to arg{last}), {ends}pid, tid, cpu, uid", parameters.join(", "))
        }
        None => format!("names are arg0 to arg5, {ends}pid, tid, cpu, uid"),
    }
}
