// SPDX-License-Identifier: Apache-2.0
// Writes the families of the metric table. All series of one family stand together, as the format
// demands.
#include "core/metrics_text.h"

#include <charconv>
#include <cstdio>
#include <optional>
#include <set>
#include <span>

#include "core/metrics_table.h"
#include "core/overloaded.h"

namespace cronlatch {
namespace {

std::string escape(std::string_view value) {
  std::string out;
  for (const char c : value) {
    if (c == '\\' || c == '"') out += '\\';
    if (c == '\n')
      out += "\\n";
    else
      out += c;
  }
  return out;
}

std::string pair_of(std::string_view name, std::string_view value) {
  return std::string(name) + "=\"" + escape(value) + '"';
}

// A decimal fraction without trailing zeros: 1500 of 1000 is "1.5". Never in floating point, which
// would round counts.
std::string decimal(std::int64_t value, std::int64_t unit, int digits) {
  char text[48];
  std::snprintf(text, sizeof text, "%lld.%0*lld", static_cast<long long>(value / unit), digits,
                static_cast<long long>(value % unit));
  std::string out = text;
  out.erase(out.find_last_not_of('0') + 1);
  if (out.back() == '.') out.pop_back();
  return out;
}
std::string seconds(Millis d) { return decimal(d.count(), 1'000, 3); }
std::string seconds(ServerTime t) { return decimal(t.us, 1'000'000, 6); }

void head(std::string& out, const Metric& metric) {
  out += "# HELP " + std::string(metric.name) + ' ' + std::string(metric.help) + '\n';
  out += "# TYPE " + std::string(metric.name) + ' ' + std::string(name_of(metric.type)) + '\n';
}

void sample(std::string& out, std::string_view name, const std::string& labels,
            const std::string& value) {
  out += name;
  out += '{' + labels + "} " + value + '\n';
}

bool lease_lives(const LockView& view) {
  switch (view.state) {
    case LockState::held:
      return true;
    case LockState::revoked:  // until its holder lets go, or the lease passes
      return view.expires > view.now;
    case LockState::free:
    case LockState::expired:
    case LockState::cooling:
      return false;
  }
  return false;
}

std::optional<std::string> time_text(ServerTime t) {
  if (t.us == 0) return std::nullopt;
  return seconds(t);
}

std::optional<std::string> gauge_text(Gauge gauge, const LockView& view, const std::string& job,
                                      const Counters& counters) {
  const bool ours = view.who.job == job;
  switch (gauge) {
    case Gauge::held:
      return ours && lease_lives(view) ? "1" : "0";
    case Gauge::open:
      return ours && view.open() ? "1" : "0";
    case Gauge::acquired_at:
      return ours ? time_text(view.acquired) : std::nullopt;
    case Gauge::expires_at:
      return ours && (view.open() || lease_lives(view)) ? time_text(view.expires) : std::nullopt;
    case Gauge::last_success:
      return time_text({counters.get("last_success")});
    case Gauge::last_skip:
      return time_text({counters.get("last_skip")});
  }
  return std::nullopt;
}

void histogram(std::string& out, std::string_view name, const std::string& labels,
               const HistogramSource& source, const Counters& counters) {
  const std::string prefix = std::string(source.counter) + '_';
  const std::string bucket = std::string(name) + "_bucket";
  std::int64_t below = 0;
  for (std::size_t i = 0; i <= source.bounds_ms.size(); ++i) {
    below += counters.get(prefix + std::to_string(i));
    const std::string bound =
        i == source.bounds_ms.size() ? "+Inf" : seconds(Millis(source.bounds_ms[i]));
    sample(out, bucket, labels + ',' + pair_of("le", bound), std::to_string(below));
  }
  sample(out, std::string(name) + "_sum", labels, seconds(Millis(counters.get(prefix + "ms"))));
  sample(out, std::string(name) + "_count", labels, std::to_string(below));
}

void series_of_job(std::string& out, const Metric& metric, const LockView& view,
                   const std::string& job, const Counters& counters) {
  const std::string labels = render(SeriesLabels{job, view.lock});
  std::visit(Overloaded{[](std::monostate) {},
                        [&](std::span<const CounterSeries> series) {
                          for (const CounterSeries& s : series)
                            sample(out, metric.name,
                                   s.label_value.empty()
                                       ? labels
                                       : labels + ',' + pair_of(metric.label, s.label_value),
                                   std::to_string(counters.get(s.counter)));
                        },
                        [&](Gauge gauge) {
                          if (const auto text = gauge_text(gauge, view, job, counters))
                            sample(out, metric.name, labels, *text);
                        },
                        [&](const HistogramSource& source) {
                          histogram(out, metric.name, labels, source, counters);
                        }},
             metric.source);
}

}  // namespace

std::string render(const SeriesLabels& labels) {
  const std::string_view job = labels.job;
  // A leading slash belongs to the name, or "/a" and "a" would be the same series.
  const std::size_t slash = job.find('/') == 0 ? std::string_view::npos : job.find('/');
  const bool split = slash != std::string_view::npos;
  return pair_of("namespace", split ? job.substr(0, slash) : "") + ',' +
         pair_of("cronjob", split ? job.substr(slash + 1) : job) + ',' +
         pair_of("lock", labels.lock);
}

std::string ledger_metrics(const std::vector<LockView>& views) {
  std::string out;
  for (const Metric& metric : metric_table()) {
    if (metric.exporter != Exporter::ledger || views.empty()) continue;
    head(out, metric);
    for (const LockView& view : views) {
      for (const auto& [job, counters] : view.jobs) series_of_job(out, metric, view, job, counters);
      // A record without counters still has a holder.
      if (!view.jobs.contains(view.who.job) && view.acquired.us != 0)
        series_of_job(out, metric, view, view.who.job, Counters{});
    }
  }
  return out;
}

std::string run_error_metrics(const RunErrors& errors) {
  std::string out;
  if (errors.empty()) return out;
  for (const Metric& metric : metric_table())
    if (metric.name == kRunErrors) head(out, metric);
  for (const auto& [labels, count] : errors) sample(out, kRunErrors, labels, std::to_string(count));
  return out;
}

MetricsFile parse_metrics_file(std::string_view text) {
  MetricsFile file;
  const std::string start = std::string(kRunErrors) + '{';
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text = end == std::string_view::npos ? "" : text.substr(end + 1);
    const std::size_t close = line.rfind("} ");
    if (line.starts_with(start) && close != std::string_view::npos) {
      std::int64_t count = 0;
      const char* number = line.data() + close + 2;
      const auto read = std::from_chars(number, line.data() + line.size(), count);
      if (read.ec == std::errc() && count >= 0)
        file.errors[std::string(line.substr(start.size(), close - start.size()))] = count;
    } else if (!line.empty() && line.find(kRunErrors) == std::string_view::npos) {
      file.ledger += std::string(line) + '\n';
    }
  }
  return file;
}

}  // namespace cronlatch
