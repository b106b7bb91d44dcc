//! One call of a stack.

use std::rc::Rc;

/// What kind of code runs in a frame; the name is the one of pages and of `--json`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// A heading: a thread or a state, and no code.
    Group,
    Interpreted,
    /// By the JVM's first compiler, which measures.
    CompiledC1,
    /// By its last.
    Compiled,
    /// Into the frame below it.
    Inlined,
    /// C++ of the JVM.
    Jvm,
    Native,
    Kernel,
}

pub const KINDS: [Kind; 8] = [
    Kind::Group,
    Kind::Interpreted,
    Kind::CompiledC1,
    Kind::Compiled,
    Kind::Inlined,
    Kind::Jvm,
    Kind::Native,
    Kind::Kernel,
];

impl Kind {
    /// Inlined frames may be of Java or of native code.
    pub fn is_java(self) -> bool {
        matches!(self, Kind::Interpreted | Kind::CompiledC1 | Kind::Compiled)
    }

    pub fn name(self) -> &'static str {
        match self {
            Kind::Group => "group",
            Kind::Interpreted => "interpreted",
            Kind::CompiledC1 => "compiled-c1",
            Kind::Compiled => "compiled",
            Kind::Inlined => "inlined",
            Kind::Jvm => "jvm",
            Kind::Native => "native",
            Kind::Kernel => "kernel",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Frame {
    pub name: Rc<str>,
    pub kind: Kind,
}
