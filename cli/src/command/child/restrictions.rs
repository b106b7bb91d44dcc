//! Sandbox of user code (`--sandbox`): no network, files that can only be read, no reach into other processes.
//!
//! ```text
//!   landlock    files are read-only, except the scratch directory of user code and /dev/null
//!   seccomp     EPERM for sockets other than local ones, signals to other processes, tracing, mounts, modules, ..
//! ```
//!
//! It is entered before user code is loaded, and holds for all that this code starts. What the kernel refuses is
//! reported, and does not end the job.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, CompatLevel, Compatible, Ruleset, RulesetAttr, RulesetCreatedAttr, RulesetStatus,
    path_beneath_rules,
};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen as ArgLen, SeccompCmpOp as Is, SeccompCondition as Condition,
    SeccompFilter, SeccompRule as Rule, TargetArch,
};

/// Version of landlock whose rights are restricted, as far as the kernel knows them.
const LANDLOCK: ABI = ABI::V5;
/// Devices that programs write to without an effect on anything.
const DEVICES: [&str; 4] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/tty"];

/// Enters the sandbox for this process and all that it starts. Returns what the kernel could not do.
pub fn enter(scratch: &[PathBuf]) -> Vec<String> {
    let mut lacks = Vec::new();
    match restrict_files(scratch) {
        Ok(RulesetStatus::FullyEnforced) => {}
        Ok(RulesetStatus::PartiallyEnforced) => {
            lacks.push("this kernel's landlock is old: some changes of files are not refused".to_owned());
        }
        Ok(RulesetStatus::NotEnforced) => {
            lacks.push("this kernel has no landlock: user code can write files".to_owned());
        }
        Err(e) => lacks.push(format!("landlock is refused ({e}): user code can write files")),
    }
    if let Err(e) = restrict_calls() {
        lacks.push(format!("seccomp is refused ({e}): user code can reach the network and other processes"));
    }
    lacks
}

fn restrict_files(scratch: &[PathBuf]) -> Result<RulesetStatus, landlock::RulesetError> {
    let read = AccessFs::from_read(LANDLOCK);
    let own = scratch.iter().map(PathBuf::as_path).chain(DEVICES.map(Path::new));
    let status = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(LANDLOCK))?
        .create()?
        .add_rules(path_beneath_rules(["/"], read))?
        .add_rules(path_beneath_rules(own, AccessFs::from_all(LANDLOCK)))?
        .restrict_self()?;
    Ok(status.ruleset)
}

/// Calls that user code does not need, and that reach beyond its process.
const REFUSED: [i64; 26] = [
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_pidfd_getfd,
    libc::SYS_pidfd_send_signal,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_setns,
    libc::SYS_unshare,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_io_uring_setup,
    libc::SYS_userfaultfd,
    libc::SYS_open_by_handle_at,
    libc::SYS_add_key,
    libc::SYS_keyctl,
    libc::SYS_settimeofday,
];

fn restrict_calls() -> Result<(), Box<dyn std::error::Error>> {
    let other = |argument: u8, value: u64| {
        let differs = Condition::new(argument, ArgLen::Dword, Is::Ne, value)?;
        Rule::new(vec![differs]).map(|rule| vec![rule])
    };
    let own = u64::from(std::process::id());
    let mut rules: BTreeMap<i64, Vec<Rule>> = REFUSED.into_iter().map(|call| (call, Vec::new())).collect();
    // Local sockets carry pairs between a program and its children.
    rules.insert(libc::SYS_socket, other(0, libc::AF_UNIX as u64)?);
    // raise(3) sends signals to the own process.
    rules.insert(libc::SYS_kill, other(0, own)?);
    rules.insert(libc::SYS_tgkill, other(0, own)?);
    rules.insert(libc::SYS_tkill, Vec::new());
    let filter = SeccompFilter::new(
        rules,
        SeccompAction::Allow,
        SeccompAction::Errno(libc::EPERM as u32),
        TargetArch::try_from(std::env::consts::ARCH)?,
    )?;
    let program: BpfProgram = filter.try_into()?;
    // It sets no_new_privs: a setuid program gains nothing.
    Ok(seccompiler::apply_filter(&program)?)
}
