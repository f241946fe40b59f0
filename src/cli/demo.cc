// SPDX-License-Identifier: Apache-2.0
// `cronlatch demo`: a run, a skipped run, and a takeover after a SIGKILL, with the file store in a
// temporary directory. It starts this program as a user would; each step is checked, and a
// difference is an error.
#include <dirent.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>

#include "base/kernel_clock.h"
#include "cli/interrupts.h"
#include "cli/self.h"
#include "cli/subcommand.h"
#include "store/open.h"
#include "terminal/stdio.h"

namespace cronlatch {
namespace {

constexpr char kLock[] = "demo";
constexpr Millis kPoll{20}, kPause{1500};
constexpr Seconds kDeadline{10};

Error failed(const std::string& what) {
  return {Code::system, "the demo failed: " + what, "run it again; see docs/quickstart.md"};
}

// The store's directory. It contains files only.
class Folder {
 public:
  Folder() : is_made_(mkdtemp(path_) != nullptr) {}
  ~Folder() {
    DIR* const dir = is_made_ ? opendir(path_) : nullptr;
    if (dir == nullptr) return;
    while (const dirent* entry = readdir(dir)) unlinkat(dirfd(dir), entry->d_name, 0);
    closedir(dir);
    rmdir(path_);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  bool is_made() const { return is_made_; }
  std::string url() const { return std::string("file://") + path_; }

 private:
  char path_[32] = "/tmp/cronlatch-demo.XXXXXX";
  bool is_made_;
};

class Demo {
 public:
  Demo(std::string program, std::string url, const Clock& clock, Interrupts& interrupts)
      : program_(std::move(program)),
        url_(std::move(url)),
        clock_(clock),
        interrupts_(interrupts) {}
  // After a failed step, or an interrupted one.
  ~Demo() {
    for (const pid_t pid : running_) kill(pid, SIGTERM);
    for (const pid_t pid : running_) waitpid(pid, nullptr, 0);
  }
  Demo(const Demo&) = delete;
  Demo& operator=(const Demo&) = delete;

  Status play() {
    print("The store is a temporary directory, " + url_ + "\n");
    say("1. A acquires the lock. Its command takes 60 s.");
    const pid_t a =
        start({"run", "--lock=demo", "--holder=A", "--", program_, "sleep", "60s"}, " &");
    if (Status held = wait_for_holder("A"); !held) return held;
    say("2. B is started while A holds the lock. B is skipped, with exit code 0.");
    const pid_t b = start({"run", "--lock=demo", "--holder=B", "--", program_, "sleep", "1s"});
    if (Status skipped = expect(b, 0); !skipped) return skipped;
    // Not so after a Ctrl-C, which has ended A.
    if (Status held = wait_for_holder("A"); !held) return held;
    say("3. C waits for the lock.");
    const pid_t c =
        start({"run", "--lock=demo", "--holder=C", "--on-busy=wait", "--", program_, "sleep", "1s"},
              " &");
    interrupts_.pause_for(kPause);
    say("4. A is killed with SIGKILL. The kernel kills its command, and C takes the lock over.");
    print("$ kill -9 A\n");
    kill(a, SIGKILL);
    if (Status ended = expect(a, 128 + SIGKILL); !ended) return ended;
    if (Status held = wait_for_holder("C"); !held) return held;
    if (Status ended = expect(c, 0); !ended) return ended;
    say("5. The store contains the lock and its statistics.");
    if (Status listed = expect(start({"ls"}), 0); !listed) return listed;
    say("Result: two grants, one skipped run, one takeover. The temporary store is removed.");
    return Done{};
  }

 private:
  void print(const std::string& text) { (void)write_stdout(text).ok(); }
  void say(const std::string& text) { print("\n" + text + "\n"); }

  // Starts this program with `words`, which are printed without the options of the demo.
  pid_t start(std::vector<std::string> words, const std::string& suffix = "") {
    std::string line = "$ cronlatch";
    for (const std::string& word : words) line += ' ' + (word == program_ ? "cronlatch" : word);
    print(line + suffix + '\n');
    std::vector<std::string> argv = {program_, words.front(), "--isolated", "--store=" + url_};
    argv.insert(argv.end(), words.begin() + 1, words.end());
    std::vector<char*> pointers;
    for (std::string& word : argv) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    char* no_environment[] = {nullptr};
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    sigset_t ignored_here;
    sigemptyset(&ignored_here);
    for (const int signo : {SIGPIPE, SIGXFSZ}) sigaddset(&ignored_here, signo);
    posix_spawnattr_setsigdefault(&attributes, &ignored_here);
    posix_spawnattr_setsigmask(&attributes, &interrupts_.inherited_mask());
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    pid_t pid = -1;
    const int error =
        posix_spawn(&pid, program_.c_str(), nullptr, &attributes, pointers.data(), no_environment);
    posix_spawnattr_destroy(&attributes);
    if (error != 0) return -1;
    running_.push_back(pid);
    return pid;
  }

  // By a signal to this process, or to the command of a run.
  bool is_interrupted() {
    for (const pid_t pid : running_) {
      siginfo_t ended{};
      if (waitid(P_PID, static_cast<id_t>(pid), &ended, WEXITED | WNOHANG | WNOWAIT) == 0 &&
          ended.si_code == CLD_EXITED && ended.si_status == 128 + SIGINT)
        interrupts_.set_arrived(SIGINT);
    }
    return interrupts_.arrived();
  }

  Status expect(pid_t pid, int code) {
    int status = 0;
    pid_t ended = 0;
    while (pid > 0 && !is_interrupted() && (ended = waitpid(pid, &status, WNOHANG)) == 0)
      interrupts_.pause_for(kPoll);
    if (interrupts_.arrived()) return failed("it was interrupted");
    if (ended != pid) return failed("a process could not be started");
    std::erase(running_, pid);
    const int seen = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    if (seen == code) return Done{};
    return failed("exit code " + std::to_string(seen) + " instead of " + std::to_string(code));
  }

  Status wait_for_holder(const std::string& holder) {
    StoreSpec spec;
    spec.url = url_;
    const Result<std::unique_ptr<Backend>> store = open_store(spec);
    if (!store) return store.error();
    const TimePoint end = clock_.now() + kDeadline;
    while (clock_.now() < end && !is_interrupted()) {
      const Result<LockView> view = (*store)->show(kLock, end);
      if (view && view->open() && view->identity.holder == holder) {
        interrupts_.pause_for(kPause);
        return Done{};
      }
      interrupts_.pause_for(kPoll);
    }
    return failed(holder + " does not hold the lock");
  }

  std::string program_, url_;
  const Clock& clock_;
  Interrupts& interrupts_;
  std::vector<pid_t> running_;
};

Status play(const std::string& program, const Clock& clock, Interrupts& interrupts) {
  const Folder folder;
  if (!folder.is_made())
    return Error{Code::system,
                 std::string("cannot create a directory below /tmp: ") + std::strerror(errno),
                 "make /tmp writable"};
  return Demo(program, folder.url(), clock, interrupts).play();
}

}  // namespace

Result<CommandOutput> demo_command(const Invocation& invocation) {
  if (!invocation.arguments.empty())
    return Error{Code::usage, "demo takes no argument", "write: cronlatch demo"};
  const Result<std::string> program = own_path();
  if (!program) return program.error();
  Interrupts interrupts;
  const Status played = play(*program, invocation.clock, interrupts);
  if (interrupts.arrived()) interrupts.end_by_signal();
  if (!played) return played.error();
  return CommandOutput{};
}

}  // namespace cronlatch
