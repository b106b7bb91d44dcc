// A class library that ends or crashes its process: the setting `ending.how` chooses the way, `ending.where` the call.
// With `ending.once` it happens in the first process that makes the file of that name, and in no other.
// With the variable ENDING_LOAD an initialiser of the library does it, with ENDING_UNLOAD a destructor.
// SPDX-License-Identifier: Apache-2.0
#include <yunti/yunti.hpp>

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <thread>

namespace {

int overflow(volatile char* before) {
  volatile char frame[512];
  frame[0] = before ? before[0] : 1;
  return overflow(frame) + frame[0];
}

// Tries what a sandbox refuses, and says what worked.
void escape() {
  std::string done;
  const int file = open("escaped.txt", O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
  if (file >= 0) done += " file", close(file);
  if (rename("in", "out-of-in") == 0) done += " rename";
  const int inet = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (inet >= 0) done += " network", close(inet);
  if (kill(getppid(), 0) == 0) done += " signal";
  if (ptrace(PTRACE_SEIZE, getppid(), nullptr, nullptr) == 0) done += " trace";
  if (!done.empty()) throw std::runtime_error("escaped by" + done);
  // Its own directory, local sockets and signals to itself are allowed.
  const char* own = std::getenv("TMPDIR");
  const std::string name = std::string(own ? own : "/no/directory") + "/file";
  const int mine = open(name.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
  if (mine < 0) throw std::runtime_error("cannot write to TMPDIR");
  close(mine);
  const int local = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (local < 0) throw std::runtime_error("cannot make a local socket");
  close(local);
  if (kill(getpid(), 0) != 0) throw std::runtime_error("cannot send a signal to itself");
}

void end(const std::string& how) {
  if (how == "escape") return escape();
  if (how == "leak") {
    for (;;) std::memset(::operator new(64 << 20), 1, 64 << 20);
  }
  if (how == "exit") std::exit(0);
  if (how == "exit3") std::exit(3);
  if (how == "quick_exit") std::quick_exit(0);
  if (how == "_exit") _exit(0);
  if (how == "segv") *reinterpret_cast<volatile int*>(16) = 1;
  if (how == "bus") {
    std::FILE* file = std::tmpfile();
    volatile char* map = static_cast<char*>(mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE, fileno(file), 0));
    (void)map[0];
  }
  if (how == "abort") std::abort();
  if (how == "overflow") std::exit(overflow(nullptr));
  if (how == "fpe") {
    volatile int zero = 0, seven = 7;
    zero = seven / zero;
  }
  if (how == "ill") __builtin_trap();
  if (how == "trap") raise(SIGTRAP);
  if (how == "throw") throw std::runtime_error("a text that the class cannot read");
  if (how == "kill") raise(SIGKILL);
  if (how == "stop") raise(SIGSTOP);
  if (how == "loop") {
    for (volatile int i = 0;; i++) {
    }
  }
  if (how == "sys") raise(SIGSYS);
  if (how == "fork") {
    // Children end as children do, each way: that is nothing to the job.
    for (const char* child : {"exit", "exit3", "quick_exit", "segv", "abort", "trap"}) {
      const pid_t pid = fork();
      if (pid == 0) end(child);
      int status = 0;
      if (waitpid(pid, &status, 0) != pid) std::abort();
      const std::string name = child;
      if (name == "exit3" && WEXITSTATUS(status) != 3) std::abort();
      if (name == "segv" && (!WIFSIGNALED(status) || WTERMSIG(status) != SIGSEGV)) std::abort();
      if (name == "trap" && (!WIFSIGNALED(status) || WTERMSIG(status) != SIGTRAP)) std::abort();
      if (name == "abort" && (!WIFSIGNALED(status) || WTERMSIG(status) != SIGABRT)) std::abort();
    }
    return;
  }
  const auto on_a_thread = [&](auto what) {
    std::thread(what).detach();
    std::this_thread::sleep_for(std::chrono::seconds(20));
  };
  if (how == "thread_exit") on_a_thread([] { std::exit(0); });
  if (how == "thread_quick_exit") on_a_thread([] { std::quick_exit(0); });
  if (how == "thread_segv") on_a_thread([] { *reinterpret_cast<volatile int*>(16) = 1; });
  if (how == "thread_abort") on_a_thread([] { std::abort(); });
  if (how == "thread_throw") on_a_thread([] { throw std::runtime_error("nobody catches it"); });
  if (how == "thread_overflow") on_a_thread([] { std::exit(overflow(nullptr)); });
  if (how == "all_exit") on_a_thread([] { for (int i = 0; i < 20; i++) std::thread([] { std::exit(0); }).detach(); });
}

// Some time later, on a thread that the job does not wait for.
void later(int64_t us, bool crash) {
  std::thread([=] {
    std::this_thread::sleep_for(std::chrono::microseconds(us));
    end(crash ? "segv" : "exit");
  }).detach();
}

struct Place {
  explicit Place(yunti::Context& context)
      : how(context.config("ending.how", "")),
        where(context.config("ending.where", "")),
        once(context.config("ending.once", "")),
        word(context.config("ending.word", "")) {
    const int64_t us = std::stoll(std::string(context.config("ending.after-us", "-1")));
    if (us >= 0) later(us, how == "segv");
  }
  void at(const char* here) const {
    if (where != here) return;
    if (!once.empty()) {
      const int file = open(once.c_str(), O_CREAT | O_EXCL | O_CLOEXEC, 0600);
      if (file < 0) return;
      close(file);
    }
    end(how);
  }
  // Ends at every text with the word of `ending.word`.
  void at_word(std::string_view text) const {
    if (!word.empty() && text.find(word) != text.npos) end(how);
  }
  std::string how, where, once, word;
};

// First words, each with a 1; `map` is the second line of a file, so that the first is emitted.
struct Map : yunti::Mapper<yunti::Bytes, int64_t> {
  explicit Map(yunti::Context& context) : place(context) { place.at("construct"); }
  ~Map() { place.at("destroy"); }
  void map(std::string_view line, Out& out) {
    place.at_word(line);
    if (++lines == 2) {
      place.at("map");
      // A library that writes over its input.
      if (place.how == "scribble") std::memset(const_cast<char*>(line.data()), 'z', line.size());
    }
    out.emit(line.substr(0, line.find(' ')), 1);
  }
  void flush(Out&) { place.at("flush"); }
  Place place;
  int lines = 0;
};

// The same for whole texts: first words of lines, as slices of the batch.
struct Span : yunti::Mapper<yunti::Bytes, int64_t> {
  static constexpr bool keys_are_slices = true;
  static constexpr bool value_is_one = true;
  explicit Span(yunti::Context& context) : place(context) {}
  template <class Out>
  void map_span(const yunti::Span& span, Out& out) {
    const std::string_view text = span.text;
    place.at_word(text);
    for (size_t at = 0, end; at < text.size(); at = end + 1) {
      end = std::min(text.find('\n', at), text.size());
      const std::string_view line = text.substr(at, end - at);
      out.emit(line.substr(0, line.find(' ')));
    }
  }
  Place place;
};

struct Sum : yunti::Reducer<yunti::Bytes, int64_t, int64_t> {
  explicit Sum(yunti::Context& context) : place(context) {}
  void begin(std::string_view) { sum = 0; }
  void add(int64_t value) { sum += value; }
  void end(std::string_view key, Out& out) {
    place.at("reduce");
    out.emit(key, sum);
  }
  Place place;
  int64_t sum = 0;
};

struct Combine : yunti::Reducer<yunti::Bytes, int64_t, int64_t> {
  explicit Combine(yunti::Context& context) : place(context) {}
  void begin(std::string_view) { sum = 0; }
  void add(int64_t value) { sum += value; }
  void end(std::string_view key, Out& out) {
    place.at("combine");
    out.emit(key, sum);
  }
  Place place;
  int64_t sum = 0;
};

struct State {
  int64_t sum;
};

struct Fold : yunti::Folder<State, int64_t, int64_t> {
  explicit Fold(yunti::Context& context) : place(context) {}
  static constexpr bool exact = true;
  void init(State& s) { s = {0}; }
  void fold(State& s, int64_t v) {
    place.at("fold");
    s.sum += v;
  }
  void merge(State& s, const State& o) { s.sum += o.sum; }
  void finish(std::string_view key, const State& s, Out& out) { out.emit(key, s.sum); }
  Place place;
};

struct Part : yunti::Partitioner<> {
  explicit Part(yunti::Context& context) : place(context) {}
  uint32_t partition(std::string_view, std::string_view, uint32_t) {
    place.at("partition");
    return 0;
  }
  Place place;
};

struct Order : yunti::KeyOrder<> {
  explicit Order(yunti::Context& context) : place(context) {}
  void arrange(std::string_view key, std::string_view, yunti::OrderedKey& form) {
    place.at("arrange");
    form.text(key);
  }
  Place place;
};

struct Read : yunti::Reader<uint64_t, yunti::Bytes> {
  explicit Read(yunti::Context& context) : place(context) {}
  size_t read(const yunti::Chunk& chunk, Out& out) {
    size_t at = 0;
    for (size_t end; (end = chunk.text.find('\n', at)) != chunk.text.npos; at = end + 1) {
      if (chunk.position + at > 0) place.at("read");
      out.emit(chunk.position + at, chunk.text.substr(at, end - at));
    }
    return at;
  }
  Place place;
};

struct Write : yunti::Writer<yunti::Any, yunti::Any> {
  explicit Write(yunti::Context& context) : place(context) {}
  void write(std::string_view key, std::string_view, yunti::Sink& out) {
    place.at("write");
    out.put(key).put("\n");
  }
  Place place;
};

struct Unload {
  Unload() {
    if (const char* how = std::getenv("ENDING_LOAD")) end(how);
  }
  ~Unload() {
    if (const char* how = std::getenv("ENDING_UNLOAD")) end(how);
  }
} unload;

}  // namespace

YUNTI_LIBRARY("Ending", "1.0", yunti::mapper<Map>("Ending.Map"), yunti::mapper<Span>("Ending.Span"), yunti::reducer<Sum>("Ending.Sum"),
              yunti::combiner<Combine>("Ending.Combine"), yunti::folder<Fold>("Ending.Fold"),
              yunti::partitioner<Part>("Ending.Part"), yunti::key_order<Order>("Ending.Order"),
              yunti::reader<Read>("Ending.Read"), yunti::writer<Write>("Ending.Write"))
