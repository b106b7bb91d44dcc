//! Words of a change, as a user writes them.

use yunti_base::{Code, Error, Result};

use super::change::{Amount, Change, Part};
use crate::demands::ResourceKind;

const TEXT_BYTES_MAX: usize = 4_000;
const FACTOR: (f64, f64) = (0.001, 1000.0);
const UNITS_MAX: f64 = 1e6;

/// Returns the change in a text such as `cpu +2`, `lock Stock x0.5`, `pool 8`, `parallel: search,goods`,
/// `gc off`, `young 600m`, `memory x0.5`, `held x0.1` or `json -> protobuf x3`.
///
/// An error has the code `Usage`.
pub fn parse(text: &str) -> Result<Change> {
    let text = text.trim();
    if text.len() > TEXT_BYTES_MAX {
        return Err(wrong("...", "it is too long"));
    }
    if let Some(names) = text.strip_prefix("parallel:") {
        let names: Vec<String> = names.split(',').map(|name| name.trim().to_string()).collect();
        let is_usable = names.iter().all(|name| !name.is_empty());
        return if is_usable { Ok(Change::AtOnce(names)) } else { Err(wrong(text, "name the calls: parallel: a,b")) };
    }
    if let Some((from, to)) = text.split_once("->") {
        return convert(text, from.trim(), to.trim());
    }
    if let Some(kind) = text.strip_prefix("without ") {
        return Ok(Change::Without(kind.trim().to_string()));
    }
    if let Some(rest) = text.strip_prefix("share ") {
        return share(text, rest.trim());
    }
    let words: Vec<&str> = text.split_whitespace().collect();
    let [keyword, .., last] = words[..] else { return Err(unknown(text)) };
    // A name may hold blanks, so it is what is between the first and the last word.
    let name = text[keyword.len()..text.len() - last.len()].trim();
    let name = (!name.is_empty()).then(|| name.to_string());
    let kind = match keyword {
        "cpu" | "processors" if name.is_none() => {
            return Ok(match amount(text, last)? {
                Amount::Times(factor) => Change::Faster(factor),
                amount => Change::Processors(amount),
            });
        }
        "gc" if name.is_none() && last == "off" => return Ok(Change::NoCollections),
        "young" if name.is_none() => return Ok(Change::Young(bytes(text, last)?)),
        "memory" if name.is_none() => {
            return Ok(Change::Memory(times(text, last, "it needs a factor: memory x0.5")?));
        }
        "held" if name.is_none() => return Ok(Change::Held(times(text, last, "it needs a factor: held x0.1")?)),
        "threads" if name.is_none() => return Ok(Change::Workers(whole(text, amount(text, last)?)?)),
        "threads" => ResourceKind::Threads,
        "lock" => ResourceKind::Lock,
        "pool" => ResourceKind::Pool,
        "remote" => ResourceKind::Remote,
        "disk" => ResourceKind::Disk,
        "sleep" => ResourceKind::Sleep,
        "other" => ResourceKind::Other,
        _ => return Err(unknown(text)),
    };
    match amount(text, last)? {
        Amount::Times(factor) if kind != ResourceKind::Threads => Ok(Change::Hold { kind, name, factor }),
        amount => Ok(Change::Units { kind, name, amount: whole(text, amount)? }),
    }
}

fn share(text: &str, rest: &str) -> Result<Change> {
    let Some((kind, last)) = rest.rsplit_once(char::is_whitespace) else {
        return Err(wrong(text, "name a kind of requests and its share: share GET /search x2"));
    };
    let percent = last.strip_suffix('%').map(|digits| digits.parse::<f64>().ok());
    let share = match percent {
        Some(Some(percent)) if percent > 0.0 && percent <= 100.0 => Part::Percent(percent),
        Some(_) => return Err(wrong(text, "a share is above 0 % and at most 100 %")),
        None => Part::Times(times(text, last, "it ends in x2 or 40%")?),
    };
    Ok(Change::Share { kind: kind.trim().to_string(), share })
}

fn convert(text: &str, from: &str, to: &str) -> Result<Change> {
    let (to, factor) = match to.rsplit_once(char::is_whitespace) {
        Some((to, last)) => (to.trim(), Some(times(text, last, "write the speed-up as x3")?)),
        None => (to, None),
    };
    if from.is_empty() || to.is_empty() {
        return Err(wrong(text, "name both formats: json -> protobuf"));
    }
    Ok(Change::Convert { from: from.into(), to: to.into(), factor })
}

fn amount(text: &str, word: &str) -> Result<Amount> {
    let number = |digits: &str| digits.parse::<f64>().ok().filter(|number| number.is_finite());
    let amount = match word.strip_prefix(['x', '*']) {
        Some(digits) => number(digits).map(Amount::Times),
        None if word.starts_with(['+', '-']) => number(word).map(Amount::Add),
        None => number(word).map(Amount::Set),
    };
    let is_possible = |amount: &Amount| match amount {
        Amount::Times(factor) => (FACTOR.0..=FACTOR.1).contains(factor),
        Amount::Set(number) => *number > 0.0 && *number <= UNITS_MAX,
        Amount::Add(more) => more.abs() <= UNITS_MAX,
    };
    amount.filter(is_possible).ok_or_else(|| wrong(text, "it ends in x0.5, +2 or 8"))
}

/// Returns the factor of a change that allows no other amount.
fn times(text: &str, word: &str, hint: &str) -> Result<f64> {
    match amount(text, word)? {
        Amount::Times(factor) => Ok(factor),
        _ => Err(wrong(text, hint)),
    }
}

/// Returns the amount of something that has no parts.
fn whole(text: &str, amount: Amount) -> Result<Amount> {
    match amount {
        Amount::Add(number) | Amount::Set(number) if number.fract() != 0.0 => {
            Err(wrong(text, "it needs whole numbers"))
        }
        amount => Ok(amount),
    }
}

fn bytes(text: &str, word: &str) -> Result<f64> {
    let unit = match word.chars().last().map(|c| c.to_ascii_lowercase()) {
        Some('k') => 10,
        Some('m') => 20,
        Some('g') => 30,
        _ => return Err(wrong(text, "give the size with a unit: young 600m")),
    };
    let number = word[..word.len() - 1].parse::<f64>().ok().filter(|number| *number > 0.0 && *number <= 1e7);
    number.map(|number| number * f64::from(1u32 << unit)).ok_or_else(|| wrong(text, "give the size as 600m or 2g"))
}

fn unknown(text: &str) -> Error {
    wrong(
        text,
        "use cpu, lock, pool, threads, remote, disk, sleep, parallel:, gc off, young, memory, held, share, without or \
         A -> B",
    )
}

fn wrong(text: &str, hint: &str) -> Error {
    Error::new(Code::Usage, format!("change '{text}' is not understood")).hint(hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_changes_and_writes_them_again() {
        for text in [
            "cpu +2",
            "cpu 8",
            "cpu -1",
            "cpu x1.5",
            "lock x0.5",
            "lock com.shop.Stock x0.5",
            "pool db 8",
            "pool +4",
            "pool com.shop.Pool.borrow (Semaphore) +4",
            "threads 100",
            "threads +10",
            "threads pool-2 thread 16",
            "remote db:1 x0.5",
            "parallel: search,goods,shop",
            "gc off",
            "young 600m",
            "memory x0.5",
            "held x0.1",
            "json -> protobuf",
            "json -> protobuf x3",
            "Java serialisation -> fory x2.5",
            "disk x0.5",
            "sleep x0.1",
            "share GET /search x2",
            "share GET /item/* 40%",
            "without GET /report",
        ] {
            assert_eq!(parse(text).unwrap().to_string(), text);
        }
        assert_eq!(parse(" processors  *2 ").unwrap(), Change::Faster(2.0));
        assert_eq!(parse("young 2g").unwrap(), Change::Young(2147483648.0));
    }

    #[test]
    fn refuses_the_rest_with_a_hint() {
        for text in [
            "",
            "cpu",
            "cpu two",
            "cpu x0",
            "cpu xNaN",
            "cpu xinf",
            "cpu 0",
            "lock x-1",
            "pool 1.5",
            "threads +0.5",
            "gc on",
            "young 600",
            "young -1m",
            "memory +5",
            "held +5",
            "parallel:",
            "parallel: a,,b",
            "-> b",
            "a ->",
            "a -> b 3",
            "turbo x2",
            "share x2",
            "share GET /a +2",
            "share GET /a 0%",
            "share GET /a 101%",
            "without",
            "cpu core +2",
            "young 99999999g",
            "é x0.5",
            "young é",
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.code() == Code::Usage && error.hint_text().is_some(), "{text}");
        }
        assert!(parse(&"x".repeat(5000)).is_err());
    }
}
