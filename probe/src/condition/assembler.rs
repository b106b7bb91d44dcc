//! Instructions of BPF with jumps to labels: the instruction set of Linux 5.12 (`-mcpu=v3`), as RFC 9669 has it.

/// Instruction: operation, destination and source register, offset, constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Instruction {
    pub operation: u8,
    /// Destination in the lower four bits, source in the upper ones.
    pub registers: u8,
    pub offset: i16,
    pub constant: i32,
}

/// Register. The first returns results, 1 to 5 pass arguments and are lost in calls, 10 is the frame's end.
pub type Register = u8;
pub const FRAME: Register = 10;

/// Operation of 64 bits.
#[derive(Clone, Copy, Debug)]
pub enum Alu {
    Add = 0x00,
    Subtract = 0x10,
    Multiply = 0x20,
    Divide = 0x30,
    Or = 0x40,
    And = 0x50,
    ShiftLeft = 0x60,
    ShiftRight = 0x70,
    Negate = 0x80,
    Remainder = 0x90,
    Xor = 0xa0,
    Move = 0xb0,
    ShiftSigned = 0xc0,
}

/// Comparison of a jump.
#[derive(Clone, Copy, Debug)]
pub enum Jump {
    Always = 0x00,
    Equal = 0x10,
    Greater = 0x20,
    GreaterOrEqual = 0x30,
    NotEqual = 0x50,
    SignedGreater = 0x60,
    SignedGreaterOrEqual = 0x70,
    Less = 0xa0,
    LessOrEqual = 0xb0,
    SignedLess = 0xc0,
    SignedLessOrEqual = 0xd0,
}

/// Helper of the kernel by its number in `bpf_helper_defs.h`.
#[derive(Clone, Copy, Debug)]
pub enum Helper {
    MapLookup = 1,
    MapUpdate = 2,
    MapDelete = 3,
    Time = 5,
    Processor = 8,
    TailCall = 12,
    ProcessAndThread = 14,
    User = 15,
    Command = 16,
    ReadUser = 112,
    ReadKernel = 113,
}

/// Place of the program, which may still be unknown.
#[derive(Clone, Copy, Debug)]
pub struct Label(usize);

/// Program that is being written.
#[derive(Default)]
pub struct Assembler {
    code: Vec<Instruction>,
    labels: Vec<Option<usize>>,
    /// Jumps and their labels.
    jumps: Vec<(usize, Label)>,
}

impl Assembler {
    fn push(&mut self, operation: u8, to: Register, from: Register, offset: i16, constant: i32) {
        self.code.push(Instruction { operation, registers: from << 4 | to, offset, constant });
    }

    pub fn label(&mut self) -> Label {
        self.labels.push(None);
        Label(self.labels.len() - 1)
    }

    pub fn place(&mut self, label: Label) {
        self.labels[label.0] = Some(self.code.len());
    }

    pub fn alu(&mut self, alu: Alu, to: Register, from: Register) {
        self.push(0x0f | alu as u8, to, from, 0, 0);
    }

    pub fn alu_constant(&mut self, alu: Alu, to: Register, constant: i32) {
        self.push(0x07 | alu as u8, to, 0, 0, constant);
    }

    pub fn constant(&mut self, to: Register, value: u64) {
        self.push(0x18, to, 0, 0, value as i32);
        self.push(0, 0, 0, 0, (value >> 32) as i32);
    }

    /// Loads the address of a map by its descriptor.
    pub fn map(&mut self, to: Register, descriptor: i32) {
        self.push(0x18, to, 1, 0, descriptor);
        self.push(0, 0, 0, 0, 0);
    }

    pub fn load(&mut self, to: Register, from: Register, offset: i16) {
        self.push(0x79, to, from, offset, 0);
    }

    pub fn store(&mut self, to: Register, offset: i16, from: Register) {
        self.push(0x7b, to, from, offset, 0);
    }

    /// Stores the lower 32 bits.
    pub fn store_half(&mut self, to: Register, offset: i16, from: Register) {
        self.push(0x63, to, from, offset, 0);
    }

    pub fn store_half_constant(&mut self, to: Register, offset: i16, constant: i32) {
        self.push(0x62, to, 0, offset, constant);
    }

    pub fn store_constant(&mut self, to: Register, offset: i16, constant: i32) {
        self.push(0x7a, to, 0, offset, constant);
    }

    /// Adds a register to a word of memory, atomically.
    pub fn atomic_add(&mut self, to: Register, offset: i16, from: Register) {
        self.push(0xdb, to, from, offset, 0);
    }

    pub fn jump(&mut self, jump: Jump, left: Register, right: Register, label: Label) {
        self.jumps.push((self.code.len(), label));
        let source = if matches!(jump, Jump::Always) { 0 } else { 0x08 };
        self.push(0x05 | source | jump as u8, left, right, 0, 0);
    }

    pub fn jump_constant(&mut self, jump: Jump, left: Register, right: i32, label: Label) {
        self.jumps.push((self.code.len(), label));
        self.push(0x05 | jump as u8, left, 0, 0, right);
    }

    pub fn call(&mut self, helper: Helper) {
        self.push(0x85, 0, 0, 0, helper as i32);
    }

    pub fn exit(&mut self) {
        self.push(0x95, 0, 0, 0, 0);
    }

    /// Returns the instructions; `None` if a jump is too far.
    pub fn finish(mut self) -> Option<Vec<Instruction>> {
        for (at, label) in &self.jumps {
            let to = self.labels[label.0]?;
            self.code[*at].offset = i16::try_from(to as i64 - *at as i64 - 1).ok()?;
        }
        Some(self.code)
    }
}
