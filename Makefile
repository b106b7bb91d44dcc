# make run    builds yunti, counts the words of real text, then generates, sorts and checks 1 GB of records
# make test   installs or names missing tools, builds, and runs every test; the last line counts the tests
# make help   lists all targets
SHELL   := /bin/bash
PREFIX  ?= /usr/local
DIST    ?= dist
PROFILE ?= dist
CARGO   ?= cargo
PYTHON  ?= python3
TARGET  := $(or $(CARGO_TARGET_DIR),target)
TOOLS   := $(CURDIR)/build/tools
export PATH := $(TOOLS)/bin:$(PATH)

# Copies a file that has changed. An unchanged one stays, so that a suite that runs it beside this never finds it missing.
place = cmp -s $(1) $(2) || install -D $(1) $(2)

.DEFAULT_GOAL := help
.PHONY: help run yunti test test-engine test-api test-formats test-house test-conformance test-benches test-hadoop test-observe \
        test-machine test-namenode test-capacity test-python test-sql test-stores test-table test-warmup test-web test-full-engine test-full-hadoop test-full-namenode \
        test-full-observe test-full-web soak soak-files bench bench-quick dist install lint clean

help:
	@echo 'make run                 build; count words of real text; sort and check 1 GB; print both reports'
	@echo 'make test                run every test; install missing tools first'
	@echo 'make test-changed        the parts whose files differ from main (BASE=REV: from that commit)'
	@echo 'make test-engine         test engine and command: units, whole jobs, tidy, licences of dependencies'
	@echo 'make test-api            test the C ABI and C++ API; run the examples by gcc and clang as jobs'
	@echo 'make test-formats        read and write Parquet, Avro, Arrow, SequenceFile; compare with pyarrow, fastavro, Hadoop'
	@echo 'make test-conformance    compare records and checksums with Hadoop (JDK 17, Maven)'
	@echo 'make test-benches        run every benchmark once on tiny data'
	@echo 'make test-hadoop         test the plug-ins for Hadoop against stock jobs, also on a cluster (JDK 17, Maven)'
	@echo 'make test-observe        test yunti observe on programs of known behaviour (JDK 17 and 25, Maven)'
	@echo 'make test-machine        test page cache, control groups, TCP, file systems, crashes and settings'
	@echo 'make test-namenode       test a NameNode under load, killed, with plug-ins, by Hadoop tests (JDK 17, Maven)'
	@echo 'make test-sql            test yunti sql against DuckDB, SQLite and DataFusion, and its licences (pip)'
	@echo 'make test-python         install the wheel in a fresh environment; test it on every CPython found (pip)'
	@echo 'make test-table          test yunti table: random and damaged tables, the command, the reader for Java (JDK 17, Maven)'
	@echo 'make test-warmup         test yunti warmup on services and programs (JDK 17 and 25)'
	@echo 'make test-capacity       test yunti capacity and watch on services with known costs (JDK 17 and 25)'
	@echo 'make test-web            compare compiled Velocity templates with stock Velocity (JDK 17, Maven)'
	@echo 'make soak                simulate random jobs from a seed (JOBS=, SECONDS= or HOURS=; SEED=N [TRACE=1] repeats one)'
	@echo 'make soak-files          run random jobs on real files and threads (the same variables)'
	@echo 'make test-house          test layout, packages, pages and the commands in the guides'
	@echo 'make test-full-engine    run sanitizers, masked instructions, fuzzing (MINUTES=10 a target); keep results'
	@echo 'make test-full-hadoop    run all variants, JNI checks, a JVM with a sanitizer, and faults'
	@echo "make test-full-namenode  run Hadoop's NameNode tests with and without each plug-in, and jcstress; takes hours"
	@echo 'make test-full-observe   load the kernel programs of every clang; long tests of observe, machine, capacity, warmup'
	@echo 'make test-full-web       test 100,000 random templates, and all templates on JDK 25'
	@echo 'make bench               compare with all peers and limit programs; bench-quick: chdb and limit programs'
	@echo 'make bench-hadoop        compare stock Hadoop, settings and native tasks on a cluster of one machine'
	@echo 'make bench-one-machine   compare jars on one machine: LocalJobRunner, yunti hadoop run (ARGS=..; 15 min)'
	@echo 'make bench-code          isolated classes, programs, Python, crashes and resume beside peers (pip, JDK, Maven)'
	@echo 'make bench-columns       queries over Parquet and CSV beside DuckDB, Polars and chdb (ARGS=--quick; pip; 20 GB disk)'
	@echo 'make bench-web           compare pages: Velocity, FreeMarker, jte, JStachio, Rocker (ARGS=--quick; JDK 17, 25)'
	@echo 'make bench-namenode      compare NameNodes with and without plug-ins, in turn (ARGS=--quick; JDK 17; 30 min)'
	@echo 'make bench-observe       measure the overhead of yunti observe (ARGS=--quick; JDK 17 or 25, Maven)'
	@echo 'make bench-capacity      compare the load client with wrk (ARGS=--delays: with known latencies)'
	@echo 'make bench-table         compare lookups: LMDB, RocksDB, Chronicle Map, hashbrown (ARGS=--quick; JDK 17, Maven; 20 GB disk)'
	@echo 'make bench-warmup        compare first seconds of a Spring Boot service: plain, archive, replay (JDK 17 and 25, Maven)'
	@echo 'make dist                build dist/, a tar.gz and a .deb, optimised across crates'
	@echo 'make install PREFIX=DIR  copy dist/ (default /usr/local)'
	@echo 'make namenode            build yunti nn and the plug-ins for a NameNode (JDK 17, Maven)'
	@echo 'make observe             build yunti observe and yunti machine (JDK, Maven, clang)'
	@echo 'make formats             build the class library for Parquet, Avro, Arrow and SequenceFile'
	@echo 'make hadoop              build yunti-hadoop.jar, the plug-ins for stock Hadoop (JDK 17, Maven)'
	@echo 'make stores              build yunti-stores: s3://, gs://, az://, http(s):// and hdfs://'
	@echo 'make sql                 build yunti sql: queries over files (290 crates; 15 minutes on 2 cores)'
	@echo 'make warmup              build yunti warmup, which starts JVM services warm'
	@echo 'make table               build yunti table: one table for all processes'
	@echo 'make table-java          build yunti-table.jar, the reader of tables for Java 8 to 25 (JDK 17, Maven)'
	@echo 'make table-hadoop        build yunti-table-hadoop.jar, tables in Java tasks of Hadoop (JDK 17, Maven)'
	@echo 'make table-spring        build yunti-table-spring.jar, tables as beans of Spring Boot 3 (JDK 17, Maven)'
	@echo 'make capacity            build yunti capacity and yunti watch: what a service can carry'
	@echo 'make python              build the wheel for Python, with yunti inside (pip)'
	@echo 'make web                 build the jars for Velocity templates, and print where they are (JDK 17, Maven)'
	@echo "make run-web             serve a shop's search page on 127.0.0.1:8080 (ARGS='--port N'; JDK 17, Maven)"
	@echo "make cluster-up          start HDFS, YARN and MapReduce in a namespace (ARGS='--nodes 2'); then: . cluster.env"
	@echo 'make cluster-down        stop the cluster and remove its data (ARGS=--keep keeps HDFS)'
	@echo 'make lint                run rustfmt and clippy'
	@echo 'make clean               remove target/, build/ and dist/'

# ---- the main job ----

run:
	@tools/setup build
	@$(MAKE) --no-print-directory -s yunti
	@tools/run $(DIST)/bin/yunti

# BUILD_PROFILE=tested is what tests build: crates of others without optimisation, which takes half the time.
BUILD_PROFILE ?= release
BUILT := $(TARGET)/$(BUILD_PROFILE)
CARGO_BUILD = $(CARGO) build --profile $(BUILD_PROFILE) --locked --target-dir $(TARGET)

# Packages that Cargo builds with the binary. Tests build all that have the engine in one call: alone, some macros have
# other features (syn), and Cargo would compile the binary a second time.
WITH_ENGINE := --package yunti $(if $(filter tested,$(BUILD_PROFILE)),--package yunti-hadoop --package yunti-hadoop-pool --package yunti-python)

# Places a program or library without its symbols.
place_stripped = mkdir -p $(BUILT)/stripped && strip -o $(BUILT)/stripped/$(1) $(BUILT)/$(1) && \
  { $(call place,$(BUILT)/stripped/$(1),$(2)); }

# The binary, at its place in the dist layout.
yunti:
	$(CARGO_BUILD) $(WITH_ENGINE)
	@$(call place,$(BUILT)/yunti,$(DIST)/bin/yunti)

# Object stores, web servers and HDFS: a workspace of its own.
.PHONY: stores
stores:
	@tools/setup build
	$(CARGO_BUILD) --manifest-path stores/Cargo.toml
	@$(call place,$(BUILT)/yunti-stores,$(DIST)/libexec/yunti-stores)
# Queries over files: a workspace of its own, for its 290 crates.
# Queries become machine code where LLVM 19 is installed (tools/setup sql). LLVM_SYS_191_PREFIX is another place of it.
LLVM_CONFIG = $(if $(LLVM_SYS_191_PREFIX),$(LLVM_SYS_191_PREFIX)/bin/llvm-config,llvm-config-19)
SQL_FEATURES = $(if $(shell $(LLVM_CONFIG) --version 2>/dev/null),--features yunti-sql/generate)
.PHONY: sql sql-environment
sql: formats
	@tools/setup sql
	@$(if $(SQL_FEATURES),:,echo 'make sql: no LLVM 19 here, so that queries run without machine code')
	$(CARGO_BUILD) --manifest-path sql/Cargo.toml -p yunti-sql -p yunti-sql-task $(SQL_FEATURES)
	@$(call place_stripped,yunti-sql,$(DIST)/libexec/yunti-sql)
	@$(call place_stripped,libyunti_sql.so,$(DIST)/lib/yunti/libyunti_sql.so)
# The class library for files of others. Its workspace is apart, so that the core's build has no part of it.
.PHONY: formats
formats: yunti
	$(CARGO_BUILD) --manifest-path formats/Cargo.toml
	@$(call place_stripped,libyunti_formats.so,$(DIST)/lib/yunti/libyunti_formats.so)

# ---- tests ----

test:
	@tools/setup test
	@$(PYTHON) tools/tests/run.py

test-engine test-api test-formats test-conformance test-benches test-house test-hadoop test-observe test-machine test-namenode \
    test-capacity test-python test-sql test-stores test-table test-warmup test-web: test-%:
	@tools/setup test
	@$(PYTHON) tools/tests/run.py $*

# The parts whose files differ from BASE (origin/main, or main), and what is left out.
.PHONY: test-changed
test-changed:
	@tools/setup test
	@$(PYTHON) tools/tests/run.py --changed $(BASE)

test-full-engine test-full-hadoop test-full-namenode test-full-observe test-full-web: test-full-%:
	@tools/setup $(if $(filter engine,$*),full,test)
	@$(PYTHON) tools/tests/full.py $* --minutes $(or $(MINUTES),10)

# Simulated jobs in the build of the tests. A failure prints its command, its trace and its smallest variant. SEED=N runs
# the one job of a seed, TIMES=N times; ONLY=.. makes it smaller; FIRST=N begins at a seed; ALL=1 goes on after a failure.
SOAK_SECONDS = $(or $(SECONDS),$(if $(HOURS),$$(($(HOURS) * 3600)),$(if $(JOBS),,31536000)))
soak:
	YUNTI_SIMULATION_SECONDS=$(SOAK_SECONDS) $(foreach name,SEED TIMES ONLY TRACE FIRST JOBS ALL,\
	  YUNTI_SIMULATION_$(name)=$($(name))) \
	  $(CARGO) test --locked --package yunti-engine --test simulation simulated_jobs -- --nocapture

# Random jobs on real files and threads. A failure prints its seed; SEED=N runs the one job of a seed.
soak-files:
	YUNTI_RANDOM_SECONDS=$(or $(SECONDS),$(if $(HOURS),$$(($(HOURS) * 3600)),31536000)) \
	  $(if $(SEED),YUNTI_RANDOM_SEED=$(SEED)) $(CARGO) test --locked --package yunti-engine --test random -- --nocapture

lint:
	$(CARGO) fmt --check
	$(CARGO) clippy --workspace --all-targets --locked -- -D warnings

# ---- Hadoop ----

.PHONY: hadoop hadoop-native cluster-up cluster-down

HADOOP_RESOURCES := build/hadoop/native-resources
HADOOP_JAR := build/hadoop/yunti-hadoop/yunti-hadoop.jar
HADOOP_NATIVE := $(HADOOP_RESOURCES)/org/yunti/hadoop/native
# More platforms in the same jar, by Rust's names: HADOOP_TARGETS=aarch64-unknown-linux-gnu
# Each needs Rust's std for it and a linker.
HADOOP_TARGETS ?=

# The jar with the native library, and `yunti hadoop`.
hadoop:
	@tools/setup hadoop
	@$(MAKE) --no-print-directory -s hadoop-native yunti
	mvn -q -B -f hadoop/plugin/pom.xml -DskipTests package
	@install -D -m 644 $(HADOOP_JAR) $(DIST)/java/yunti-hadoop.jar
	@install -D hadoop/command/yunti-hadoop $(DIST)/libexec/yunti-hadoop
	@install -D $(BUILT)/yunti-hadoop-pool $(DIST)/libexec/yunti-hadoop-pool
	@$(MAKE) --no-print-directory -s $(DIST)/java/hadoop
	@$(DIST)/libexec/yunti-hadoop archive

# Jars of Hadoop's client, for machines without Hadoop.
HADOOP_CLIENT := build/hadoop/client
$(HADOOP_CLIENT): hadoop/client/pom.xml hadoop/pom.xml
	@rm -rf $@ $@.part
	mvn -q -B -f hadoop/client/pom.xml dependency:copy-dependencies@jars -Dclient.jars=$(CURDIR)/$@.part
	@mv $@.part $@ && touch $@

$(DIST)/java/hadoop: $(HADOOP_CLIENT) hadoop/client/core-site.xml
	@rm -rf $@ && mkdir -p $@ && cp -p $</*.jar $@/
	@jar --create --no-manifest --file $@/no-site.jar -C hadoop/client core-site.xml

hadoop-native: $(addprefix hadoop-native-,$(HADOOP_TARGETS))
	$(CARGO_BUILD) $(WITH_ENGINE) --package yunti-hadoop --package yunti-hadoop-pool
	@mkdir -p $(HADOOP_RESOURCES)/META-INF $(HADOOP_NATIVE)/linux-$(shell uname -m)
	@strip -o $(HADOOP_NATIVE)/linux-$(shell uname -m)/libyunti_hadoop.so $(BUILT)/libyunti_hadoop.so
	@cp LICENSE NOTICE $(HADOOP_RESOURCES)/META-INF/
	@tools/licenses.py yunti-hadoop > $(HADOOP_RESOURCES)/META-INF/licenses.txt

# Library for another platform. The linker strips it, because the local strip supports only the local platform.
hadoop-native-%:
	@rustc --print target-libdir --target $* | xargs test -d || \
	  { echo 'hadoop: Rust has no std for $*: rustup target add $*' >&2; exit 1; }
	$(CARGO) rustc --release --locked --package yunti-hadoop --lib --target $* -- -C strip=symbols
	@install -D $(TARGET)/$*/release/libyunti_hadoop.so \
	  $(HADOOP_NATIVE)/linux-$(firstword $(subst -, ,$*))/libyunti_hadoop.so

# Hadoop on one machine: hadoop/cluster/README.md. ARGS='--nodes 2 --tls'
cluster-up:
	@tools/setup hadoop
	@hadoop/cluster/up $(ARGS)

cluster-down:
	@hadoop/cluster/down $(ARGS)

# ---- namenode ----

NAMENODE_JAR = build/namenode/yunti-namenode/yunti-namenode.jar

.PHONY: namenode bench-namenode
namenode:
	@tools/setup hadoop
	@$(MAKE) --no-print-directory -s yunti
	$(CARGO_BUILD) --package yunti-namenode
	@$(call place,$(BUILT)/yunti-nn,$(DIST)/libexec/yunti-nn)
	@mvn -q -B -f namenode/plugin/pom.xml package -DskipTests
	@install -D -m 644 $(NAMENODE_JAR) $(DIST)/java/yunti-namenode.jar

# benches/README.md, "NameNodes"
bench-namenode: namenode
	$(PYTHON) benches/namenode/run.py $(ARGS)

# ---- observe ----

.PHONY: observe observe-layout

TRACE_JAR := build/observe/yunti-trace/yunti-trace.jar
# An interrupted build must not leave a partial jar.
.DELETE_ON_ERROR:

# `yunti observe` and `yunti machine`, with async-profiler and Yunti's agent for JVMs.
observe:
	@tools/setup observe
	@$(MAKE) --no-print-directory -s yunti
	$(CARGO_BUILD) --package yunti-observe --package yunti-machine
	@$(MAKE) --no-print-directory -s $(TRACE_JAR)
	@$(MAKE) --no-print-directory -s observe-layout

# Maven needs seconds to find that nothing changed, so make compares times. Folders are included, because their
# time changes when a file is added or removed.
$(TRACE_JAR): observe/agent/pom.xml LICENSE NOTICE $(shell find observe/agent/src)
	mvn -q -B -f $< package
	@touch $@

# Copies the programs and libraries to their places in the dist layout.
observe-layout:
	@$(call place,$(BUILT)/yunti-observe,$(DIST)/libexec/yunti-observe)
	@$(call place,$(BUILT)/yunti-machine,$(DIST)/libexec/yunti-machine)
	@observe/async-profiler $(DIST)/lib/yunti
	@observe/jvmti/build $(DIST)/lib/yunti
	@install -D -m 644 $(TRACE_JAR) $(DIST)/lib/yunti/yunti-trace.jar

# ---- warmup ----

.PHONY: warmup warmup-layout bench-warmup
# `yunti warmup`, and the gate that it loads into a server.
warmup:
	@tools/setup build
	@$(MAKE) --no-print-directory -s yunti
	$(CARGO_BUILD) --package yunti-warmup --package yunti-gate
	@$(MAKE) --no-print-directory -s warmup-layout

warmup-layout:
	@$(call place,$(BUILT)/yunti-warmup,$(DIST)/libexec/yunti-warmup)
	@$(call place_stripped,libyunti_gate.so,$(DIST)/lib/yunti/libyunti-gate.so)

# The first seconds of a service, plain and warm: benches/README.md, "First seconds of a service"
bench-warmup: warmup
	@tools/setup hadoop
	$(PYTHON) benches/warmup/run.py $(ARGS)

# ---- table ----

.PHONY: table table-java table-hadoop table-spring
# `yunti table`: shared tables.
table:
	@tools/setup build
	@$(MAKE) --no-print-directory -s yunti
	$(CARGO_BUILD) --package yunti-table-command
	@$(call place,$(BUILT)/yunti-table,$(DIST)/libexec/yunti-table)

# The reader for Java 8 to 25: build/table/yunti-table/yunti-table.jar
table-java:
	@tools/setup hadoop
	mvn -q -B -f table/java/pom.xml -DskipTests package

# Tables in Java tasks: build/table/yunti-table-hadoop/yunti-table-hadoop.jar, and the reader
table-hadoop:
	@tools/setup hadoop
	mvn -q -B -f table/pom.xml -pl java,hadoop -DskipTests package

# Beans for Spring Boot: build/table/yunti-table-spring/yunti-table-spring.jar, beside the reader
table-spring:
	@tools/setup hadoop
	mvn -q -B -f table/pom.xml -DskipTests package

# What table/tests/readers_test.py compares: the jar, a program in Rust, and the library of Python, in build/table/.
.PHONY: table-readers
table-readers: table table-java
	$(CARGO_BUILD) $(WITH_ENGINE) --package yunti-python
	$(CARGO_BUILD) --package yunti-table --example reader
	@$(call place,$(BUILT)/examples/reader,build/table/reader)
	@$(call place,$(BUILT)/libyunti_python.so,build/table/libyunti_python.so)

# Lookups beside LMDB, RocksDB, Chronicle Map and a hash map: benches/README.md, "Shared tables"
.PHONY: bench-table
bench-table:
	@tools/setup bench-table
	$(PYTHON) table/benches/peers/run.py $(ARGS)

# ---- capacity ----

.PHONY: capacity bench-capacity
# `yunti capacity` and `yunti watch`: a workspace of their own. Processes are measured by `yunti observe`.
MESSAGES_JAR := build/capacity/yunti-messages/yunti-messages.jar
# The agent, and the libraries that `yunti capacity messages` tries.
$(MESSAGES_JAR): capacity/messages/pom.xml LICENSE NOTICE $(shell find capacity/messages/src)
	@rm -rf $(@D)/lib
	mvn -q -B -f $< package
	@touch $@

capacity: observe $(MESSAGES_JAR)
	$(CARGO_BUILD) --manifest-path capacity/Cargo.toml --workspace
	@$(call place,$(BUILT)/yunti-capacity,$(DIST)/libexec/yunti-capacity)
	@$(call place,$(BUILT)/yunti-watch,$(DIST)/libexec/yunti-watch)
	@rm -rf $(DIST)/lib/yunti/messages
	@install -D -m 644 -t $(DIST)/lib/yunti/messages $(MESSAGES_JAR) $(dir $(MESSAGES_JAR))lib/*.jar

# The load client beside wrk, and its latencies beside true ones: capacity/benches/load.py
bench-capacity: capacity
	$(PYTHON) capacity/benches/load.py $(ARGS)

# ---- web ----

WEB_JAR = build/web/yunti-velocity-tool/yunti-velocity-tool.jar
# Jars for a class path. Spring Boot's starter and the Maven plug-in are for builds with Maven.
WEB_JARS := yunti-velocity $(addprefix yunti-velocity-,page http servlet spring delivery)
WEB_VERSION = $(shell sed -n 's:^  <version>\(.*\)</version>:\1:p' web/pom.xml)

.PHONY: web web-layout run-web

# The compiler and its adapters with the libraries they need, and the tool.
web:
	@tools/setup hadoop
	mvn -q -B -f web/pom.xml -pl '!oracle,!example' -Dmaven.test.skip package
	@$(MAKE) --no-print-directory -s web-layout
	@echo 'web: jars for a class path in $(DIST)/java/velocity, the tool in $(DIST)/java/yunti-velocity-tool.jar'
	@echo 'web: for builds with Maven: mvn -f web/pom.xml -DskipTests install'

web-layout:
	@rm -rf $(DIST)/java/velocity
	@install -D -m 644 -t $(DIST)/java/velocity $(foreach jar,$(WEB_JARS),build/web/$(jar)/$(jar)-$(WEB_VERSION).jar) \
	  build/web/yunti-velocity/lib/*.jar
	@for library in asm slf4j; do \
	  install -m 644 web/tool/src/main/resources/META-INF/LICENSE-$$library.txt \
	    $(DIST)/java/velocity/NOTICE-$$library.txt; done
	@install -m 644 $(WEB_JAR) $(DIST)/java/yunti-velocity-tool.jar

# Serves the shop's search page, stock and compiled, until ctrl-C: ARGS='--port 8081'
run-web:
	@tools/setup hadoop
	mvn -q -B -f web/pom.xml -pl example -am -DskipTests package
	@exec java -jar build/web/yunti-velocity-example/yunti-velocity-example.jar $(ARGS)

# ---- Python ----

.PHONY: python python-environment

# The wheel, with the program inside. It is built from a copy, so that the checkout keeps no program.
python: yunti
	$(CARGO_BUILD) $(WITH_ENGINE) --package yunti-python
	@rm -rf build/python $(DIST)/yunti-*.whl && mkdir -p build/python
	@cp -r python/src python/pyproject.toml python/README.md python/wheel_tag.py LICENSE NOTICE build/python/
	@install -D $(DIST)/bin/yunti build/python/src/yunti/bin/yunti
	@install -D $(BUILT)/libyunti_python.so build/python/src/yunti/bin/libyunti_python.so
	@strip build/python/src/yunti/bin/yunti build/python/src/yunti/bin/libyunti_python.so
	@tools/licenses.py yunti > build/python/licenses.txt
	$(PYTHON) -m pip wheel --quiet --no-deps --wheel-dir $(DIST) build/python/

# An environment with the wheel, and what its tests import.
python-environment: python
	@$(PYTHON) -m venv --clear build/python-environment
	@build/python-environment/bin/pip install --quiet --disable-pip-version-check $(DIST)/yunti-*.whl numpy pyarrow pandas \
	  polars mypy fastavro cramjam backports.zstd

# Peers of the queries' tests, and generators of their tables.
sql-environment:
	@test -x build/sql-environment/bin/python || $(PYTHON) -m venv build/sql-environment
	@build/sql-environment/bin/pip install --quiet --disable-pip-version-check -r sql/tests/requirements.txt

# ---- measurements ----

bench bench-quick: yunti examples-built
	@tools/setup bench
	$(PYTHON) benches/run.py $(if $(filter bench-quick,$@),--quick) $(ARGS)

# Stock Hadoop against the plug-ins, on a cluster of one machine: benches/hadoop/README.md
.PHONY: bench-hadoop
bench-hadoop: hadoop
	@tools/setup bench
	@$(MAKE) -s -C benches/limits ../../build/limits/warm
	$(PYTHON) benches/hadoop/run.py $(ARGS)

# Unmodified jars without a cluster: benches/hadoop/README.md, "On one machine"
.PHONY: bench-one-machine
bench-one-machine: hadoop yunti
	$(PYTHON) benches/hadoop/one_machine.py $(ARGS)

# Compiled pages against stock Velocity and other engines: benches/README.md, "Pages"
.PHONY: bench-web
bench-web:
	@tools/setup hadoop
	$(PYTHON) benches/web/run.py $(ARGS)

# Code of any language in the engine, and jobs that survive it: benches/README.md, "Code of any language"
.PHONY: bench-code
bench-code: python examples-built
	@tools/setup bench
	$(PYTHON) benches/code/run.py $(ARGS)

# Queries over Parquet and CSV beside DuckDB, Polars and chdb: benches/README.md, "Columns"
.PHONY: bench-columns
bench-columns: formats
	$(PYTHON) benches/columns/run.py $(ARGS)

# The overhead of yunti observe for the observed program: benches/README.md, "Overhead of yunti observe"
.PHONY: bench-observe
bench-observe: observe
	$(PYTHON) benches/observe/run.py $(ARGS)

.PHONY: examples-built
examples-built:
	cmake -S examples -B build/examples -DCMAKE_BUILD_TYPE=Release > /dev/null
	cmake --build build/examples --parallel > /dev/null

# ---- layout ----

dist:
	@tools/setup build
	$(CARGO) build --profile $(PROFILE) --locked $(WITH_ENGINE)
	rm -rf $(DIST)
	mkdir -p $(DIST)/{bin,lib,libexec,include,java} \
	  $(DIST)/share/{doc/yunti,man/man1,bash-completion/completions,zsh/site-functions,fish/vendor_completions.d}
	install $(TARGET)/$(PROFILE)/yunti $(DIST)/bin/yunti
	strip $(DIST)/bin/yunti
	cmake -S api -B build/dist-api -DCMAKE_INSTALL_LIBDIR=lib -DYUNTI_TABLE_LIBRARY=OFF > /dev/null
	cmake --install build/dist-api --prefix $(abspath $(DIST)) > /dev/null
	$(DIST)/bin/yunti man --dir $(DIST)/share/man/man1
	$(DIST)/bin/yunti completions bash > $(DIST)/share/bash-completion/completions/yunti
	$(DIST)/bin/yunti completions zsh > $(DIST)/share/zsh/site-functions/_yunti
	$(DIST)/bin/yunti completions fish > $(DIST)/share/fish/vendor_completions.d/yunti.fish
	$(CARGO) build --profile $(PROFILE) --locked --manifest-path formats/Cargo.toml --target-dir $(TARGET)
	install -D -m 644 $(TARGET)/$(PROFILE)/libyunti_formats.so $(DIST)/lib/yunti/libyunti_formats.so
	strip $(DIST)/lib/yunti/libyunti_formats.so
	tools/licenses.py yunti-formats formats > $(DIST)/share/doc/yunti/licenses-formats.txt
	cp LICENSE NOTICE README.md CHANGELOG.md $(DIST)/share/doc/yunti/
	cp -R docs/guide docs/formats docs/reliability.md $(DIST)/share/doc/yunti/
	tools/licenses.py > $(DIST)/share/doc/yunti/licenses.txt
	tools/reference.py $(DIST)/share/doc/yunti/reference
	@if [ -f $(HADOOP_JAR) ]; then \
	  install -m 644 $(HADOOP_JAR) $(DIST)/java/ && install hadoop/command/yunti-hadoop $(DIST)/libexec/yunti-hadoop && \
	  install $(BUILT)/yunti-hadoop-pool $(DIST)/libexec/ && strip $(DIST)/libexec/yunti-hadoop-pool && \
	  tools/licenses.py yunti-hadoop-pool > $(DIST)/share/doc/yunti/licenses-hadoop-pool.txt; \
	else echo 'dist: without the part for Hadoop; build it with make hadoop'; fi
	@if [ -f $(BUILT)/yunti-stores ]; then \
	  install $(BUILT)/yunti-stores $(DIST)/libexec/yunti-stores && strip $(DIST)/libexec/yunti-stores && \
	  tools/licenses.py yunti-stores stores > $(DIST)/share/doc/yunti/licenses-stores.txt; \
	else echo 'dist: without stores; build them with make stores'; fi
	@if [ -f $(BUILT)/yunti-nn ]; then \
	  install $(BUILT)/yunti-nn $(DIST)/libexec/yunti-nn && strip $(DIST)/libexec/yunti-nn && \
	  install -m 644 $(NAMENODE_JAR) $(DIST)/java/yunti-namenode.jar && \
	  tools/licenses.py yunti-namenode > $(DIST)/share/doc/yunti/licenses-nn.txt; \
	else echo 'dist: without yunti nn; build it with make namenode'; fi
	@if [ -f $(BUILT)/yunti-observe ] && [ -f $(TRACE_JAR) ]; then \
	  $(MAKE) --no-print-directory -s observe-layout && \
	  strip $(DIST)/libexec/yunti-{observe,machine} $(DIST)/lib/yunti/libyunti-locks.so && \
	  tools/licenses.py yunti-observe > $(DIST)/share/doc/yunti/licenses-observe.txt && \
	  tools/licenses.py yunti-machine > $(DIST)/share/doc/yunti/licenses-machine.txt; \
	else echo 'dist: without yunti observe; build it with make observe'; fi
	@if [ -f $(BUILT)/yunti-warmup ]; then \
	  $(MAKE) --no-print-directory -s warmup-layout && strip $(DIST)/libexec/yunti-warmup && \
	  tools/licenses.py yunti-warmup > $(DIST)/share/doc/yunti/licenses-warmup.txt; \
	else echo 'dist: without yunti warmup; build it with make warmup'; fi
	@if [ -f $(WEB_JAR) ]; then $(MAKE) --no-print-directory -s web-layout; \
	else echo 'dist: without the jars for Velocity templates; build them with make web'; fi
	$(PYTHON) tools/package/package.py $(DIST)

install:
	@test -x $(DIST)/bin/yunti || { echo 'install: there is no $(DIST)/; run make dist first' >&2; exit 1; }
	mkdir -p "$(DESTDIR)$(PREFIX)"
	cp -R $(addprefix $(DIST)/,bin lib libexec include java share) "$(DESTDIR)$(PREFIX)/"

clean:
	rm -rf $(TARGET) build dist
