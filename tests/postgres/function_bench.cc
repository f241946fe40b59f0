// SPDX-License-Identifier: Apache-2.0
#include "function_bench.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "base/kernel_clock.h"

namespace cronlatch::testing {
namespace {

using postgres::QueryResult;
using postgres::Row;

constexpr const char* kPrefix = "p:";

constexpr const char* kTestFunctions = R"(
CREATE OR REPLACE FUNCTION cronlatch.read_clock() RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
  RETURN current_setting('test.now')::bigint;
END $$;

CREATE FUNCTION public.copy_lock(p_lock text, p_from text, p_to text) RETURNS void
  LANGUAGE plpgsql AS $$
DECLARE
  v_from bigint;
  v_to bigint;
BEGIN
  DELETE FROM cronlatch.locks WHERE prefix = p_to AND lock = p_lock;
  SELECT id INTO v_from FROM cronlatch.locks WHERE prefix = p_from AND lock = p_lock;
  IF v_from IS NULL THEN RETURN; END IF;
  INSERT INTO cronlatch.locks (prefix, lock, state, owner, attempt, holder, job, attempt_group, once,
      fence, stole, acquired, expires, ttl, min_hold, born, used_day, group_count, turn_owner,
      turn_until, slots)
    SELECT p_to, lock, state, owner, attempt, holder, job, attempt_group, once, fence, stole,
      acquired, expires, ttl, min_hold, born, used_day, group_count, turn_owner, turn_until, slots
      FROM cronlatch.locks WHERE id = v_from
    RETURNING id INTO v_to;
  INSERT INTO cronlatch.slots SELECT v_to, slot, state, owner, attempt, holder, job, attempt_group,
      once, fence, stole, acquired, expires, ttl, min_hold, turn_owner, turn_until
    FROM cronlatch.slots WHERE lock_id = v_from;
  INSERT INTO cronlatch.counters SELECT v_to, job, name, value
    FROM cronlatch.counters WHERE lock_id = v_from;
  INSERT INTO cronlatch.groups SELECT v_to, name, kept FROM cronlatch.groups WHERE lock_id = v_from;
  INSERT INTO cronlatch.done SELECT v_to, job, once, finished
    FROM cronlatch.done WHERE lock_id = v_from;
  INSERT INTO cronlatch.answers SELECT v_to, owner, attempt, answer, kept
    FROM cronlatch.answers WHERE lock_id = v_from;
  INSERT INTO cronlatch.queue SELECT v_to, owner, ticket, asked
    FROM cronlatch.queue WHERE lock_id = v_from;
END $$)";

constexpr std::pair<const char*, rules::HoldState> kStates[] = {
    {"none", rules::HoldState::none},       {"free", rules::HoldState::free},
    {"held", rules::HoldState::held},       {"revoked", rules::HoldState::revoked},
    {"cooling", rules::HoldState::cooling},
};

// From the column after the letter of the row on.
rules::Slot slot_of(const Row& row) {
  const auto text = [&](std::size_t i) { return row.at(i).value_or(""); };
  const auto number = [&](std::size_t i) { return std::stoll(text(i)); };
  rules::Slot slot;
  for (const auto& [name, state] : kStates)
    if (text(1) == name) slot.state = state;
  // A slot without a grant: its lock has other data.
  if (slot.state != rules::HoldState::none)
    slot.claim = {text(2), static_cast<std::uint32_t>(number(3))};
  slot.identity = {text(4), text(5), text(6), text(7)};
  slot.fence = static_cast<Fence>(number(8));
  slot.stole = static_cast<Fence>(number(9));
  slot.acquired = {number(10)};
  slot.expires = {number(11)};
  slot.ttl = Micros(number(12));
  slot.min_hold = Micros(number(13));
  if (!text(14).empty()) slot.turn = rules::Turn{text(14), {number(15)}};
  return slot;
}

std::string quoted_sql(const std::string& text) { return "'" + text + "'"; }

}  // namespace

FunctionBench::FunctionBench() {
  postgres::LinkConfig config;
  config.target.hosts = {{"127.0.0.1", static_cast<std::uint16_t>(server_->port())}};
  config.target.database = "cronlatch";
  config.target.sslmode = SslMode::disable;
  config.user = "postgres";
  link_ = std::make_unique<postgres::Link>(std::move(config), postgres::Purpose::schema);
  sql(kTestFunctions);
}

std::vector<QueryResult> FunctionBench::execute(const std::string& messages, std::size_t answers) {
  auto taken = link_->execute([&] { return messages; }, answers, boot_now() + Seconds(60));
  if (!taken) {
    ADD_FAILURE() << taken.error().message;
    return std::vector<QueryResult>(answers);
  }
  for (const QueryResult& answer : *taken)
    if (answer.error) ADD_FAILURE() << answer.error->text;
  return std::move(*taken);
}

std::vector<Row> FunctionBench::sql(const std::string& text) {
  return execute(postgres::simple_query(text), 1).front().rows;
}

postgres::DecodedRow FunctionBench::send(const Request& request, ServerTime not_after) {
  const auto answers = execute(
      postgres::simple_query("SET test.now = " + std::to_string(now.us)) +
          postgres::encode(request, kPrefix, not_after, Millis(60'000), postgres::kSchemaVersion) +
          postgres::simple_query(read_record()),
      1 + postgres::kVerbAnswers + 1);
  parse_record(answers.back().rows);
  return postgres::decode(request, answers[2].rows);
}

Revoked FunctionBench::revoke() {
  const auto answers =
      execute(postgres::simple_query("SET test.now = " + std::to_string(now.us)) +
                  postgres::encode_revoke(lock, kPrefix, now + Seconds(60), Millis(60'000)) +
                  postgres::simple_query(read_record()),
              1 + postgres::kVerbAnswers + 1);
  parse_record(answers.back().rows);
  const auto revoked = postgres::decode_revoke(answers[2].rows);
  EXPECT_TRUE(revoked.ok());
  return revoked ? *revoked : Revoked{};
}

std::string FunctionBench::read_record() const {
  const std::string of_lock =
      " WHERE lock_id = (SELECT id FROM cronlatch.locks WHERE prefix = 'p:' AND lock = " +
      quoted_sql(lock) + ")";
  const std::string grant =
      "state, owner, attempt, holder, job, attempt_group, once, fence, stole, acquired, expires, "
      "ttl, min_hold, turn_owner, turn_until";
  std::string text = "SELECT 'l', " + grant +
                     ", born, group_count, slots FROM cronlatch.locks "
                     "WHERE prefix = 'p:' AND lock = " +
                     quoted_sql(lock) + "; SELECT 's', " + grant + " FROM cronlatch.slots" +
                     of_lock +
                     " ORDER BY slot; SELECT 'c', job, name, value FROM cronlatch.counters" +
                     of_lock + "; SELECT 'q', owner, ticket, asked FROM cronlatch.queue" + of_lock;
  if (read_sets)
    text += "; SELECT 'g', name, kept FROM cronlatch.groups" + of_lock +
            "; SELECT 'd', job, once, finished FROM cronlatch.done" + of_lock +
            "; SELECT 'a', owner, attempt, answer, kept FROM cronlatch.answers" + of_lock;
  return text;
}

void FunctionBench::parse_record(const std::vector<Row>& rows) {
  record_ = {};
  std::size_t groups = 0, slots = 0;
  Fence highest_of_row = 0;
  for (const Row& row : rows) {
    const auto text = [&](std::size_t i) { return row.at(i).value_or(""); };
    const auto number = [&](std::size_t i) { return std::stoll(text(i)); };
    switch (text(0)[0]) {
      case 'l':
        record_.slots = static_cast<unsigned>(number(18));
        EXPECT_EQ(text(1) == "several", record_.slots > 1);
        if (record_.slots == 1) static_cast<rules::Slot&>(record_) = slot_of(row);
        highest_of_row = static_cast<Fence>(number(8));
        record_.born = {number(16)};
        groups = static_cast<std::size_t>(number(17));
        break;
      case 's':
        if (++slots == 1)
          static_cast<rules::Slot&>(record_) = slot_of(row);
        else
          record_.more.push_back(slot_of(row));
        break;
      case 'q':
        record_.queue[text(1)] = number(2);
        record_.asked[text(1)] = number(3);
        break;
      case 'c':
        record_.jobs[text(1)].values[text(2)] = number(3);
        break;
      case 'g':
        record_.groups[text(1)] = number(2);
        break;
      case 'd':
        record_.once[text(1)][text(2)] = number(3);
        break;
      case 'a':
        record_.answers[text(1) + ":" + text(2) + ":" + text(3)] = number(4);
        break;
      default:
        ADD_FAILURE() << "unknown row " << text(0);
    }
  }
  EXPECT_EQ(slots, record_.slots == 1 ? 0 : record_.slots);
  Fence highest = record_.fence;
  for (const rules::Slot& slot : record_.more) highest = std::max(highest, slot.fence);
  EXPECT_EQ(highest_of_row, highest) << "the highest fence of the lock";
  if (read_sets) {
    EXPECT_EQ(groups, record_.groups.size());
  }
}

void FunctionBench::lose_all() {
  sql("DELETE FROM cronlatch.locks WHERE prefix = 'p:' AND lock = " + quoted_sql(lock));
}

void FunctionBench::lose_record() {
  sql("DELETE FROM cronlatch.slots WHERE lock_id = (SELECT id FROM cronlatch.locks WHERE "
      "prefix = 'p:' AND lock = " +
      quoted_sql(lock) + ")");
  sql("UPDATE cronlatch.locks SET state = 'none', owner = '', attempt = 0, holder = '', job = '', "
      "attempt_group = '', once = '', fence = 0, stole = 0, acquired = 0, expires = 0, ttl = 0, "
      "min_hold = 0, born = 0, slots = 1, turn_owner = '', turn_until = 0 WHERE prefix = 'p:' AND "
      "lock = " +
      quoted_sql(lock));
}

void FunctionBench::save() { sql("SELECT public.copy_lock(" + quoted_sql(lock) + ", 'p:', 's:')"); }
void FunctionBench::restore() {
  sql("SELECT public.copy_lock(" + quoted_sql(lock) + ", 's:', 'p:')");
}

}  // namespace cronlatch::testing
