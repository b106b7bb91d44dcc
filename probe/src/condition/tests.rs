//! Random expressions: the value that the kernel computes is the reference's.

use super::assembler::{Alu, Assembler, FRAME, Helper};
use super::compile;
use super::expression::tests::scope;
use super::expression::{VARIABLES, parse};
use super::load::{Type, load, run};

const ROUNDS: usize = 1000;

/// Numbers of xorshift64.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 20) as usize % n
    }

    fn value(&mut self) -> u64 {
        let edges = [0, 1, 2, 63, 64, 0xff, 0x7fff_ffff, 0x8000_0000, u64::MAX, 1 << 63, u64::MAX >> 1, 0xffff_ffff];
        match self.below(2) {
            0 => edges[self.below(edges.len())],
            _ => {
                self.below(2);
                self.0
            }
        }
    }

    fn expression(&mut self, depth: usize) -> String {
        let operators =
            ["||", "&&", "|", "^", "&", "==", "!=", "<", "<=", ">", ">=", "<<", ">>", "+", "-", "*", "/", "%"];
        let casts = ["u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64", "log2", "-", "!", "~"];
        match self.below(if depth == 0 { 2 } else { 6 }) {
            0 => format!("arg{}", self.below(6)),
            1 => self.value().to_string(),
            2 => {
                let cast = casts[self.below(casts.len())];
                format!("{cast}({})", self.expression(depth - 1))
            }
            _ => {
                let operator = operators[self.below(operators.len())];
                format!("({} {operator} {})", self.expression(depth - 1), self.expression(depth - 1))
            }
        }
    }
}

#[test]
fn the_kernel_computes_the_reference() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    for _ in 0..ROUNDS {
        let text = random.expression(5);
        let expression = parse(&text, &scope).unwrap();
        let mut values = [0; VARIABLES];
        values[..6].fill_with(|| random.value());
        let mut code = Assembler::default();
        code.alu(Alu::Move, 6, 1);
        for argument in 0..6 {
            code.load(1, 6, argument * 8);
            code.store(FRAME, compile::slot(argument as usize), 1);
        }
        compile::expression(&mut code, &expression, Helper::ReadKernel).unwrap();
        // A program returns 32 bits: both halves, put together.
        code.alu(Alu::Move, 1, 0);
        code.alu_constant(Alu::ShiftRight, 1, 32);
        code.alu_constant(Alu::Multiply, 1, 31);
        code.alu(Alu::Xor, 0, 1);
        code.exit();
        let program = match load(Type::RawTracepoint, &code.finish().unwrap()) {
            Err(e) if e.kind() == std::io::ErrorKind::PermissionDenied => {
                eprintln!("SKIP expressions in the kernel: {e}; run as root");
                return;
            }
            program => program.unwrap_or_else(|e| panic!("{text}: {e}")),
        };
        let expected = expression.value(&values);
        let expected = (expected ^ (expected >> 32).wrapping_mul(31)) as u32;
        assert_eq!(run(&program, &values[..6]).unwrap(), expected, "{text} {values:?}");
    }
}
