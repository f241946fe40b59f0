// SPDX-License-Identifier: Apache-2.0
// ./dev bench: the cost of the gate, in one interleaved session. The subjects run round-robin in
// rotating order, so that other load of the machine affects all of them equally. Medians are
// compared as ratios to the spawn+wait baseline. scripts/bench.sh passes servers, certificates and
// programs as name=value arguments.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "relay.h"
#include "subject.h"

namespace {

using bench::Relay;
using bench::Subject;
using bench::Traffic;
using Settings = std::map<std::string, std::string>;

constexpr double kRssLimitKib = 6 * 1024;
constexpr const char* kBaseline = "spawn+wait baseline";
constexpr const char* kFile = "file store";
constexpr const char* kTls = "Redis, TLS P-256";
constexpr const char* kNoGuardian = "CRONLATCH_GUARDIAN=off";
constexpr const char* kFlock = "flock(1)";
constexpr const char* kLeast = "four commands only";
constexpr const char* kPlaintext = "Redis, plaintext";
constexpr const char* kGuarded = "Redis, plaintext, with a guardian";
constexpr double kGuardianLimitMs = 0.4;
constexpr double kGuardianLimitKib = 0.4 * 1024;

Settings read_settings(int argc, char** argv) {
  Settings settings;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const std::size_t equals = word.find('=');
    if (equals != std::string::npos) settings[word.substr(0, equals)] = word.substr(equals + 1);
  }
  return settings;
}

// Without a guardian, as the first process of a container; `kGuarded` measures its cost.
Subject gated(const std::string& name, const Settings& s, std::vector<std::string> env) {
  if (name != kGuarded) env.emplace_back(kNoGuardian);
  return {name, {s.at("binary"), "run", "--lock", "bench", "--"}, std::move(env)};
}

// The same run with the program of version 0.1.0, which has no guardian.
Subject earlier(Subject subject, const Settings& s) {
  subject.name += ", 0.1.0";
  std::erase(subject.env, kNoGuardian);
  subject.gate.front() = s.at("earlier");
  return subject;
}

Subject over_tls(const std::string& name, const Settings& s, const std::string& port,
                 const std::string& certificates) {
  return gated(name, s,
               {"CRONLATCH_STORE=rediss://127.0.0.1:" + port,
                "CRONLATCH_TLS_CA=" + certificates + "/ca.pem"});
}

Subject over_plaintext(const std::string& name, const Settings& s, const std::string& port) {
  return gated(name, s, {"CRONLATCH_STORE=redis://127.0.0.1:" + port});
}

std::vector<Subject> subjects(const Settings& s) {
  std::vector<Subject> all = {
      {"bare /bin/true", {}, {}},
      {kBaseline, {s.at("baseline")}, {}},
      gated(kFile, s, {"CRONLATCH_STORE=file://" + s.at("state")}),
      over_plaintext(kPlaintext, s, s.at("redis")),
      over_plaintext(kGuarded, s, s.at("redis")),
      // After the product's run, which loads the scripts into the server.
      {kLeast, {s.at("least"), s.at("redis")}, {}},
      over_tls(kTls, s, s.at("redis-p256"), s.at("p256")),
      over_tls("Redis, TLS RSA-2048", s, s.at("redis-rsa"), s.at("rsa")),
  };
  if (s.contains("earlier"))
    for (const Subject& subject : std::vector<Subject>(all))
      if (subject.name == kFile || subject.name == kPlaintext || subject.name == kTls)
        all.push_back(earlier(subject, s));
  all.push_back({kFlock, {"/usr/bin/flock", s.at("state") + "/flock.lock"}, {}});  // util-linux
  return all;
}

struct Measured {
  std::vector<double> ms;
  std::optional<long> rss_kib;
};
using Session = std::map<std::string, Measured>;

// Empty when a subject fails.
std::optional<Session> interleave(const std::vector<Subject>& all, int runs) {
  const std::vector<std::string> command = {"/bin/true"};
  Session session;
  for (int round = -3; round < runs; ++round) {  // three rounds of warm-up
    for (std::size_t i = 0; i < all.size(); ++i) {
      const Subject& subject = all[(i + static_cast<std::size_t>(round + 3)) % all.size()];
      const std::optional<double> ms = bench::run_once(subject, command);
      if (!ms) {
        std::fprintf(stderr, "bench: '%s' failed\n", subject.name.c_str());
        return {};
      }
      if (round >= 0) session[subject.name].ms.push_back(*ms);
    }
    if (round % 20 == 0) std::fprintf(stderr, "bench: round %d of %d\n", round, runs);
  }
  for (const Subject& subject : all)
    if (!subject.gate.empty())
      session[subject.name].rss_kib = bench::resident_while_running(subject);
  return session;
}

void print_session(const std::vector<Subject>& all, const Session& session) {
  const double baseline = bench::quantile(session.at(kBaseline).ms, 0.5);
  std::printf("| gate of `/bin/true` | median ms | p95 ms | x baseline | peak RSS KiB |\n");
  std::printf("|---|---:|---:|---:|---:|\n");
  for (const Subject& subject : all) {
    const Measured& m = session.at(subject.name);
    const double median = bench::quantile(m.ms, 0.5);
    const std::string rss = m.rss_kib ? std::to_string(*m.rss_kib) : "-";
    std::printf("| %s | %.3f | %.3f | %.2f | %s |\n", subject.name.c_str(), median,
                bench::quantile(m.ms, 0.95), median / baseline, rss.c_str());
  }
}

// One run of the gate through a counting relay in front of the server at `port`.
std::optional<Traffic> on_the_wire(const Settings& s, bool tls) {
  const std::string port = s.at(tls ? "redis-p256" : "redis");
  Relay relay(std::stoi(port));
  const std::string relayed = std::to_string(relay.port());
  const Subject subject =
      tls ? over_tls("tls", s, relayed, s.at("p256")) : over_plaintext("plain", s, relayed);
  if (!bench::run_once(subject, {"/bin/true"})) return {};
  return relay.stop();
}

void print_wire(const char* name, const Traffic& seen) {
  std::string words;
  for (const std::string& word : seen.commands) words += (words.empty() ? "" : ", ") + word;
  const std::string count =
      seen.commands.empty() ? "as above" : std::to_string(seen.commands.size());
  std::printf("| %s | %d | %d | %s | %s |\n", name, seen.connections, seen.round_trips,
              count.c_str(), words.empty() ? "encrypted" : words.c_str());
}

struct Budget {
  std::string name;
  double value;
  double limit;
};

// The guardian's own memory; no limit is met where it is not known.
double guardian_kib(const Settings& s) {
  const std::optional<long> kib =
      bench::child_private_while_running(over_plaintext(kGuarded, s, s.at("redis")));
  return static_cast<double>(kib.value_or(1 << 30));
}

// The median of the times from SIGKILL of the wrapper until its guardian has ended the command.
double guardian_reaction_ms(const Settings& s) {
  constexpr int kRounds = 21;
  std::vector<double> all;
  for (int i = 0; i < kRounds; ++i) {
    Subject subject = over_plaintext(kGuarded, s, s.at("redis"));
    *std::find(subject.gate.begin(), subject.gate.end(), "bench") = "killed-" + std::to_string(i);
    all.push_back(bench::command_ends_after_kill(subject).value_or(1e9));
  }
  return bench::quantile(std::move(all), 0.5);
}

std::vector<Budget> budgets(const Settings& s, const Session& session, const Traffic& plain,
                            const Traffic& tls) {
  const double baseline = bench::quantile(session.at(kBaseline).ms, 0.5);
  const auto ratio = [&](const char* name) {
    return bench::quantile(session.at(name).ms, 0.5) / baseline;
  };
  long rss = 0;
  for (const char* name : {kFile, kPlaintext, kTls, "Redis, TLS RSA-2048"})
    rss = std::max(rss, session.at(name).rss_kib.value_or(1 << 30));
  struct stat binary {};
  const bool there = stat(s.at("binary").c_str(), &binary) == 0;
  const double guardian_ms = (ratio(kGuarded) - ratio(kPlaintext)) * baseline;
  return {{"TLS P-256, x baseline", ratio(kTls), 8},
          {"plaintext, x four commands only", ratio(kPlaintext) / ratio(kLeast), 1.4},
          {"file store, x flock(1)", ratio(kFile) / ratio(kFlock), 1},
          {"round trips of a short run over TLS", static_cast<double>(tls.round_trips), 5},
          {"Redis commands of a short run", static_cast<double>(plain.commands.size()), 4},
          {"guardian, ms", guardian_ms, kGuardianLimitMs},
          {"guardian, KiB of its own", guardian_kib(s), kGuardianLimitKib},
          {"guardian, ms from SIGKILL of the wrapper", guardian_reaction_ms(s), 200},
          {"peak RSS, KiB", static_cast<double>(rss), kRssLimitKib},
          {"binary, bytes", static_cast<double>(there ? binary.st_size : 1L << 40),
           std::stod(s.at("size-limit"))}};
}

bool print_budgets(const std::vector<Budget>& all) {
  bool all_met = true;
  std::printf("\n| budget | measured | at most | |\n|---|---:|---:|---|\n");
  for (const Budget& budget : all) {
    const bool met = budget.value <= budget.limit;
    all_met = all_met && met;
    std::printf("| %s | %.*f | %.*f | %s |\n", budget.name.c_str(), budget.value < 1000 ? 2 : 0,
                budget.value, budget.limit < 1000 ? 1 : 0, budget.limit, met ? "pass" : "FAIL");
  }
  return all_met;
}

}  // namespace

int main(int argc, char** argv) {
  const Settings settings = read_settings(argc, argv);
  const std::vector<Subject> all = subjects(settings);
  const std::optional<Session> session = interleave(all, std::stoi(settings.at("runs")));
  const std::optional<Traffic> plain = on_the_wire(settings, false);
  const std::optional<Traffic> tls = on_the_wire(settings, true);
  if (!session || !plain || !tls || plain->connections == 0 || tls->connections == 0) return 1;
  print_session(all, *session);
  std::printf("\n| one short run | connections | round trips with SYN | Redis commands | |\n");
  std::printf("|---|---:|---:|---:|---|\n");
  print_wire("Redis, plaintext", *plain);
  print_wire(kTls, *tls);
  return print_budgets(budgets(settings, *session, *plain, *tls)) ? 0 : 1;
}
