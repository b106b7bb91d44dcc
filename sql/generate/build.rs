//! Links LLVM 19 into the program, from its static archives: the parts that read text, optimize it, make objects
//! for this processor and load them. `llvm-config-19` names them; LLVM_SYS_191_PREFIX is a folder with it in `bin/`.

use std::path::PathBuf;
use std::process::Command;

const PARTS: [&str; 4] = ["core", "orcjit", "passes", "irreader"];

fn main() {
    println!("cargo:rerun-if-env-changed=LLVM_SYS_191_PREFIX");
    println!("cargo:rerun-if-changed=build.rs");
    let config = match std::env::var_os("LLVM_SYS_191_PREFIX") {
        Some(prefix) => PathBuf::from(prefix).join("bin/llvm-config"),
        None => PathBuf::from("llvm-config-19"),
    };
    let run = |arguments: &[&str]| {
        let output = Command::new(&config).arg("--link-static").args(arguments).output();
        match output {
            Ok(output) if output.status.success() => String::from_utf8_lossy(&output.stdout).trim().to_string(),
            Ok(output) => panic!("{}: {}", config.display(), String::from_utf8_lossy(&output.stderr).trim()),
            Err(e) => panic!("{}: {e}; install llvm-19-dev, or build without the feature 'generate'", config.display()),
        }
    };
    let version = run(&["--version"]);
    assert!(version.starts_with("19."), "LLVM 19 is needed, {} is {version}", config.display());
    let target = match std::env::var("CARGO_CFG_TARGET_ARCH").as_deref() {
        Ok("x86_64") => "x86codegen",
        Ok("aarch64") => "aarch64codegen",
        other => panic!("code is generated for x86_64 and aarch64, not for {other:?}"),
    };
    println!("cargo:rustc-env=YUNTI_LLVM_VERSION={version}");
    println!("cargo:rustc-link-search=native={}", run(&["--libdir"]));
    let mut parts = PARTS.to_vec();
    parts.push(target);
    for library in run(&[&["--libs"], &parts[..]].concat()).split_whitespace() {
        println!("cargo:rustc-link-lib=static:-bundle={}", library.trim_start_matches("-l"));
    }
    // What the archives need themselves, also as archives where the system has them. libxml2 and libz3, which
    // llvm-config names too, are needed by none of these parts.
    let compiler = std::env::var("CXX").unwrap_or_else(|_| "c++".into());
    for library in ["stdc++", "tinfo", "z", "zstd"] {
        let file = format!("lib{library}.a");
        let found = Command::new(&compiler).arg(format!("-print-file-name={file}")).output();
        let path = found.ok().map(|found| PathBuf::from(String::from_utf8_lossy(&found.stdout).trim()));
        match path.as_deref().filter(|path| path.is_absolute()).and_then(|path| path.parent()) {
            Some(folder) => {
                println!("cargo:rustc-link-search=native={}", folder.display());
                println!("cargo:rustc-link-lib=static:-bundle={library}");
            }
            None => println!("cargo:rustc-link-lib={library}"),
        }
    }
}
