//! What other processes and the machine do to a process, read from outside: stops, memory taken away, processors taken
//! away, and tools that are attached.
//!
//! ```text
//!   stops.rs       threads held by a tracer, a signal or the freezer
//!   neighbours.rs  processor time of other processes, and what they are to this one
//!   placement.rs   processors and priority that a process is allowed
//!   machine.rs     counters of the machine: processors, memory management, interrupts
//!   memory.rs      memory limit of the control group, swapped memory
//!   attached.rs    other processes that hold a tool's handle on this one, or name it
//! ```

mod attached;
mod machine;
mod memory;
mod neighbours;
mod placement;
mod stops;

pub use attached::{Attached, Handle, NameWatch, attached};
pub use machine::{Machine, MachineChange, Speed};
pub use memory::{GroupMemory, swapped_bytes};
pub use neighbours::{Kin, Neighbour, Usage, neighbours, usages};
pub use placement::{Mask, Placement, Policy};
pub use stops::{Freezer, Stops, is_held, tracer_of};
