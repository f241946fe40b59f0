// SPDX-License-Identifier: Apache-2.0
// Each value is read at each scrape: scrapes are rare, and reading /proc takes microseconds.
#include "operator/metrics/process_metrics.h"

#include <sys/resource.h>
#include <unistd.h>

#include <ctime>
#include <filesystem>
#include <iterator>
#include <optional>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>

#include "kube/access.h"
#include "metrics/metrics_text.h"

namespace cronlatch::op {
namespace {

// "" if the file cannot be read.
std::string text_of(const char* path) {
  auto text = kube::read_small_file(path);
  return text ? std::move(*text) : "";
}

// proc(5): the fields of /proc/self/stat after the command's name, which may contain spaces, start
// with the third; starttime is the 22nd, in clock ticks since boot.
std::optional<double> start_after_boot() {
  const std::string stat = text_of("/proc/self/stat");
  const std::size_t name_ends = stat.rfind(')');
  if (name_ends == std::string::npos) return std::nullopt;
  std::istringstream fields(stat.substr(name_ends + 1));
  std::string skipped;
  for (int field = 3; field < 22; ++field) fields >> skipped;
  double ticks = 0;
  if (!(fields >> ticks)) return std::nullopt;
  return ticks / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

std::optional<double> boot_time() {
  std::istringstream lines(text_of("/proc/stat"));
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("btime ")) return std::stod(line.substr(6));
  return std::nullopt;
}

std::optional<double> start_time() {
  const auto boot = boot_time();
  const auto after = start_after_boot();
  if (!boot || !after) return std::nullopt;
  return *boot + *after;
}

std::optional<double> resident_bytes() {
  std::istringstream pages(text_of("/proc/self/statm"));
  double all = 0, resident = 0;
  if (!(pages >> all >> resident)) return std::nullopt;
  return resident * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

std::optional<double> cpu_seconds() {
  timespec used{};
  if (::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used) != 0) return std::nullopt;
  return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) / 1e9;
}

std::optional<double> open_fds() {
  std::error_code failed;
  auto entry = std::filesystem::directory_iterator("/proc/self/fd", failed);
  if (failed) return std::nullopt;
  const auto entries = std::distance(entry, std::filesystem::directory_iterator());
  return static_cast<double>(entries - 1);  // without the descriptor of this directory
}

std::optional<double> max_fds() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return std::nullopt;
  return static_cast<double>(limit.rlim_cur);
}

void append(std::string& out, std::string_view metric, std::optional<double> value) {
  if (!value) return;
  std::ostringstream number;
  number.precision(15);
  number << *value;
  append_head(out, metric);
  append_sample(out, metric, "", number.str());
}

}  // namespace

void append_process_metrics(std::string& out) {
  append(out, "process_cpu_seconds_total", cpu_seconds());
  append(out, "process_resident_memory_bytes", resident_bytes());
  append(out, "process_open_fds", open_fds());
  append(out, "process_max_fds", max_fds());
  append(out, "process_start_time_seconds", start_time());
}

}  // namespace cronlatch::op
