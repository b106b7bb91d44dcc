//! Shared parts of `yunti observe` and `yunti machine`: probes, target processes, and answers.
//!
//! ```text
//!   options.rs, stopping.rs   target process, duration, end
//!     |-> target/      a process: found or started; its sockets, disks and control group
//!     |-> kernel/      programs in the kernel (`bpf/`): for one process, or in `system/` for the whole machine
//!     |-> programs/    loading programs into the kernel (`bpf/`); code/ has functions by their names
//!     |-> condition/   conditions over arguments, compiled to programs in the kernel
//!     |-> netlink/     sockets as the kernel lists them
//!     |-> native/      samples of any process by perf events; names of addresses
//!     |-> stack/       call stacks as a tree, with their costs
//!     `-> answer/      results as text, JSON and pages
//! ```

pub mod answer;
pub mod code;
pub mod condition;
pub mod histogram;
pub mod kernel;
pub mod native;
pub mod netlink;
pub mod options;
pub mod programs;
pub mod stack;
pub mod stopping;
pub mod target;
