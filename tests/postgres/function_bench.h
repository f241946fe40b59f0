// SPDX-License-Identifier: Apache-2.0
// FunctionBench: the functions of the schema on a real server, called through the codec, in virtual
// time: the test replaces cronlatch.read_clock().
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "store/postgres/link.h"
#include "store/postgres/verb_codec.h"
#include "store/rules.h"
#include "support/postgres_server.h"

namespace cronlatch::testing {

class FunctionBench {
 public:
  FunctionBench();

  ServerTime now{1'763'690'000'000'000};  // what the functions read as the time
  std::string lock = "ns/name";
  bool read_sets = true;  // false: record() has no groups, run identities and answers

  void pass(Micros d) { now = now + d; }
  postgres::DecodedRow send(const Request& request, ServerTime not_after);
  Revoked revoke();
  // All data of the lock on the server, as the last call left it.
  const rules::Record& record() const { return record_; }

  // Deletes all data of the lock, or only its record, without the counters and the memory.
  void lose_all();
  void lose_record();
  // Remembers all data of the lock; goes back to it.
  void save();
  void restore();
  std::vector<postgres::Row> sql(const std::string& text);

 private:
  std::vector<postgres::QueryResult> execute(const std::string& messages, std::size_t answers);
  std::string read_record() const;
  void parse_record(const std::vector<postgres::Row>& rows);

  std::unique_ptr<PostgresServer> server_ = PostgresServer::start();
  std::unique_ptr<postgres::Link> link_;
  rules::Record record_;
};

}  // namespace cronlatch::testing
