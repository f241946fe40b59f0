// SPDX-License-Identifier: Apache-2.0
// The bare wake-up in PostgreSQL: a LISTEN that a second session notifies.
#include <algorithm>

#include "base/kernel_clock.h"
#include "queue_line.h"
#include "queue_server.h"
#include "store/postgres/link.h"
#include "store/redis/wait.h"
#include "support/eventually.h"
#include "support/postgres_server.h"

namespace cronlatch::bench {
namespace {

constexpr Millis kPatience{20'000};

class PostgresForQueue : public QueueServer {
 public:
  PostgresForQueue() {
    server_->set("log_line_prefix", "'%u '");
    execute(sleeper_, "SELECT 1");
    sleeper_.session().listen("bare");
    execute(sleeper_, "SELECT 1");  // the server has executed the LISTEN
  }
  StoreSpec spec() const override { return server_->spec("cron", "?sslmode=disable"); }
  // The test server accepts 60.
  std::size_t max_connections() const override { return 40; }
  double bare_wake_up() override {
    (void)sleeper_.session().take_notification();
    const TimePoint start = boot_now();
    execute(waker_, "NOTIFY bare");
    while (!sleeper_.session().take_notification()) {
      PollSet set;
      sleeper_.watch(set);
      set.wake_by(start + kPatience);
      redis::wait_for_events(set);
      if (sleeper_.step(set, boot_now(), start + kPatience) || boot_now() - start >= kPatience)
        fail("the bare LISTEN was not notified");
    }
    return static_cast<double>(Micros(boot_now() - start).count());
  }
  // A session that was granted the lock has executed UNLISTEN or another statement since.
  bool is_listening() override {
    return server_->value(
               "SELECT count(*) FROM pg_stat_activity WHERE state = 'idle' AND usename = 'cron' "
               "AND query LIKE 'LISTEN%'") == "1";
  }
  int commands_of(const std::function<void()>& prepare,
                  const std::function<void()>& work) override {
    log_statements("'all'");  // each session reads the setting before its next statement
    prepare();
    const std::size_t before = server_->log().size();
    work();
    const std::string log = server_->log().substr(before);
    log_statements("'none'");
    int statements = 0;
    for (const char* kind : {"cron LOG:  statement: ", "cron LOG:  execute "})
      for (std::size_t at = 0; (at = log.find(kind, at)) != std::string::npos; ++at) ++statements;
    return statements;
  }

 private:
  std::unique_ptr<postgres::Link> link() const {
    postgres::LinkConfig config;
    config.target.hosts = {{"127.0.0.1", static_cast<std::uint16_t>(server_->port())}};
    config.target.database = "cronlatch";
    config.target.sslmode = SslMode::disable;
    config.user = "postgres";
    return std::make_unique<postgres::Link>(std::move(config), postgres::Purpose::schema);
  }
  static void execute(postgres::Link& link, const std::string& sql) {
    const auto answers =
        link.execute([&] { return postgres::simple_query(sql); }, 1, boot_now() + kPatience);
    if (!answers) fail(answers.error().message);
    if (answers->front().error) fail(answers->front().error->text);
  }
  void log_statements(const std::string& value) {
    server_->set("log_statement", value);
    if (!testing::eventually(
            [&] { return "'" + server_->value("SHOW log_statement") + "'" == value; }))
      fail("log_statement was not set");
  }

  std::unique_ptr<testing::PostgresServer> server_ = testing::PostgresServer::start();
  std::unique_ptr<postgres::Link> sleeper_link_ = link(), waker_link_ = link();
  postgres::Link &sleeper_ = *sleeper_link_, &waker_ = *waker_link_;
};

}  // namespace

std::unique_ptr<QueueServer> start_postgres_for_queue() {
  return std::make_unique<PostgresForQueue>();
}

}  // namespace cronlatch::bench
