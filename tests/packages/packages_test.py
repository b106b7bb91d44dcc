"""Tests the packages of `make dist`: unpacked into a folder with a space, or as a Debian package.

The profile of the build replaces dist, whose optimiser takes minutes. Tests whose tool is not installed are skipped.
"""

import glob
import os
import shutil
import subprocess
import tempfile
import unittest

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))
LIBRARY = """#include <yunti/yunti.hpp>
struct Lengths : yunti::Mapper<yunti::Bytes, int64_t> {
  void map(std::string_view line, Out& out) {
    yunti::words(line, [&](std::string_view word) { out.emit(word.substr(0, 1), int64_t(word.size())); });
  }
};
YUNTI_LIBRARY("Mine", "1.0", yunti::mapper<Lengths>("Mine.Lengths"))
"""
CMAKE = """cmake_minimum_required(VERSION 3.16)
project(mine CXX)
find_package(Yunti 0.1 REQUIRED)
yunti_add_library(mine mine.cpp)
"""


def needs(*programs):
    missing = [p for p in programs if not shutil.which(p)]
    return unittest.skipIf(missing, f"{', '.join(missing)} is not installed")


def run(*command, **options):
    done = subprocess.run(command, capture_output=True, text=True, **options)
    if done.returncode:
        raise AssertionError(f"{' '.join(map(str, command))}: {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


class Packages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.work = tempfile.mkdtemp(prefix="yunti packages ")
        built = tempfile.mkdtemp(prefix="yunti-packages-")
        cls.addClassCleanup(shutil.rmtree, cls.work)
        cls.addClassCleanup(shutil.rmtree, built)
        cls.dist = f"{built}/dist"
        for target in ("web", "dist"):
            run("make", "-s", target, f"PROFILE={os.environ.get('BUILD_PROFILE', 'release')}", f"DIST={cls.dist}", cwd=ROOT)
        (cls.archive,), (cls.deb,) = glob.glob(f"{cls.dist}/yunti-*.tar.gz"), glob.glob(f"{cls.dist}/yunti_*.deb")
        run("tar", "-xf", cls.archive, "-C", cls.work)
        (cls.tree,) = glob.glob(f"{cls.work}/yunti-*")

    def count(self, yunti, *words):
        """Counts the words of a small file with this yunti; `words` are arguments for other classes."""
        with tempfile.TemporaryDirectory(prefix="in put ", dir=self.work) as folder:
            with open(f"{folder}/a.txt", "w") as f:
                f.write("to be or not to be\n")
            job = words or ("wordcount",)
            return run(yunti, "run", *job, "--input", f"{folder}/a.txt", "--output", "-", "-q")

    def test_the_unpacked_archive_runs_jobs(self):
        self.assertIn("be\t2\n", self.count(f"{self.tree}/bin/yunti"))
        self.assertTrue(os.path.basename(self.tree).startswith("yunti-0."), self.tree)

    def test_the_same_layout_gives_the_same_packages(self):
        def sums():
            return run("sha256sum", self.archive, self.deb)

        first = sums()
        for folder, _, names in os.walk(f"{self.dist}/share"):
            for name in names:
                os.utime(os.path.join(folder, name))
        run("python3", f"{ROOT}/tools/package/package.py", self.dist)
        self.assertEqual(sums(), first)
        owners = {line.split()[1] for line in run("tar", "-tvf", self.archive).splitlines()}
        self.assertEqual(owners, {"root/root"})

    @needs("cmake", "c++")
    def test_a_class_library_is_built_by_cmake(self):
        source, build = f"{self.work}/by cmake", f"{self.work}/by cmake/build"
        os.mkdir(source)
        for name, text in (("mine.cpp", LIBRARY), ("CMakeLists.txt", CMAKE)):
            with open(f"{source}/{name}", "w") as f:
                f.write(text)
        run("cmake", "-S", source, "-B", build, f"-DCMAKE_PREFIX_PATH={self.tree}")
        run("cmake", "--build", build)
        self.uses(f"{build}/libmine.so")

    @needs("pkg-config", "c++")
    def test_a_class_library_is_built_by_pkg_config(self):
        found = dict(os.environ, PKG_CONFIG_PATH=f"{self.tree}/lib/pkgconfig")
        library = f"{self.work}/libmine.so"
        with open(f"{self.work}/mine.cpp", "w") as f:
            f.write(LIBRARY)
        # The flags are quoted for a shell.
        build = ('eval "set -- $(pkg-config --cflags yunti)"; exec c++ -O1 -std=c++17 -fPIC -shared "$@" mine.cpp -o '
                 'libmine.so')
        run("bash", "-c", build, env=found, cwd=self.work)
        self.assertEqual(run("pkg-config", "--modversion", "yunti", env=found).strip(),
                         os.path.basename(self.tree).split("-")[1])
        self.uses(library)

    def uses(self, library):
        words = ("--lib", library, "--mapper", "Mine.Lengths", "--folder", "Yunti.SumFolder")
        self.assertEqual(sorted(self.count(f"{self.tree}/bin/yunti", *words).splitlines()),
                         ["b\t4", "n\t3", "o\t2", "t\t4"])

    @needs("dpkg-deb")
    def test_the_debian_package_works_unpacked(self):
        root = f"{self.work}/debian root"
        run("dpkg-deb", "-x", self.deb, root)
        self.assertIn("be\t2\n", self.count(f"{root}/usr/bin/yunti"))
        for path in ("share/man/man1/yunti-machine-doctor.1.gz", "share/bash-completion/completions/yunti",
                     "share/zsh/vendor-completions/_yunti",
                     "share/fish/vendor_completions.d/yunti.fish", "share/doc/yunti/copyright",
                     "share/doc/yunti/third-party.txt.gz",
                     "share/pkgconfig/yunti.pc", "lib/cmake/Yunti/YuntiConfig.cmake", "include/yunti.h"):
            self.assertTrue(os.path.isfile(f"{root}/usr/{path}"), path)
        depends = run("dpkg-deb", "-f", self.deb, "Depends").strip()
        self.assertRegex(depends, r"^libc6 \(>= 2\.\d+\)(, libelf1)?(, libgcc-s1)?(, zlib1g)?$")
        control = f"{self.work}/control"
        run("dpkg-deb", "-e", self.deb, control)
        run("md5sum", "--quiet", "-c", f"{control}/md5sums", cwd=root)
        # The paths in the pkg-config file are valid at Debian's place for it.
        include = f"{root}/usr/share/pkgconfig/../../include"
        self.assertTrue(os.path.isfile(f"{include}/yunti.h"))

    def test_the_unpacked_archive_runs_observe(self):
        if not os.path.exists(f"{self.tree}/libexec/yunti-observe"):
            self.skipTest("make observe has not been run here")
        printed = run(f"{self.tree}/bin/yunti", "observe", "flame", "-s", "1", "--json", "--", "sleep", "2")
        self.assertIn('"command": "flame"', printed)
        for file in ("libasyncProfiler.so", "libyunti-locks.so", "yunti-trace.jar"):
            self.assertTrue(os.path.isfile(f"{self.tree}/lib/yunti/{file}"), file)
        with open(f"{self.tree}/share/doc/yunti/licenses-observe.txt") as f:
            self.assertIn("libbpf", f.read())

    @needs("lintian")
    def test_lintian_reports_nothing(self):
        done = subprocess.run(["lintian", "--fail-on", "error,warning", self.deb], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)

    @needs("groff")
    def test_manual_pages_render_without_a_warning(self):
        pages = sorted(glob.glob(f"{self.tree}/share/man/man1/*.1"))
        self.assertGreater(len(pages), 8)
        for page in pages:
            done = subprocess.run(["groff", "-man", "-ww", "-z", "-Tutf8", page], capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stderr), (0, ""), page)

    @needs("man")
    def test_man_renders_a_page(self):
        text = run("man", "-l", f"{self.tree}/share/man/man1/yunti-machine-doctor.1",
                   env=dict(os.environ, MANPAGER="cat", MANWIDTH="80", LC_ALL="C.UTF-8"))
        self.assertIn("--strict", text.replace("\b", ""))

    @needs("bash")
    def test_completions_of_bash_parse_and_complete(self):
        script = f"{self.tree}/share/bash-completion/completions/yunti"
        run("bash", "-n", script)
        script_text = ('source "$1"; COMP_WORDS=(yunti doc); COMP_CWORD=1; _yunti yunti doc yunti; echo '
                       '"${COMPREPLY[@]}"')
        self.assertEqual(run("bash", "-c", script_text, "-", script).split(), ["doctor"])

    @needs("zsh")
    def test_completions_of_zsh_parse(self):
        run("zsh", "-n", f"{self.tree}/share/zsh/site-functions/_yunti")

    @needs("fish")
    def test_completions_of_fish_parse(self):
        run("fish", "--no-execute", f"{self.tree}/share/fish/vendor_completions.d/yunti.fish")

    def test_install_copies_the_layout_and_no_packages(self):
        run("make", "-s", "install", f"DIST={self.dist}", f"PREFIX={self.work}/prefix", cwd=ROOT)
        self.assertEqual(sorted(os.listdir(f"{self.work}/prefix")),
                         ["bin", "include", "java", "lib", "libexec", "share"])


if __name__ == "__main__":
    unittest.main()
