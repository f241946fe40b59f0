// SPDX-License-Identifier: Apache-2.0
#include "support/postgres_server.h"

#include <fcntl.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <pwd.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include "base/kernel_clock.h"
#include "store/postgres/open_postgres.h"
#include "support/base_backup.h"
#include "support/certificates.h"
#include "support/eventually.h"
#include "support/redis_server.h"
#include "support/superuser.h"

namespace cronlatch::testing {
namespace {

namespace fs = std::filesystem;

constexpr auto kStartDeadline = std::chrono::seconds(60);
constexpr auto kPollGap = std::chrono::milliseconds(5);
constexpr int kPortTries = 5;

constexpr const char* kLogins =
    "host all postgres 127.0.0.1/32 trust\n"
    "host replication postgres 127.0.0.1/32 trust\n"
    "hostssl all clear 127.0.0.1/32 password\n"
    "hostssl all old 127.0.0.1/32 md5\n"
    "host all all 127.0.0.1/32 scram-sha-256\n";

constexpr const char* kRoles =
    "CREATE ROLE cronlatch_owner LOGIN CREATEROLE PASSWORD 'secret' IN ROLE pg_read_all_stats;"
    "CREATE ROLE cronlatch_user NOLOGIN;"
    "CREATE ROLE cron LOGIN PASSWORD 'secret' IN ROLE cronlatch_user;"
    "CREATE ROLE clear LOGIN PASSWORD 'secret' IN ROLE cronlatch_user;"
    "CREATE ROLE stranger LOGIN PASSWORD 'secret';"
    "SET password_encryption = 'md5';"
    "CREATE ROLE old LOGIN PASSWORD 'secret' IN ROLE cronlatch_user";

[[noreturn]] void give_up(const std::string& what) {
  std::fprintf(stderr, "%s\n", what.c_str());
  std::abort();
}

fs::path programs() {
  if (const char* given = std::getenv("TEST_POSTGRES_BIN")) return given;
  fs::path newest;
  int version = 0;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator("/usr/lib/postgresql", ignored))
    if (const int found = std::atoi(entry.path().filename().c_str()); found > version) {
      version = found;
      newest = entry.path() / "bin";
    }
  if (version == 0) give_up("no PostgreSQL server: install postgresql-15 or set TEST_POSTGRES_BIN");
  return newest;
}

// The user of the server: null when this program does not run as root.
const passwd* server_user() {
  if (geteuid() != 0) return nullptr;
  const passwd* const user = getpwnam("postgres");
  return user != nullptr ? user : getpwnam("nobody");
}

void own(const std::string& path) {
  const passwd* const user = server_user();
  if (user != nullptr && chown(path.c_str(), user->pw_uid, user->pw_gid) != 0)
    give_up("chown " + path);
}

pid_t spawn(std::vector<std::string> args, const std::string& log) {
  std::vector<char*> argv;
  for (std::string& arg : args) argv.push_back(arg.data());
  argv.push_back(nullptr);
  const passwd* const user = server_user();
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid != 0) return pid;
  const int null = open("/dev/null", O_RDWR);
  const int out = open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0666);
  dup2(null, 0);
  dup2(out, 1);
  dup2(out, 2);
  close_range(3, ~0U, 0);
  if (user != nullptr &&
      (setgroups(0, nullptr) != 0 || setgid(user->pw_gid) != 0 || setuid(user->pw_uid) != 0))
    _exit(126);
  // After the change of the user, which resets it. SIGQUIT ends a server at once, with its
  // children.
  prctl(PR_SET_PDEATHSIG, SIGQUIT);
  if (getppid() != parent) _exit(1);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  if (chdir("/") != 0) _exit(1);
  setenv("LC_ALL", "C.UTF-8", 1);
  execv(argv[0], argv.data());
  _exit(127);
}

std::string make_dir() {
  std::string pattern = (fs::temp_directory_path() / "cronlatch-postgres-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) give_up("mkdtemp");
  own(pattern);
  return pattern;
}

}  // namespace

PostgresServer::PostgresServer() : dir_(make_dir()) {
  use_certificate(certificates().good().cert, certificates().good().key);
}

void PostgresServer::initialize() {
  const pid_t pid = spawn({programs() / "initdb", "-D", dir_ + "/data", "-U", "postgres", "-A",
                           "trust", "-E", "UTF8", "--no-sync", "--wal-segsize=1", "-N"},
                          dir_ + "/log");
  int status = 1;
  waitpid(pid, &status, 0);
  if (status != 0) give_up("initdb failed:\n" + log());
  write("data/pg_hba.conf", kLogins);
}

void PostgresServer::copy_data_of(const PostgresServer& primary, const std::string& name) {
  const std::string data = dir_ + "/data";
  std::error_code ignored;
  fs::remove_all(data, ignored);
  const std::string failed = copy_as_standby(primary.port(), primary.dir() + "/data", data, name);
  if (!failed.empty()) give_up("no copy for the standby: " + failed + "\n" + primary.log());
  own(data);
  for (const auto& entry : fs::recursive_directory_iterator(data)) own(entry.path());
}

const Certificates& PostgresServer::certificates() {
  static const Certificates created;
  return created;
}

std::unique_ptr<PostgresServer> PostgresServer::start_bare() {
  std::unique_ptr<PostgresServer> server(new PostgresServer);
  server->initialize();
  server->launch_or_abort();
  return server;
}

std::unique_ptr<PostgresServer> PostgresServer::start(bool with_schema) {
  auto server = start_bare();
  (*server)(kRoles, "postgres");
  (*server)("CREATE DATABASE cronlatch OWNER cronlatch_owner", "postgres");
  if (!with_schema) return server;
  const auto created =
      postgres::create_schema(server->spec("cronlatch_owner"), boot_now() + Seconds(30));
  if (!created) give_up("store init: " + created.error().message);
  return server;
}

std::unique_ptr<PostgresServer> PostgresServer::start_standby(const PostgresServer& primary,
                                                              const std::string& name) {
  std::unique_ptr<PostgresServer> server(new PostgresServer);
  server->copy_data_of(primary, name);
  server->launch_or_abort();
  return server;
}

void PostgresServer::launch_or_abort() {
  bool runs = false;
  for (int i = 0; i < kPortTries && !runs; ++i) {
    port_ = free_port();
    runs = launch();
  }
  if (!runs) give_up("postgres does not start:\n" + log());
}

PostgresServer& PostgresServer::shared() {
  static const std::unique_ptr<PostgresServer> server = start();
  return *server;
}

PostgresServer::~PostgresServer() {
  end(SIGQUIT);
  std::error_code ignored;
  fs::remove_all(dir_, ignored);
}

void PostgresServer::write(const std::string& name, const std::string& text) {
  const std::string path = dir_ + "/" + name;
  std::ofstream(path) << text;
  own(path);
}

void PostgresServer::install(const std::string& from, const std::string& name) {
  std::ifstream file(from);
  write(name, {std::istreambuf_iterator<char>(file), {}});
  chmod((dir_ + "/" + name).c_str(), 0600);
}

void PostgresServer::use_certificate(const std::string& cert, const std::string& key) {
  install(cert, "cert.pem");
  install(key, "key.pem");
}

bool PostgresServer::launch() {
  std::vector<std::string> args = {programs() / "postgres", "-D", dir_ + "/data"};
  for (const std::string& setting :
       {"port=" + std::to_string(port_), std::string("listen_addresses=127.0.0.1"),
        std::string("unix_socket_directories="), std::string("fsync=off"),
        std::string("full_page_writes=off"), std::string("shared_buffers=16MB"),
        std::string("max_connections=130"), std::string("ssl=on"),
        std::string("password_encryption=scram-sha-256"),  // the default since PostgreSQL 14
        "ssl_cert_file=" + dir_ + "/cert.pem", "ssl_key_file=" + dir_ + "/key.pem"}) {
    args.emplace_back("-c");
    args.push_back(setting);
  }
  pid_ = spawn(std::move(args), dir_ + "/log");
  const auto give_up_at = std::chrono::steady_clock::now() + kStartDeadline;
  while (std::chrono::steady_clock::now() < give_up_at) {
    if (waitpid(pid_, nullptr, WNOHANG) == pid_) {
      pid_ = 0;  // most likely another process took the port
      return false;
    }
    if (answers()) return true;
    std::this_thread::sleep_for(kPollGap);
  }
  end(SIGQUIT);
  return false;
}

// A session that is refused by a standby, or because of a version that is too old, is an answer,
// too.
bool PostgresServer::answers() const {
  const auto found = Superuser(port_, "postgres")("SELECT 1");
  const auto has = [&](const char* text) {
    return found.error().message.find(text) != std::string::npos;
  };
  return found || has("standby") || has("too old");
}

std::vector<postgres::Row> PostgresServer::operator()(const std::string& sql,
                                                      const std::string& database) const {
  auto found = Superuser(port_, database)(sql);
  if (found) return std::move(*found);
  ADD_FAILURE() << sql << ": " << found.error().message;
  return {};
}

std::string PostgresServer::value(const std::string& sql) const {
  const auto rows = (*this)(sql);
  return rows.empty() || rows[0].empty() ? "" : rows[0][0].value_or("");
}

void PostgresServer::set(const std::string& name, const std::string& value) {
  (*this)("ALTER SYSTEM SET " + name + " = " + value);
  (*this)("SELECT pg_reload_conf()");
}

std::string PostgresServer::url(const std::string& user, const std::string& options) const {
  return "postgres://" + user + "@127.0.0.1:" + std::to_string(port_) + "/cronlatch" + options;
}

StoreSpec PostgresServer::spec(const std::string& user, const std::string& options) const {
  StoreSpec spec;
  spec.url = url(user, options);
  spec.password = Secret("secret");
  spec.tls_ca = certificates().ca();
  return spec;
}

void PostgresServer::end(int signo) {
  if (pid_ == 0) return;
  kill(pid_, signo);
  waitpid(pid_, nullptr, 0);
  pid_ = 0;
}

void PostgresServer::stop() { end(SIGINT); }
void PostgresServer::kill_now() { end(SIGQUIT); }

void PostgresServer::restart() {
  end(SIGINT);
  if (!launch()) give_up("postgres does not start again:\n" + log());
}

void PostgresServer::become_standby() {
  stop();
  write("data/standby.signal", "");
  restart();
}

void PostgresServer::follow(const PostgresServer& primary) {
  end(SIGQUIT);
  copy_data_of(primary, kStandby);
  if (!launch()) give_up("the standby does not start:\n" + log());
}

void PostgresServer::require_standby() { set("synchronous_standby_names", kStandby); }

void PostgresServer::await_standby() const {
  if (!eventually([&] {
        return value("SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'") == "1";
      }))
    give_up("no synchronous standby:\n" + log());
}

pid_t PostgresServer::receiver() const {
  const std::string self = std::to_string(pid_);
  std::ifstream children("/proc/" + self + "/task/" + self + "/children");
  for (pid_t child = 0; children >> child;) {
    std::ifstream title("/proc/" + std::to_string(child) + "/cmdline");
    const std::string text{std::istreambuf_iterator<char>(title), {}};
    if (text.find("walreceiver") != std::string::npos) return child;
  }
  return 0;
}

void PostgresServer::pause_receiver() const {
  if (const pid_t found = receiver(); found != 0) kill(found, SIGSTOP);
}

void PostgresServer::kill_receiver() const {
  if (const pid_t found = receiver(); found != 0) kill(found, SIGKILL);
}

// As pg_ctl does it.
void PostgresServer::promote() {
  if (!eventually([&] {
        write("data/promote", "");
        kill(pid_, SIGUSR1);
        return Superuser(port_, "postgres")("SELECT 1").ok();
      }))
    give_up("the standby was not promoted:\n" + log());
}

std::string PostgresServer::log() const {
  std::ifstream file(dir_ + "/log");
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace cronlatch::testing
