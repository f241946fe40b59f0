// SPDX-License-Identifier: Apache-2.0
// Virtual time, and a dump of one lock in a single call.
#include "support/script_bench.h"

#include <algorithm>
#include <cstdlib>

namespace cronlatch::testing {

namespace {

constexpr std::string_view kClock = "local t = redis.call('TIME')";
constexpr std::string_view kVirtual = "local t = {0, tonumber(ARGV[#ARGV])}";

// The hash, the stats, the other slots, then name and content of each sorted set. The jobs of the
// tests are "", "ns/j" and "ns/<owner>" for the owners a to d.
constexpr std::string_view kDump = R"(
local dump = {redis.pcall('HGETALL', KEYS[1]), redis.pcall('HGETALL', KEYS[1] .. ':stats'),
              redis.pcall('HGETALL', KEYS[1] .. ':slots')}
for _, suffix in ipairs(ARGV[#ARGV - 1] == 'hashes' and {} or {':groups', ':seen', ':queue', ':asked', ':once', ':once:ns/j', ':once:ns/a', ':once:ns/b',
                         ':once:ns/c', ':once:ns/d'}) do
  dump[#dump + 1] = redis.pcall('ZRANGE', KEYS[1] .. suffix, 0, -1, 'WITHSCORES')
end
)";
constexpr std::string_view kOnceJobs[] = {"", "ns/j", "ns/a", "ns/b", "ns/c", "ns/d"};

std::map<std::string, std::string> pairs(const RedisAnswer& flat) {
  std::map<std::string, std::string> out;
  for (std::size_t i = 0; i + 1 < flat.elements.size(); i += 2)
    out[flat.elements[i].text] = flat.elements[i + 1].text;
  return out;
}

std::map<std::string, std::int64_t> dated(const RedisAnswer& flat) {
  std::map<std::string, std::int64_t> out;
  for (const auto& [name, score] : pairs(flat)) out[name] = std::stoll(score);
  return out;
}

rules::HoldState hold_state_of(const std::string& state) {
  if (state == "free") return rules::HoldState::free;
  if (state == "held") return rules::HoldState::held;
  if (state == "revoked") return rules::HoldState::revoked;
  if (state == "cooling") return rules::HoldState::cooling;
  ADD_FAILURE() << "state " << state;
  return rules::HoldState::none;
}

void read_slots(const std::map<std::string, std::string>& fields, rules::Record& r) {
  r.more.resize(r.slots - 1);
  if (r.slots == 1) return;
  for (const auto& [at, packed] : fields) {
    const auto slot = redis::unpack_slot(packed);
    ASSERT_TRUE(slot) << packed;
    r.more.at(std::stoul(at) - 2) = *slot;
    // The scripts write a slot that no run has held when it is reserved, with attempt 0.
    if (slot->state == rules::HoldState::none) r.more.at(std::stoul(at) - 2).claim = {};
  }
}

rules::Record read_dump(const RedisAnswer& dump) {
  rules::Record r;
  if (dump.elements.size() != 3 && dump.elements.size() != 7 + std::size(kOnceJobs)) {
    ADD_FAILURE() << "no dump: " << dump.text;
    return r;
  }
  auto hash = pairs(dump.elements[0]);
  if (!hash.empty()) {
    r.state = hold_state_of(hash["state"]);
    r.claim = {hash["owner"], static_cast<std::uint32_t>(std::stoul(hash["attempt"]))};
    r.identity = {hash["holder"], hash["job"], hash["group"], hash["once"]};
    r.fence = std::stoull(hash["fence"]);
    r.stole = std::stoull(hash["stole"]);
    r.acquired = {std::stoll(hash["acquired"])};
    r.expires = {std::stoll(hash["expires"])};
    r.ttl = Micros(std::stoll(hash["ttl"]));
    // "<fence>:<length>", of this grant or of an earlier one.
    if (hash["min_hold"].starts_with(hash["fence"] + ":"))
      r.min_hold = Micros(std::stoll(hash["min_hold"].substr(hash["fence"].size() + 1)));
    // "<fence>:<until>:<owner>", likewise.
    if (const std::string fence = hash["fence"] + ":"; hash["turn"].starts_with(fence)) {
      const std::string rest = hash["turn"].substr(fence.size());
      r.turn = rules::Turn{rest.substr(rest.find(':') + 1), {std::stoll(rest)}};
    }
    r.shared = hash["shared"];
    r.born = {std::stoll(hash["born"])};
    r.day = std::stoll(hash["day"]);
    r.slots = static_cast<unsigned>(std::stoul(hash["slots"]));
    read_slots(pairs(dump.elements[2]), r);
  }
  for (const auto& [field, value] : pairs(dump.elements[1])) {
    const auto bar = field.find('|');
    r.jobs[field.substr(bar + 1)].values[field.substr(0, bar)] = std::stoll(value);
  }
  if (dump.elements.size() == 3) return r;
  r.groups = dated(dump.elements[3]);
  r.answers = dated(dump.elements[4]);
  r.queue = dated(dump.elements[5]);
  r.asked = dated(dump.elements[6]);
  for (std::size_t i = 0; i < std::size(kOnceJobs); ++i)
    if (auto done = dated(dump.elements[7 + i]); !done.empty())
      r.once[std::string(kOnceJobs[i])] = std::move(done);
  return r;
}

std::vector<std::string> texts(const RedisAnswer& answer) {
  std::vector<std::string> fields;
  for (const RedisAnswer& element : answer.elements) {
    EXPECT_EQ(element.type, RedisAnswer::Type::text) << "G4: every field is a string";
    fields.push_back(element.text);
  }
  return fields;
}

void replace_once(std::string& script, std::string_view old, const std::string& by) {
  const auto at = script.find(old);
  if (at == std::string::npos) {
    ADD_FAILURE() << "the scripts do not contain '" << old << "' where this test expects it";
    std::abort();
  }
  script.replace(at, old.size(), by);
}

}  // namespace

ScriptBench::ScriptBench(std::vector<std::string> server_args, TimeOf time)
    : server(RedisServer::start(std::move(server_args))),
      client(server->port()),
      witness(server->port()),
      time_(time) {
  if (time == TimeOf::test) return;
  const RedisAnswer answer = client({"TIME"});
  now.us = std::stoll(answer.elements[0].text) * 1'000'000 + std::stoll(answer.elements[1].text);
}

RedisAnswer ScriptBench::raw(std::vector<std::string> command) {
  std::string& instrumented = scripts_[command[1]];
  if (instrumented.empty()) {
    instrumented = command[1];
    if (time_ == TimeOf::test) replace_once(instrumented, kClock, std::string(kVirtual));
    replace_once(instrumented, "\nreturn run(", "\nlocal answer = run(");
    instrumented += std::string(kDump) + "return {answer, dump}";
  }
  command[1] = instrumented;
  command.push_back(read_sets ? "all" : "hashes");
  command.push_back(std::to_string(now.us));
  RedisAnswer both = client(command);
  if (both.elements.size() != 2) return both;
  if (!both.elements[0].is_error()) last_record_ = read_dump(both.elements[1]);
  return both.elements[0];
}

redis::DecodedReply ScriptBench::send(const Request& request, ServerTime not_after) {
  const RedisAnswer answer = raw(redis::encode(request, prefix, not_after));
  if (answer.is_error())
    return {Unavailable{{Code::unreachable, answer.text}, true, false}, {}, false};
  const redis::DecodedReply decoded = redis::decode(request, texts(answer));
  if (time_ == TimeOf::server) now = decoded.now;
  return decoded;
}

Revoked ScriptBench::revoke() {
  const RedisAnswer answer = raw(redis::encode_revoke(lock, prefix, now + 3s));
  const auto fields = texts(answer);
  auto revoked = redis::decode_revoke(fields);
  if (fields.size() > 1 && time_ == TimeOf::server) now.us = std::stoll(fields[1]);
  if (revoked.ok()) return *revoked;
  ADD_FAILURE() << revoked.error().message << answer.text;
  return {};
}

rules::Record ScriptBench::record() {
  return read_dump(witness({"EVAL", std::string(kDump) + "return dump", "1", key()}));
}

// Zero without a fence that a script can represent.
Fence ScriptBench::kept_fence() {
  const Fence fence = std::strtoull(witness({"HGET", key(), "fence"}).text.c_str(), nullptr, 10);
  return fence < (Fence{1} << 53) ? fence : 0;
}

Acquire ScriptBench::acquisition(const std::string& owner, std::uint32_t attempt) const {
  Acquire a;
  a.lock = lock;
  a.claim = {owner, attempt};
  a.identity = {"pod-" + owner, "ns/" + owner, "", ""};
  a.ttl = ttl;
  a.once_ttl = std::chrono::hours(24);
  return a;
}

Renew ScriptBench::renewal(const std::string& owner, std::uint32_t attempt) {
  Renew r;
  r.lock = lock;
  r.claim = {owner, attempt};
  r.identity = {"pod-" + owner, "ns/" + owner, "", ""};
  r.fence = kept_fence();
  r.ttl = ttl;
  return r;
}

Release ScriptBench::end(const std::string& owner, RunVerdict verdict, std::uint32_t attempt) {
  Release r;
  r.lock = lock;
  r.claim = {owner, attempt};
  r.identity = {"pod-" + owner, "ns/" + owner, "", ""};
  r.fence = kept_fence();
  r.verdict = verdict;
  r.mark_done = verdict == RunVerdict::succeeded;
  r.once_ttl = std::chrono::hours(24);
  return r;
}

std::int64_t ScriptBench::counted(const std::string& owner, std::string_view name) {
  const auto all = record().jobs;
  const auto at = all.find("ns/" + owner);
  return at == all.end() ? 0 : at->second.get(name);
}

}  // namespace cronlatch::testing
