// SPDX-License-Identifier: Apache-2.0
#include "support/base_backup.h"

#include <filesystem>
#include <fstream>
#include <string_view>

#include "support/superuser.h"

namespace cronlatch::testing {
namespace {

namespace fs = std::filesystem;

// Of the running server only.
bool is_left_out(const fs::path& path) {
  return path.filename() == "postmaster.pid" || path.filename() == "postmaster.opts" ||
         path.parent_path().filename() == "pg_stat_tmp" ||
         path.parent_path().filename() == "pg_replslot";
}

// The server changes files while they are copied, and deletes some: its log has what is missing.
std::string copy(const fs::path& from, const fs::path& to) {
  std::error_code error;
  fs::create_directory(to, from, error);
  for (const auto& entry : fs::recursive_directory_iterator(from)) {
    if (is_left_out(entry.path())) continue;
    const fs::path copied = to / entry.path().lexically_relative(from);
    if (entry.is_directory(error))
      fs::create_directory(copied, entry.path(), error);
    else
      fs::copy_file(entry.path(), copied, error);
    if (error && error != std::errc::no_such_file_or_directory)
      return copied.string() + ": " + error.message();
  }
  return "";
}

// The functions have other names since PostgreSQL 15.
struct Statements {
  const char* start;
  const char* stop;
};
constexpr Statements kBefore15 = {"SELECT pg_start_backup('standby', true, false)",
                                  "SELECT labelfile FROM pg_stop_backup(false, false)"};
constexpr Statements kSince15 = {"SELECT pg_backup_start('standby', true)",
                                 "SELECT labelfile FROM pg_backup_stop(false)"};

}  // namespace

std::string copy_as_standby(int port, const std::string& from, const std::string& to,
                            const std::string& name) {
  Superuser session(port, "postgres");
  const auto version = session("SHOW server_version_num");
  if (!version) return version.error().message;
  const Statements& backup =
      std::stoi((*version)[0][0].value_or("0")) < 150'000 ? kBefore15 : kSince15;
  if (const auto started = session(backup.start); !started) return started.error().message;
  if (std::string failed = copy(from, to); !failed.empty()) return failed;
  const auto stopped = session(backup.stop);
  if (!stopped) return stopped.error().message;
  std::ofstream(to + "/backup_label") << (*stopped)[0][0].value_or("");
  std::ofstream(to + "/standby.signal");
  std::ofstream(to + "/postgresql.auto.conf", std::ios::app)
      << "primary_conninfo = 'host=127.0.0.1 port=" << port
      << " user=postgres application_name=" << name << "'\n";
  return "";
}

}  // namespace cronlatch::testing
