// SPDX-License-Identifier: Apache-2.0
// A real server of which one verb returns an error.
#pragma once

#include <memory>
#include <string>

#include "support/postgres_server.h"

namespace cronlatch::testing {

// Each verb reads the clock after it has locked the row of the lock.
inline constexpr const char* kRaise = R"(
CREATE TABLE public.raised (verb text, state text);
GRANT SELECT ON public.raised TO cronlatch_owner;
CREATE OR REPLACE FUNCTION cronlatch.read_clock() RETURNS bigint LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  v_state text;
BEGIN
  SELECT r.state INTO v_state FROM public.raised r
    WHERE current_query() LIKE '%cronlatch.' || r.verb || '(%';
  IF v_state = 'ends' THEN PERFORM pg_terminate_backend(pg_backend_pid()); END IF;
  IF FOUND THEN RAISE EXCEPTION 'text of the server' USING ERRCODE = v_state; END IF;
  RETURN round(extract(epoch FROM clock_timestamp()) * 1000000)::bigint;
END $$)";

class Raising {
 public:
  Raising() : server_(PostgresServer::start()) { (*server_)(kRaise); }
  const PostgresServer& server() const { return *server_; }
  void raise(const std::string& verb, const std::string& state) const {
    stop();
    (*server_)("INSERT INTO public.raised VALUES ('" + verb + "', '" + state + "')");
  }
  void stop() const { (*server_)("TRUNCATE public.raised"); }
  // All that a request can change.
  std::string content() const {
    std::string rows;
    for (const char* table : {"locks", "counters", "groups", "done", "answers", "queue", "slots"})
      rows += server_->value(
                  "SELECT coalesce(string_agg(t::text, ' ' ORDER BY t::text), '') FROM "
                  "cronlatch." +
                  std::string(table) + " t") +
              "\n";
    return rows;
  }
  // The newest session of a run.
  std::string session() const {
    return server_->value(
        "SELECT pid FROM pg_stat_activity WHERE usename = 'cron' ORDER BY backend_start DESC "
        "LIMIT 1");
  }

 private:
  std::unique_ptr<PostgresServer> server_;
};

inline Raising& raising() {
  static Raising shared;
  return shared;
}

}  // namespace cronlatch::testing
