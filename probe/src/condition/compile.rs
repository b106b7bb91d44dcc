//! Expressions as instructions of BPF. The result comes in register 0; operands wait in slots of the frame, because
//! calls of helpers clear the other registers.

use super::assembler::{Alu, Assembler, FRAME, Helper, Jump, Register};
use super::expression::{Binary, Expression, Unary, VARIABLES, Width};

/// Slots of operands that wait.
const OPERANDS: usize = 24;
/// Offset below which the frame is free for callers: variables and operands lie above.
pub const FRAME_USED: i16 = -(((VARIABLES + OPERANDS + 1) * 8) as i16);

/// Returns the frame's offset of a variable or an operand.
pub fn slot(number: usize) -> i16 {
    -((number as i16 + 1) * 8)
}

/// Writes the code of an expression. `read`: the helper that reads memory. Returns `None` for an expression with too
/// many operands that wait.
pub fn expression(code: &mut Assembler, of: &Expression, read: Helper) -> Option<()> {
    Compiler { code, read }.emit(of, 0)
}

struct Compiler<'a> {
    code: &'a mut Assembler,
    read: Helper,
}

impl Compiler<'_> {
    fn emit(&mut self, of: &Expression, waiting: usize) -> Option<()> {
        match of {
            Expression::Constant(value) => self.code.constant(0, *value),
            Expression::Variable { variable, .. } => self.code.load(0, FRAME, slot(variable.slot())),
            Expression::Unary(operator, of) => {
                self.emit(of, waiting)?;
                self.unary(*operator);
            }
            Expression::Cast(width, of) => {
                self.emit(of, waiting)?;
                self.cast(*width);
            }
            Expression::Read(width, of) => {
                self.emit(of, waiting)?;
                self.read(*width);
            }
            Expression::Binary(operator @ (Binary::Or | Binary::And), left, right, _) => {
                let (end, short) = (self.code.label(), self.code.label());
                let jump = if *operator == Binary::Or { Jump::NotEqual } else { Jump::Equal };
                self.emit(left, waiting)?;
                self.code.jump_constant(jump, 0, 0, short);
                self.emit(right, waiting)?;
                self.code.jump_constant(jump, 0, 0, short);
                self.code.alu_constant(Alu::Move, 0, (*operator == Binary::And).into());
                self.code.jump(Jump::Always, 0, 0, end);
                self.code.place(short);
                self.code.alu_constant(Alu::Move, 0, (*operator == Binary::Or).into());
                self.code.place(end);
            }
            Expression::Binary(operator, left, right, is_signed) => {
                if waiting >= OPERANDS {
                    return None;
                }
                let operand = slot(VARIABLES + waiting);
                self.emit(left, waiting)?;
                self.code.store(FRAME, operand, 0);
                self.emit(right, waiting + 1)?;
                self.code.alu(Alu::Move, 1, 0);
                self.code.load(0, FRAME, operand);
                self.binary(*operator, *is_signed);
            }
        }
        Some(())
    }

    fn unary(&mut self, operator: Unary) {
        match operator {
            Unary::Negate => self.code.alu_constant(Alu::Negate, 0, 0),
            Unary::Complement => self.code.alu_constant(Alu::Xor, 0, -1),
            Unary::Not => {
                self.code.alu_constant(Alu::Move, 1, 0);
                self.truth(Jump::Equal);
            }
            Unary::Log2 => {
                self.code.alu(Alu::Move, 1, 0);
                self.code.alu_constant(Alu::Move, 0, 0);
                for bits in [32, 16, 8, 4, 2, 1] {
                    let is_less = self.code.label();
                    self.code.alu(Alu::Move, 2, 1);
                    self.code.alu_constant(Alu::ShiftRight, 2, bits);
                    self.code.jump_constant(Jump::Equal, 2, 0, is_less);
                    self.code.alu(Alu::Move, 1, 2);
                    self.code.alu_constant(Alu::Add, 0, bits);
                    self.code.place(is_less);
                }
            }
        }
    }

    fn cast(&mut self, width: Width) {
        let shift = 64 - 8 * i32::from(width.bytes);
        if shift > 0 {
            self.code.alu_constant(Alu::ShiftLeft, 0, shift);
            let back = if width.is_signed { Alu::ShiftSigned } else { Alu::ShiftRight };
            self.code.alu_constant(back, 0, shift);
        }
    }

    fn read(&mut self, width: Width) {
        let scratch = FRAME_USED;
        self.code.store_constant(FRAME, scratch, 0);
        self.code.alu(Alu::Move, 3, 0);
        self.code.alu_constant(Alu::Move, 2, width.bytes.into());
        self.code.alu(Alu::Move, 1, FRAME);
        self.code.alu_constant(Alu::Add, 1, scratch.into());
        self.code.call(self.read);
        self.code.load(0, FRAME, scratch);
        self.cast(width);
    }

    /// Sets register 0 to 1 if the comparison of registers 0 and 1 holds, else to 0.
    fn truth(&mut self, jump: Jump) {
        let (holds, end) = (self.code.label(), self.code.label());
        self.code.jump(jump, 0, 1, holds);
        self.code.alu_constant(Alu::Move, 0, 0);
        self.code.jump(Jump::Always, 0, 0, end);
        self.code.place(holds);
        self.code.alu_constant(Alu::Move, 0, 1);
        self.code.place(end);
    }

    fn binary(&mut self, operator: Binary, is_signed: bool) {
        match operator {
            Binary::Add => self.code.alu(Alu::Add, 0, 1),
            Binary::Subtract => self.code.alu(Alu::Subtract, 0, 1),
            Binary::Multiply => self.code.alu(Alu::Multiply, 0, 1),
            Binary::BitOr => self.code.alu(Alu::Or, 0, 1),
            Binary::BitAnd => self.code.alu(Alu::And, 0, 1),
            Binary::BitXor => self.code.alu(Alu::Xor, 0, 1),
            Binary::ShiftLeft => self.shift(Alu::ShiftLeft),
            Binary::ShiftRight if is_signed => self.shift(Alu::ShiftSigned),
            Binary::ShiftRight => self.shift(Alu::ShiftRight),
            Binary::Divide if is_signed => self.signed_division(Alu::Divide),
            Binary::Remainder if is_signed => self.signed_division(Alu::Remainder),
            // BPF defines both for a divisor of zero: 0, and the dividend.
            Binary::Divide => self.code.alu(Alu::Divide, 0, 1),
            Binary::Remainder => self.code.alu(Alu::Remainder, 0, 1),
            Binary::Equal => self.truth(Jump::Equal),
            Binary::NotEqual => self.truth(Jump::NotEqual),
            Binary::Less => self.truth(if is_signed { Jump::SignedLess } else { Jump::Less }),
            Binary::LessOrEqual => self.truth(if is_signed { Jump::SignedLessOrEqual } else { Jump::LessOrEqual }),
            Binary::Greater => self.truth(if is_signed { Jump::SignedGreater } else { Jump::Greater }),
            Binary::GreaterOrEqual => {
                self.truth(if is_signed { Jump::SignedGreaterOrEqual } else { Jump::GreaterOrEqual });
            }
            // Written by `emit`, which does not evaluate the right side always.
            Binary::Or | Binary::And => {}
        }
    }

    fn shift(&mut self, alu: Alu) {
        self.code.alu_constant(Alu::And, 1, 63);
        self.code.alu(alu, 0, 1);
    }

    /// Divides the absolute values; signed instructions exist from Linux 6.6 on only.
    fn signed_division(&mut self, alu: Alu) {
        // The sign of a quotient is of both operands, the sign of a remainder is of the dividend.
        self.code.alu(Alu::Move, 2, 0);
        if matches!(alu, Alu::Divide) {
            self.code.alu(Alu::Xor, 2, 1);
        }
        for register in [0, 1] {
            self.negate_if_negative(register, register);
        }
        self.code.alu(alu, 0, 1);
        self.negate_if_negative(2, 0);
    }

    fn negate_if_negative(&mut self, sign: Register, value: Register) {
        let is_positive = self.code.label();
        self.code.jump_constant(Jump::SignedGreaterOrEqual, sign, 0, is_positive);
        self.code.alu_constant(Alu::Negate, value, 0);
        self.code.place(is_positive);
    }
}
