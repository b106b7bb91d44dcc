"""Tests the product for users: linked libraries, the layout of `make dist`, and pages about dependencies.

YUNTI names the binary.
"""

import os
import re
import subprocess
import tempfile
import tomllib
import unittest

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))
YUNTI = os.path.abspath(os.environ.get("YUNTI", os.path.join(ROOT, "dist/bin/yunti")))
# Libraries of glibc and of the kernel.
LIBC = re.compile(r"^(linux-vdso|ld-linux.*|lib(c|m|dl|rt|pthread))\.so")


def read(path):
    with open(os.path.join(ROOT, path)) as f:
        return f.read()


class House(unittest.TestCase):
    def test_the_binary_links_only_libc(self):
        lines = subprocess.run(["ldd", YUNTI], capture_output=True, text=True, check=True).stdout.split("\n")
        libraries = [os.path.basename(line.split()[0]) for line in lines if line.strip()]
        self.assertEqual([name for name in libraries if not LIBC.match(name)], [])

    def test_dist_and_install_give_the_whole_layout(self):
        with tempfile.TemporaryDirectory(prefix="yunti-dist-") as work:
            # The profile of the build replaces dist, whose optimiser takes minutes.
            env = dict(os.environ, PROFILE=os.environ.get("BUILD_PROFILE", "release"), DIST=f"{work}/dist", PREFIX=f"{work}/installed")
            variables = [f"{name}={env[name]}" for name in ("PROFILE", "DIST", "PREFIX")]
            for target in ("web", "dist", "install"):
                done = subprocess.run(["make", "-s", target] + variables, cwd=ROOT, capture_output=True, text=True)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            for path in ("bin/yunti", "include/yunti.h", "include/yunti/yunti.hpp", "lib/pkgconfig/yunti.pc",
                         "lib/cmake/Yunti/YuntiConfig.cmake",
                         "share/man/man1/yunti.1", "share/man/man1/yunti-run.1",
                         "share/bash-completion/completions/yunti",
                         "share/zsh/site-functions/_yunti", "share/fish/vendor_completions.d/yunti.fish",
                         "share/doc/yunti/LICENSE",
                         "share/doc/yunti/NOTICE", "share/doc/yunti/licenses.txt", "libexec",
                         "java/yunti-velocity-tool.jar", "java/velocity/yunti-velocity-0.1.0.jar"):
                self.assertTrue(os.path.exists(f"{work}/installed/{path}"), path)
            version = subprocess.run([f"{work}/installed/bin/yunti", "--version"], capture_output=True, text=True,
                                     check=True).stdout
            self.assertRegex(version, r"^yunti \d")

    def test_each_direct_dependency_is_documented(self):
        page = read("docs/decisions/dependencies.md")
        described = {name for names in re.findall(r"^\| ((?:`[\w-]+`(?:, )?)+)", page, re.M)
                     for name in re.findall(r"`([\w-]+)`", names)}
        for part in ("base", "base/program", "engine", "cli", "formats", "fuzz", "hadoop/native", "machine", "machine/crash",
                     "machine/doctor", "machine/ext4", "machine/settings",
                     "observe", "observe/gc", "probe", "namenode/load", "stores", "table", "warmup", "warmup/gate", "warmup/replay",
                     "capacity", "capacity/load", "capacity/model", "capacity/watch"):
            wanted = {name for name in tomllib.loads(read(f"{part}/Cargo.toml")).get("dependencies", {})
                      if not name.startswith("yunti")}
            self.assertEqual(sorted(wanted - described), [], f"{part}/Cargo.toml")

    def test_the_class_library_of_the_guide_compiles(self):
        program = re.search(r"```cpp\n(.*?)```", read("docs/guide/class-libraries.md"), re.S)[1]
        command = ["g++", "-std=c++17", "-fsyntax-only", "-Wall", "-Werror", "-I", os.path.join(ROOT, "api/include"),
                   "-x", "c++", "-"]
        done = subprocess.run(command, input=program, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_continuous_integration_runs_make_test(self):
        self.assertIn("exec make test\n", read(".ci/run"))
        self.assertTrue(os.access(os.path.join(ROOT, ".ci/run"), os.X_OK))

    def test_each_index_names_all_its_pages(self):
        for folder in ("docs/guide", "docs/formats", "docs/decisions"):
            index = read(f"{folder}/README.md")
            for page in sorted(os.listdir(os.path.join(ROOT, folder))):
                self.assertTrue(page == "README.md" or f"({page})" in index, f"{folder}/README.md does not name {page}")


if __name__ == "__main__":
    unittest.main()
