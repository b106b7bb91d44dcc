//! Address ranges of a JVM's heap and code cache, from its diagnostic commands.

use yunti_base::Result;

use crate::jvm::attach::diagnose;
use yunti_probe::target::Process;

/// Returns the ranges: first address, end, name.
pub fn areas(process: &Process) -> Result<Vec<(u64, u64, &'static str)>> {
    let heap = diagnose(process, "GC.heap_info")?;
    let code = diagnose(process, "Compiler.codecache")?;
    Ok(ranges(&heap, "Java heap").into_iter().chain(ranges(&code, "code cache")).collect())
}

/// Returns the first and the last address of `[0x.., 0x.., 0x..)` in each line: begin, end of the used part, end.
fn ranges(text: &str, what: &'static str) -> Vec<(u64, u64, &'static str)> {
    let range = |line: &str| {
        let inside = line.split_once('[')?.1.split([')', ']']).next()?;
        let addresses: Vec<u64> = inside
            .split(',')
            .map(|word| u64::from_str_radix(word.trim().strip_prefix("0x")?, 16).ok())
            .collect::<Option<_>>()?;
        Some((*addresses.first()?, *addresses.last()?, what))
    };
    text.lines().filter_map(range).filter(|(begin, end, _)| begin < end).collect()
}

#[cfg(test)]
mod tests {
    use super::ranges;

    #[test]
    fn ranges_of_each_collector() {
        let check = |text: &str, expected: &[(u64, u64)]| {
            let found: Vec<_> = ranges(text, "x").into_iter().map(|(a, b, _)| (a, b)).collect();
            assert_eq!(found, expected, "{text}");
        };
        check(" garbage-first heap   total 1K, used 1K [0x10, 0x80)", &[(0x10, 0x80)]);
        check(" tenured total 2K, used 0K [0x10, 0x20, 0x30)\n  the space [0x40, 0x40, 0x40)", &[(0x10, 0x30)]);
        check(" bounds [0x00007f26, 0x00007f27, 0x00007f28]", &[(0x7f26, 0x7f28)]);
        check(" ZHeap           used 10M, capacity 20M, max capacity 30M", &[]);
        check(" par [x, y)", &[]);
    }
}
