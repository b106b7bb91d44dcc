//! Compiles the programs of `bpf/` for the kernel, by clang; they lie in the binary as they are.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

fn main() {
    let out = PathBuf::from(env::var("OUT_DIR").expect("cargo sets it"));
    let arch = match env::var("CARGO_CFG_TARGET_ARCH").expect("cargo sets it").as_str() {
        "x86_64" => "x86",
        "aarch64" => "arm64",
        other => panic!("bpf/ knows no registers of {other}"),
    };
    // Of libbpf, which is built before us.
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
            // v3: what Linux 5.12 has, with sums whose value is used.
            .args(["-O2", "-g", "-Wall", "-Werror", "-target", "bpf", "-mcpu=v3", "-c"])
            .args([format!("-D__TARGET_ARCH_{arch}"), format!("-I{headers}"), "-Ibpf".to_owned()])
            // Of the kernel's interface, which Debian keeps by architecture.
            .arg(format!("-I/usr/include/{}-linux-gnu", env::var("CARGO_CFG_TARGET_ARCH").expect("cargo sets it")))
            .arg(&source)
            .arg("-o")
            .arg(&object);
        let status = command.status().unwrap_or_else(|e| panic!("{clang} compiles bpf/ and cannot be started: {e}"));
        assert!(status.success(), "{} is not compiled by {clang}", source.display());
    }
}
