//! Compiles the kernel programs of `bpf/` with clang. The binary embeds the object files.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

fn main() {
    let out = PathBuf::from(env::var("OUT_DIR").expect("cargo sets it"));
    let arch = match env::var("CARGO_CFG_TARGET_ARCH").expect("cargo sets it").as_str() {
        "x86_64" => "x86",
        "aarch64" => "arm64",
        other => panic!("bpf/ does not support the registers of {other}"),
    };
    // Headers of libbpf, which is built first.
    let headers = env::var("DEP_BPF_INCLUDE").expect("libbpf-sys says where its headers are");
    let clang = env::var("CLANG").unwrap_or_else(|_| "clang".to_owned());
    println!("cargo::rerun-if-env-changed=CLANG");
    println!("cargo::rerun-if-changed=bpf");
    let folders = ["bpf", "bpf/system"].map(|folder| fs::read_dir(folder).expect("bpf/ is here"));
    let mut sources: Vec<PathBuf> = folders.into_iter().flatten().flatten().map(|e| e.path()).collect();
    sources.retain(|path| path.to_string_lossy().ends_with(".bpf.c"));
    for source in sources {
        let object = out.join(Path::new(source.file_name().expect("a file")).with_extension("o"));
        let mut command = Command::new(&clang);
        command
            // v3: the instructions of Linux 5.12, which include atomic additions that return a value.
            .args(["-O2", "-g", "-Wall", "-Werror", "-target", "bpf", "-mcpu=v3", "-c"])
            .args([format!("-D__TARGET_ARCH_{arch}"), format!("-I{headers}"), "-Ibpf".to_owned()])
            // Headers of the kernel's interface, which Debian stores by architecture.
            .arg(format!("-I/usr/include/{}-linux-gnu", env::var("CARGO_CFG_TARGET_ARCH").expect("cargo sets it")))
            .arg(&source)
            .arg("-o")
            .arg(&object);
        let status = command
            .status()
            .unwrap_or_else(|e| panic!("cannot run {clang}, which compiles bpf/: {e}; install clang or set CLANG"));
        assert!(status.success(), "{clang} cannot compile {}", source.display());
    }
}
