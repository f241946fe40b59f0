// SPDX-License-Identifier: Apache-2.0
// Parses TZif; every length in the file is checked.
#include "cron/time_zone.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>

#include "base/fd.h"
#include "base/text.h"

namespace cronlatch {
namespace {

constexpr std::size_t kMaxFileSize = 1U << 20;
constexpr std::size_t kMaxCount =
    100'000;  // maximum of each count in the header; files have some hundreds

// Seconds east of Greenwich: the range that RFC 8536, section 3.2, gives.
constexpr std::int64_t kMinOffset = -89'999, kMaxOffset = 93'599;

class ByteReader {
 public:
  explicit ByteReader(std::string_view text) : text_(text) {}
  bool ok() const { return ok_; }
  std::string_view take(std::size_t count) {
    if (count > text_.size()) ok_ = false;
    if (!ok_) return {};
    const std::string_view piece = text_.substr(0, count);
    text_.remove_prefix(count);
    return piece;
  }
  std::int64_t number(std::size_t bytes) {
    const std::string_view piece = take(bytes);
    if (!ok_) return 0;
    std::uint64_t value =
        (static_cast<unsigned char>(piece[0]) & 0x80) != 0 ? ~std::uint64_t{0} : 0;
    for (const char c : piece) value = value << 8 | static_cast<unsigned char>(c);
    return static_cast<std::int64_t>(value);
  }
  std::string_view rest() const { return text_; }

 private:
  std::string_view text_;
  bool ok_ = true;
};

struct Header {
  char version = 0;
  std::size_t utc_marks = 0, standard_marks = 0, leaps = 0, times = 0, types = 0, letters = 0;
};

std::optional<Header> read_header(ByteReader& bytes) {
  if (bytes.take(4) != "TZif") return std::nullopt;
  Header header;
  const std::string_view version = bytes.take(1);
  header.version = version.empty() ? '\0' : version.front();
  bytes.take(15);
  for (std::size_t* const count : {&header.utc_marks, &header.standard_marks, &header.leaps,
                                   &header.times, &header.types, &header.letters}) {
    const std::int64_t value = bytes.number(4);
    if (value < 0 || static_cast<std::size_t>(value) > kMaxCount) return std::nullopt;
    *count = static_cast<std::size_t>(value);
  }
  if (!bytes.ok()) return std::nullopt;
  return header;
}

std::size_t body_size(const Header& header, std::size_t time_size) {
  return header.times * (time_size + 1) + header.types * 6 + header.letters +
         header.leaps * (time_size + 4) + header.standard_marks + header.utc_marks;
}

bool read_body(ByteReader& bytes, const Header& header, std::size_t time_size, Zone& zone) {
  std::vector<std::int64_t> times;
  for (std::size_t i = 0; i < header.times; ++i) times.push_back(bytes.number(time_size));
  const std::string_view indices = bytes.take(header.times);
  std::vector<std::int32_t> offsets;
  for (std::size_t i = 0; i < header.types; ++i) {
    const std::int64_t offset = bytes.number(4);
    if (offset < kMinOffset || offset > kMaxOffset) return false;
    offsets.push_back(static_cast<std::int32_t>(offset));
    bytes.take(2);
  }
  bytes.take(header.letters + header.leaps * (time_size + 4) + header.standard_marks +
             header.utc_marks);
  if (!bytes.ok() || offsets.empty() || !std::is_sorted(times.begin(), times.end())) return false;
  zone.initial_offset = offsets.front();
  for (std::size_t i = 0; i < times.size(); ++i) {
    const auto type = static_cast<unsigned char>(indices[i]);
    if (type >= offsets.size()) return false;
    zone.changes.push_back({times[i], offsets[type]});
  }
  return true;
}

bool is_zone_name(const std::string& name) {
  if (name.size() > 100 || name.starts_with('/') || name.find("..") != std::string::npos)
    return false;
  return std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '/' ||
           c == '_' || c == '-' || c == '+';
  });
}

std::string read_file(const std::string& path) {
  const Fd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  if (!fd) return "";
  std::string bytes(kMaxFileSize, '\0');
  std::size_t size = 0;
  for (ssize_t got = 1; got > 0 && size < kMaxFileSize; size += static_cast<std::size_t>(got)) {
    got = read(fd.get(), bytes.data() + size, kMaxFileSize - size);
    if (got <= 0) break;
  }
  bytes.resize(size);
  return bytes;
}

}  // namespace

std::optional<Zone> parse_zone(std::string_view text) {
  ByteReader bytes(text);
  auto header = read_header(bytes);
  if (!header) return std::nullopt;
  Zone zone;
  if (header->version < '2') {
    if (!read_body(bytes, *header, 4, zone)) return std::nullopt;
    return zone;
  }
  // The first half of the file has 32-bit times.
  bytes.take(body_size(*header, 4));
  header = read_header(bytes);
  if (!header || !read_body(bytes, *header, 8, zone)) return std::nullopt;
  const std::string_view footer = bytes.rest();
  if (footer.size() > 2 && footer.front() == '\n')
    zone.rule = parse_rule(footer.substr(1, footer.find('\n', 1) - 1));
  return zone;
}

std::int32_t Zone::offset_at(std::int64_t t) const {
  const auto after = std::upper_bound(changes.begin(), changes.end(), t,
                                      [](std::int64_t at, const Change& c) { return at < c.at; });
  if (after == changes.end() && rule) return offset_by(*rule, t);
  return after == changes.begin() ? initial_offset : std::prev(after)->offset;
}

Result<Zone> find_zone(const std::string& name, const std::vector<std::string>& directories) {
  if (name.empty() || name == "UTC" || name == "Etc/UTC") return Zone{};
  if (!is_zone_name(name))
    return Error{Code::config, cronlatch::quoted(name) + " is not the name of a time zone"};
  for (const std::string& directory : directories) {
    std::string path = directory;
    path += "/";
    path += name;
    if (auto zone = parse_zone(read_file(path))) return *zone;
  }
  return Error{Code::config,
               "time zone " + cronlatch::quoted(name) + " is not installed on this machine",
               "install or update the time-zone database (package tzdata); times are in UTC"};
}

}  // namespace cronlatch
