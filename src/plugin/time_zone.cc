// SPDX-License-Identifier: Apache-2.0
// Reads TZif without trusting a length in it.
#include "plugin/time_zone.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "core/text.h"

namespace cronlatch::plugin {
namespace {

constexpr std::int64_t kHour = 3'600, kDay = 86'400;
constexpr std::size_t kLargest = 1U << 20;
constexpr std::size_t kMost = 100'000;  // changes of one zone; files have some hundreds

// ---- the file ----

class Bytes {
 public:
  explicit Bytes(std::string_view text) : text_(text) {}
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

std::optional<Header> read_header(Bytes& bytes) {
  if (bytes.take(4) != "TZif") return std::nullopt;
  Header header;
  const std::string_view version = bytes.take(1);
  header.version = version.empty() ? '\0' : version.front();
  bytes.take(15);
  for (std::size_t* const count : {&header.utc_marks, &header.standard_marks, &header.leaps,
                                   &header.times, &header.types, &header.letters}) {
    const std::int64_t value = bytes.number(4);
    if (value < 0 || static_cast<std::size_t>(value) > kMost) return std::nullopt;
    *count = static_cast<std::size_t>(value);
  }
  if (!bytes.ok()) return std::nullopt;
  return header;
}

std::size_t body_size(const Header& header, std::size_t time_size) {
  return header.times * (time_size + 1) + header.types * 6 + header.letters +
         header.leaps * (time_size + 4) + header.standard_marks + header.utc_marks;
}

bool read_body(Bytes& bytes, const Header& header, std::size_t time_size, Zone& zone) {
  std::vector<std::int64_t> times;
  for (std::size_t i = 0; i < header.times; ++i) times.push_back(bytes.number(time_size));
  const std::string_view indices = bytes.take(header.times);
  std::vector<std::int32_t> offsets;
  for (std::size_t i = 0; i < header.types; ++i) {
    offsets.push_back(static_cast<std::int32_t>(bytes.number(4)));
    bytes.take(2);
  }
  bytes.take(header.letters + header.leaps * (time_size + 4) + header.standard_marks +
             header.utc_marks);
  if (!bytes.ok() || offsets.empty() || !std::is_sorted(times.begin(), times.end())) return false;
  zone.first = offsets.front();
  for (std::size_t i = 0; i < times.size(); ++i) {
    const auto type = static_cast<unsigned char>(indices[i]);
    if (type >= offsets.size()) return false;
    zone.changes.push_back({times[i], offsets[type]});
  }
  return true;
}

// ---- the rule ----

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}
  bool done() const { return text_.empty(); }
  bool eat(char c) {
    if (text_.empty() || text_.front() != c) return false;
    text_.remove_prefix(1);
    return true;
  }
  bool name() {
    const bool bracketed = eat('<');
    std::size_t n = 0;
    const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
    while (n < text_.size() && (bracketed ? text_[n] != '>' : letter(text_[n]))) ++n;
    text_.remove_prefix(n);
    return n >= 3 && (!bracketed || eat('>'));
  }
  std::optional<int> digits() {
    int value = 0;
    std::size_t n = 0;
    for (; n < text_.size() && n < 4 && text_[n] >= '0' && text_[n] <= '9'; ++n)
      value = value * 10 + (text_[n] - '0');
    text_.remove_prefix(n);
    if (n == 0) return std::nullopt;
    return value;
  }
  // [+-]h[:m[:s]] in seconds.
  std::optional<std::int64_t> time() {
    const bool minus = eat('-');
    if (!minus) eat('+');
    const auto hours = digits();
    if (!hours) return std::nullopt;
    std::int64_t seconds = *hours * kHour;
    for (const std::int64_t unit : {std::int64_t{60}, std::int64_t{1}}) {
      if (!eat(':')) break;
      const auto part = digits();
      if (!part) return std::nullopt;
      seconds += *part * unit;
    }
    return minus ? -seconds : seconds;
  }
  std::optional<YearlyRule::Day> day() {
    using Kind = YearlyRule::Day::Kind;
    YearlyRule::Day day;
    if (eat('M')) {
      day.kind = Kind::weekday_of_month;
      const auto month = digits();
      const auto week = eat('.') ? digits() : std::nullopt;
      const auto weekday = eat('.') ? digits() : std::nullopt;
      if (!month || !week || !weekday || *month < 1 || *month > 12 || *week < 1 || *week > 5 ||
          *weekday > 6)
        return std::nullopt;
      day.month = *month;
      day.week = *week;
      day.day = *weekday;
    } else {
      day.kind = eat('J') ? Kind::julian : Kind::zero_based;
      const auto number = digits();
      if (!number || *number > 366) return std::nullopt;
      day.day = *number;
    }
    if (!eat('/')) return day;
    const auto at = time();
    if (!at) return std::nullopt;
    day.time = *at;
    return day;
  }

 private:
  std::string_view text_;
};

// Seconds since 1970 by the wall clock of the place.
std::int64_t change_in(const YearlyRule::Day& rule, int year) {
  using namespace std::chrono;
  const auto y = std::chrono::year{year};
  sys_days date{};
  switch (rule.kind) {
    case YearlyRule::Day::Kind::weekday_of_month: {
      const auto m = month{static_cast<unsigned>(rule.month)};
      const auto wd = weekday{static_cast<unsigned>(rule.day)};
      date = rule.week == 5 ? sys_days{y / m / wd[last]}
                            : sys_days{y / m / wd[static_cast<unsigned>(rule.week)]};
      break;
    }
    case YearlyRule::Day::Kind::julian:  // the 29th of February is never counted
      date =
          sys_days{y / January / 1} + days{rule.day - 1 + (y.is_leap() && rule.day >= 60 ? 1 : 0)};
      break;
    case YearlyRule::Day::Kind::zero_based:
      date = sys_days{y / January / 1} + days{rule.day};
      break;
  }
  return std::int64_t{date.time_since_epoch().count()} * kDay + rule.time;
}

std::int32_t offset_by(const YearlyRule& rule, std::int64_t t) {
  if (!rule.summer) return rule.standard;
  using namespace std::chrono;
  const std::int64_t local = t + rule.standard;
  const std::int64_t day = local >= 0 ? local / kDay : (local - kDay + 1) / kDay;
  const int year = static_cast<int>(year_month_day{sys_days{days{day}}}.year());
  const std::int64_t begin = change_in(rule.begin, year) - rule.standard;
  const std::int64_t end = change_in(rule.end, year) - *rule.summer;
  const bool summer = begin < end ? t >= begin && t < end : t >= begin || t < end;
  return summer ? *rule.summer : rule.standard;
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
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  if (fd < 0) return "";
  std::string bytes(kLargest, '\0');
  std::size_t size = 0;
  for (ssize_t got = 1; got > 0 && size < kLargest; size += static_cast<std::size_t>(got)) {
    got = read(fd, bytes.data() + size, kLargest - size);
    if (got <= 0) break;
  }
  close(fd);
  bytes.resize(size);
  return bytes;
}

}  // namespace

std::optional<YearlyRule> parse_rule(std::string_view text) {
  Reader reader(text);
  YearlyRule rule;
  if (!reader.name()) return std::nullopt;
  const auto west = reader.time();  // POSIX counts west of Greenwich
  if (!west) return std::nullopt;
  rule.standard = static_cast<std::int32_t>(-*west);
  if (reader.done()) return rule;
  if (!reader.name()) return std::nullopt;
  rule.summer = rule.standard + static_cast<std::int32_t>(kHour);
  if (!reader.eat(',')) {
    const auto summer_west = reader.time();
    if (!summer_west || !reader.eat(',')) return std::nullopt;
    rule.summer = static_cast<std::int32_t>(-*summer_west);
  }
  const auto begin = reader.day();
  if (!begin || !reader.eat(',')) return std::nullopt;
  const auto end = reader.day();
  if (!end || !reader.done()) return std::nullopt;
  rule.begin = *begin;
  rule.end = *end;
  return rule;
}

std::optional<Zone> parse_zone(std::string_view text) {
  Bytes bytes(text);
  auto header = read_header(bytes);
  if (!header) return std::nullopt;
  Zone zone;
  if (header->version < '2') {
    if (!read_body(bytes, *header, 4, zone)) return std::nullopt;
    return zone;
  }
  // The first half is for readers of 32 bits.
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
  return after == changes.begin() ? first : std::prev(after)->offset;
}

Result<Zone> find_zone(const std::string& name, const std::vector<std::string>& directories) {
  if (name.empty() || name == "UTC" || name == "Etc/UTC") return Zone{};
  if (!is_zone_name(name))
    return Error{Code::config, cronlatch::quoted(name) + " is no time zone's name"};
  for (const std::string& directory : directories) {
    const std::string bytes = read_file(directory + "/" + name);
    if (auto zone = parse_zone(bytes)) return *zone;
  }
  return Error{Code::config,
               "time zone " + cronlatch::quoted(name) + " is not known to this machine",
               "its time-zone database (package tzdata) is missing or older; times are in UTC"};
}

}  // namespace cronlatch::plugin
