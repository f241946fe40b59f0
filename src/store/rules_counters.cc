// SPDX-License-Identifier: Apache-2.0
// The counters of a record, and its final answers.
#include <algorithm>

#include "store/rules_internal.h"

namespace cronlatch::rules {

namespace {

constexpr std::int64_t kDayUs = 86'400'000'000;

std::string key_of(const Claim& claim, Answer answer) {
  return claim.owner + ":" + std::to_string(claim.attempt) + ":" + static_cast<char>(answer);
}

}  // namespace

void purge(Dated& dated, std::int64_t limit) {
  std::erase_if(dated, [limit](const auto& entry) { return entry.second <= limit; });
}

bool answered(const Record& record, const Claim& claim, Answer answer, ServerTime now) {
  const auto at = record.answers.find(key_of(claim, answer));
  return at != record.answers.end() && now.us < at->second;
}

void remember(Record& record, const Claim& claim, Answer answer, ServerTime now, Micros ttl) {
  purge(record.answers, now.us);
  record.answers[key_of(claim, answer)] = (now + std::max(kAnswerMemory, 2 * ttl)).us;
  date_record(record, now);
}

void date_record(Record& record, ServerTime now) {
  if (record.state != HoldState::none) record.day = now.us / kDayUs;
}

void count(Record& record, const std::string& job, std::string_view name, std::int64_t by) {
  record.jobs[job].values[std::string(name)] += by;
}

void stamp(Record& record, const std::string& job, std::string_view name, ServerTime now) {
  record.jobs[job].values[std::string(name)] = now.us;
}

void count_wait(Record& record, const std::string& job, Millis waited) {
  count(record, job, "wait_" + std::to_string(bucket_of(kWaitBucketsMs, waited.count())));
  count(record, job, "wait_ms", waited.count());
}

void count_hold(Record& record, const std::string& job, Millis held) {
  count(record, job, "hold_" + std::to_string(bucket_of(kHoldBucketsMs, held.count())));
  count(record, job, "hold_ms", held.count());
}

std::int64_t open_grants(const Record& record, const std::string& job) {
  const auto at = record.jobs.find(job);
  if (at == record.jobs.end()) return 0;
  const Counters& c = at->second;
  return c.get("acquired") - c.get("released") - c.get("stolen") - c.get("revoked");
}

}  // namespace cronlatch::rules
