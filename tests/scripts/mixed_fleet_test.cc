// SPDX-License-Identifier: Apache-2.0
// Programs of version 0.1.0 and of this one on the same locks. The scripts of 0.1.0 are kept as
// they were released in tests/scripts/v0_1_0; a program uses the scripts of its build. Checked
// without the rules: no call fails, the law holds for each job, no two leases live at once, fences
// rise, finished identities stay finished, and the answer contains that a group was granted.
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <random>
#include <sstream>

#include "support/script_bench.h"
#include "support/source_dir.h"

namespace cronlatch::testing {
namespace {

constexpr Millis kDay = std::chrono::hours(24);

std::string script_of_v0_1_0(const std::string& verb) {
  const auto read = [](const std::string& name) {
    std::ifstream file(source_dir() + "/tests/scripts/v0_1_0/" + name + ".lua");
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
  };
  return read("common") + "\n" + read(verb);
}

// A reply of 0.1.0 in the present form: a verdict has another name, and fields were added (no
// place, no run to wake).
std::vector<std::string> in_present_form(std::vector<std::string> reply, const Request& request) {
  if (reply[0] == "not_ours") reply[0] = "not_holder";
  if (reply[0] == "busy") reply.insert(reply.end(), {"", ""});
  const bool is_release = std::holds_alternative<Release>(request);
  if (is_release && (reply[0] == "freed" || reply[0] == "not_holder")) reply.push_back("");
  return reply;
}

// What a program of 0.1.0 sends for the request: its own script, and the arguments of that version.
std::vector<std::string> as_v0_1_0(const Request& request, std::vector<std::string> command) {
  static const std::string acquire = script_of_v0_1_0("acquire"), renew = script_of_v0_1_0("renew"),
                           release = script_of_v0_1_0("release");
  constexpr std::size_t kScriptAndKeys = 11;
  if (std::holds_alternative<Acquire>(request)) {
    command[1] = acquire;
    command.resize(kScriptAndKeys + 12);
  } else if (std::holds_alternative<Renew>(request)) {
    command[1] = renew;
    command.resize(kScriptAndKeys + 9);
  } else {
    command[1] = release;
    command.resize(kScriptAndKeys + 12);
  }
  return command;
}

struct RunningProgram {
  std::string owner;
  bool old = false;
  std::uint32_t attempt = 0;
  Identity identity{};
  std::optional<ServerTime> lease_ends{};  // while the program holds its grant
  Fence fence = 0;
};

class Fleet {
 public:
  Fleet(ScriptBench& bench, std::mt19937_64& engine) : bench_(bench), engine_(engine) {
    for (const char* owner : {"a", "b", "c", "d"}) programs_.push_back({owner});
  }

  void step() {
    pass_time();
    RunningProgram& program = programs_[below(programs_.size())];
    if (below(40) == 0) return revoke();
    if (!program.lease_ends) return start(program);
    switch (below(8)) {
      case 0:
        program.lease_ends.reset();  // killed
        return;
      case 1:
      case 2:
        return end(program);
      case 3:
        return ask_again(program);
      default:
        return renew(program);
    }
  }
  std::map<std::string, int> met;

 private:
  std::uint64_t below(std::uint64_t n) { return engine_() % n; }

  void pass_time() {
    bench_.pass(1s * static_cast<int>(below(8)));
    if (below(200) == 0) bench_.pass(std::chrono::hours(1 + below(30)));
    for (RunningProgram& program : programs_)
      if (program.lease_ends && *program.lease_ends <= bench_.now && below(2) == 0)
        program.lease_ends.reset();
  }

  Reply send(const RunningProgram& program, const Request& request) {
    std::vector<std::string> command = redis::encode(request, bench_.prefix, bench_.now + 3s);
    if (program.old) command = as_v0_1_0(request, std::move(command));
    const RedisAnswer answer = bench_.raw(std::move(command));
    EXPECT_FALSE(answer.is_error()) << (program.old ? "0.1.0: " : "this: ") << answer.text;
    std::vector<std::string> fields;
    for (const RedisAnswer& element : answer.elements) fields.push_back(element.text);
    if (program.old) fields = in_present_form(std::move(fields), request);
    const Reply reply = redis::decode(request, fields).reply;
    EXPECT_FALSE(std::holds_alternative<Unavailable>(reply));
    check_law();
    ++met[program.old ? "calls of 0.1.0" : "calls of this version"];
    return reply;
  }

  Acquire acquire_of(const RunningProgram& program) {
    Acquire a;
    a.lock = bench_.lock;
    a.claim = {program.owner, program.attempt};
    a.identity = program.identity;
    a.ttl = 30s;
    a.once_ttl = kDay;
    a.if_busy = IfBusy::skip;
    a.min_hold = Seconds(below(3) * 40);
    return a;
  }

  void start(RunningProgram& program) {
    program.old = below(2) == 0;
    ++program.attempt;
    program.identity = {"pod-" + program.owner, below(2) == 0 ? "ns/j" : "",
                        below(3) == 0 ? "g" + std::to_string(below(5)) : "",
                        below(3) == 0 ? "t" + std::to_string(below(200)) : ""};
    const Reply reply = send(program, acquire_of(program));
    if (std::holds_alternative<Granted>(reply)) return granted(program, std::get<Granted>(reply));
    const Busy busy = got<Busy>(reply);
    if (busy.reason == BusyReason::done) return void(++met["done"]);
    ++met[busy.reason == BusyReason::cooling ? "cooling" : "held"];
    const auto at = granted_groups_.find(program.identity.group);
    if (at != granted_groups_.end() && bench_.now < at->second + kDay) {
      EXPECT_TRUE(busy.group_granted) << program.identity.group;
      ++met["group granted before"];
    }
  }

  void granted(RunningProgram& program, const Granted& reply) {
    for (const RunningProgram& other : programs_)
      EXPECT_FALSE(other.lease_ends && *other.lease_ends > bench_.now)
          << program.owner << " is granted while " << other.owner << " lives";
    EXPECT_GT(reply.fence, highest_);
    const auto done = finished_.find({program.identity.job, program.identity.once});
    EXPECT_FALSE(done != finished_.end() && bench_.now < done->second + kDay)
        << program.identity.once << " is done";
    highest_ = program.fence = reply.fence;
    program.lease_ends = bench_.now + 30s;
    if (!program.identity.group.empty()) granted_groups_[program.identity.group] = bench_.now;
    ++met[reply.stole ? "stole" : "granted"];
  }

  void ask_again(RunningProgram& program) {
    const Reply reply = send(program, acquire_of(program));
    if (!std::holds_alternative<Granted>(reply)) return program.lease_ends.reset();
    const auto& again = std::get<Granted>(reply);
    if (again.fence != program.fence) {  // a day after its lease nothing remembers the attempt
      EXPECT_LE(*program.lease_ends, bench_.now) << "another grant of a lease that has not ended";
      return granted(program, again);
    }
    program.lease_ends = bench_.now + 30s;
  }

  void renew(RunningProgram& program) {
    Renew r;
    r.lock = bench_.lock;
    r.claim = {program.owner, program.attempt};
    r.identity = program.identity;
    r.fence = program.fence;
    r.ttl = 30s;
    const Reply reply = send(program, r);
    if (!std::holds_alternative<Renewed>(reply)) return end(program, RunVerdict::lost);
    EXPECT_FALSE(std::get<Renewed>(reply).restored) << "nothing was lost";
    program.lease_ends = bench_.now + 30s;
    ++met["kept"];
  }

  void end(RunningProgram& program) {
    end(program, below(2) == 0 ? RunVerdict::succeeded : RunVerdict::failed);
  }
  void end(RunningProgram& program, RunVerdict verdict) {
    Release r;
    r.lock = bench_.lock;
    r.claim = {program.owner, program.attempt};
    r.identity = program.identity;
    r.fence = program.fence;
    r.verdict = verdict;
    r.mark_done = verdict == RunVerdict::succeeded;
    r.once_ttl = kDay;
    r.min_hold = Seconds(below(3) * 40);
    const Reply reply = send(program, r);
    const bool freed = std::holds_alternative<Released>(reply);
    // Version 0.1.0 marks only what its holder releases.
    if (r.mark_done && !program.identity.once.empty() && (freed || !program.old))
      finished_.try_emplace({program.identity.job, program.identity.once}, bench_.now);
    std::erase_if(finished_, [&](const auto& f) { return f.second + kDay <= bench_.now; });
    program.lease_ends.reset();
    ++met[freed ? "freed" : "not holder"];
  }

  void revoke() {
    std::vector<std::string> command =
        redis::encode_revoke(bench_.lock, bench_.prefix, bench_.now + 3s);
    if (below(2) == 0) command[1] = script_of_v0_1_0("revoke");
    const RedisAnswer answer = bench_.raw(std::move(command));
    ASSERT_EQ(answer.elements.size(), 7u) << answer.text;
    EXPECT_EQ(answer.elements[0].text, "revoked");
    check_law();
    ++met["revoked"];
  }

  void check_law() {
    const rules::Record& kept = bench_.last_record();
    for (const auto& [job, c] : kept.jobs)
      EXPECT_EQ(c.get("acquired") - c.get("released") - c.get("stolen") - c.get("revoked"),
                kept.state == rules::HoldState::held && kept.identity.job == job ? 1 : 0)
          << "job " << job;
  }

  ScriptBench& bench_;
  std::mt19937_64& engine_;
  std::vector<RunningProgram> programs_;
  std::map<std::string, ServerTime> granted_groups_;
  std::map<std::pair<std::string, std::string>, ServerTime> finished_;
  Fence highest_ = 0;
};

TEST(MixedFleet, ProgramsOfVersion010AndOfThisOneShareALock) {
  const char* given = std::getenv("CRONLATCH_SEED");
  const std::uint64_t seed =
      given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
  std::printf("CRONLATCH_SEED=%llu\n", static_cast<unsigned long long>(seed));
  std::mt19937_64 engine(seed);
  ScriptBench bench;
  bench.read_sets = false;
  std::map<std::string, int> met;
  for (int lock = 0; lock < 20 && !HasFailure(); ++lock) {
    bench.lock = "ns/mixed-" + std::to_string(lock);
    Fleet fleet(bench, engine);
    for (int i = 0; i < 1'000 && !HasFailure(); ++i) fleet.step();
    for (const auto& [what, times] : fleet.met) met[what] += times;
  }
  EXPECT_FALSE(HasFailure()) << "replay with CRONLATCH_SEED=" << seed;
  for (const char* what :
       {"calls of 0.1.0", "calls of this version", "granted", "stole", "kept", "freed",
        "not holder", "revoked", "held", "cooling", "done", "group granted before"})
    EXPECT_GT(met[what], 0) << what << " never happened";
}

// ---- several slots: each version refuses what it cannot share, and nothing changes ----

class SlotsAndOldPrograms : public ::testing::Test {
 protected:
  Acquire request(const std::string& owner, unsigned slots = 1) const {
    Acquire a = bench.acquisition(owner);
    a.slots = slots;
    return a;
  }
  RedisAnswer send_old(const Request& old) {
    return bench.raw(as_v0_1_0(old, redis::encode(old, bench.prefix, bench.now + 3s)));
  }
  void expect_old_is_refused(const Request& old) {
    const rules::Record before = bench.record();
    const RedisAnswer answer = send_old(old);
    EXPECT_TRUE(answer.is_error());
    EXPECT_EQ(answer.text, "CRONLATCH_POISONED " + bench.key() + " slots");
    EXPECT_EQ(bench.record(), before);
  }

  ScriptBench bench;
};

TEST_F(SlotsAndOldPrograms, ALockWithSlotsIsRefusedByTheOldProgram) {
  bench.send(request("a", 2));
  expect_old_is_refused(request("b"));
  bench.send(request("b", 2));
  expect_old_is_refused(request("c"));
  expect_old_is_refused(bench.renewal("a"));
  expect_old_is_refused(bench.end("a"));
  bench.release("a");
  expect_old_is_refused(request("c"));
  bench.release("b");
  EXPECT_EQ(send_old(request("c")).elements.at(0).text, "granted");
}

// A lease that has ended does not open the lock to the old program: it cannot judge the other
// slots.
TEST_F(SlotsAndOldPrograms, ALockWithSlotsStaysClosedForTheOldProgramAfterACrash) {
  bench.send(request("a", 2));
  bench.pass(1h);
  expect_old_is_refused(request("b"));
  EXPECT_TRUE(got<Granted>(bench.send(request("c", 1)).reply).stole);
  bench.release("c");
  EXPECT_EQ(send_old(request("d")).elements.at(0).text, "granted");
}

TEST_F(SlotsAndOldPrograms, ALockOfTheOldProgramIsRefusedWithSlots) {
  ASSERT_EQ(send_old(request("a")).elements.at(0).text, "granted");
  const rules::Record before = bench.record();
  const Reply refused = bench.send(request("b", 2)).reply;
  EXPECT_EQ(refused, Reply(rules::other_slots(request("b", 2), 1, "pod-a")));
  EXPECT_EQ(bench.record(), before);
  EXPECT_EQ(send_old(bench.renewal("a")).elements.at(0).text, "kept");
  ASSERT_EQ(send_old(bench.end("a")).elements.at(0).text, "freed");

  // The fences of both versions rise over each other.
  const Fence old = bench.record().fence;
  const Fence first = got<Granted>(bench.send(request("b", 2)).reply).fence;
  const Fence second = got<Granted>(bench.send(request("c", 2)).reply).fence;
  EXPECT_LT(old, first);
  EXPECT_LT(first, second);
  bench.release("c");
  bench.release("b");
  ASSERT_EQ(send_old(request("d")).elements.at(0).text, "granted");
  EXPECT_LT(second, bench.record().fence);
}

}  // namespace
}  // namespace cronlatch::testing
