// SPDX-License-Identifier: Apache-2.0
#include "cli/metrics_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/errno_hint.h"
#include "base/fd.h"
#include "base/text.h"
#include "terminal/stdio.h"

namespace cronlatch {
namespace {

constexpr mode_t kMode = 0644;
constexpr std::size_t kMaxBytes = 4U << 20;  // a larger file was not written by cronlatch

Error io_error(const std::string& what, const std::string& path, int number,
               const std::string& hint) {
  return Error{
      Code::system,
      "cannot " + what + " the metrics file " + quoted(path) + ": " + std::strerror(number), hint};
}

Reason run_error_of(const Outcome& outcome) {
  switch (outcome.kind) {
    case Kind::store_down:
    case Kind::refused:
      return outcome.reason;
    case Kind::usage:
      return Reason::config;
    case Kind::cannot_start:  // fence 0: an error before the first request
      return outcome.fence == 0 ? Reason::exec : Reason::none;
    case Kind::ran:
    case Kind::lost:
    case Kind::timed_out:
      return outcome.reason == Reason::ungated ? Reason::ungated : Reason::none;
    case Kind::skipped:
    case Kind::busy:
    case Kind::interrupted:
      return Reason::none;
  }
  return Reason::none;
}

}  // namespace

std::vector<Reason> run_errors_of(const Outcome& outcome) {
  std::vector<Reason> errors;
  if (const Reason error = run_error_of(outcome); error != Reason::none) errors.push_back(error);
  if (outcome.not_marked) errors.push_back(Reason::not_marked);
  return errors;
}

std::string next_metrics_file(std::string_view old, const std::optional<LockView>& view,
                              const SeriesLabels& labels, std::span<const Reason> run_errors) {
  MetricsFile file = parse_metrics_file(old);
  if (view) file.lock_stats = lock_stats_metrics({*view});
  for (const Reason run_error : run_errors)
    ++file.errors[render(labels) + ",reason=\"" + std::string(name_of(run_error)) + '"'];
  return file.lock_stats + run_error_metrics(file.errors);
}

Result<std::string> read_metrics_file(const std::string& path) {
  // A read from a pipe, for example from /dev/stdout, would take the text from its reader; and
  // rename(2) replaces a device, too: as root, /dev/null of the host.
  struct stat old {};
  if (stat(path.c_str(), &old) == 0 && !S_ISREG(old.st_mode))
    return Error{Code::system,
                 "cannot write the metrics file " + quoted(path) + ": it is not a regular file",
                 "name a file in the directory of node_exporter's textfile collector, or remove "
                 "the option"};
  const Fd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (fd.get() < 0 && errno == ENOENT) return std::string();
  if (fd.get() < 0) return io_error("read", path, errno, file_hint(errno));
  std::string text;
  std::array<char, 16384> buffer;
  while (text.size() < kMaxBytes) {
    const ssize_t got = read(fd.get(), buffer.data(), buffer.size());
    if (got < 0) return io_error("read", path, errno, file_hint(errno));
    if (got == 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
  return io_error("read", path, EFBIG, "cronlatch did not write it: name another file");
}

Status replace_metrics_file(const std::string& path, std::string_view text) {
  // node_exporter reads *.prom: the name must not end so until the text is complete.
  std::string temporary = path + ".XXXXXX";
  const Fd fd(mkostemp(temporary.data(), O_CLOEXEC));
  if (fd.get() < 0) return io_error("write", path, errno, file_hint(errno));
  int failed = write_all(fd.get(), text);
  if (failed == 0 && fchmod(fd.get(), kMode) != 0) failed = errno;
  if (failed == 0 && rename(temporary.c_str(), path.c_str()) != 0) failed = errno;
  if (failed == 0) return Done{};
  unlink(temporary.c_str());
  return io_error("write", path, failed, file_hint(failed));
}

}  // namespace cronlatch
