// SPDX-License-Identifier: Apache-2.0
// The part of HTTP/1.1 that one POST needs, over the store's connections
// (store/redis/connection.h): names by c-ares, staggered dialing, TLS in memory, nothing that
// blocks without a deadline.
#include "cli/metrics_push.h"

#include <charconv>
#include <optional>

#include "base/kernel_clock.h"
#include "base/text.h"
#include "store/redis/connection.h"
#include "store/redis/resolver.h"
#include "store/redis/wait.h"

namespace cronlatch {
namespace {

constexpr std::size_t kMaxResponse = 65'536;
constexpr std::size_t kMaxShown = 200;
constexpr std::string_view kHeadEnd = "\r\n\r\n";

std::string without_final_dot(std::string name) {
  if (name.ends_with('.')) name.pop_back();
  return name;
}

redis::TlsSettings tls_of(const Options& options, const PushUrl& url) {
  redis::TlsSettings tls;
  tls.where = url.where();
  tls.name = without_final_dot(url.host);
  tls.ca = options.tls_ca;
  tls.cert = options.tls_cert;
  tls.key = options.tls_key;
  tls.skip_verify = options.tls_skip_verify;
  return tls;
}

// Removes the prefix of the connection's errors, which names Redis.
Error push_error(const Error& error, const PushUrl& url) {
  const std::string prefix = "redis at " + url.where() + ": ";
  std::string message = error.message;
  if (message.starts_with(prefix)) message = message.substr(prefix.size());
  return {error.code, "cannot push metrics to " + url.where() + ": " + message,
          "check that metrics-push is the URL of a Pushgateway"};
}

// Waits for an event, then continues the connection.
void wait_and_step(redis::Connection& link, TimePoint give_up) {
  PollSet set;
  link.watch(set);
  set.wake_by(give_up);
  redis::wait_for_events(set);
  link.step(set, boot_now());
}

std::string_view body_of(std::string_view received) {
  const std::size_t head = received.find(kHeadEnd);
  return head == std::string_view::npos ? "" : received.substr(head + kHeadEnd.size());
}

}  // namespace

std::vector<Push> pushes_of(std::string_view lock_stats, std::string_view errors,
                            const std::string& lock, const std::string& host,
                            LockStatsScope lock_stats_of) {
  const PushGroup of_lock = {{"job", "cronlatch"}, {"lock", lock}};
  const PushGroup of_host = {{"job", "cronlatch"}, {"instance", host}, {"lock", lock}};
  std::vector<Push> pushes;
  if (lock_stats_of == LockStatsScope::this_host) {
    pushes.push_back({of_host, std::string(lock_stats) + std::string(errors)});
  } else {
    pushes.push_back({of_lock, std::string(lock_stats)});
    pushes.push_back({of_host, std::string(errors)});
  }
  std::erase_if(pushes, [](const Push& push) { return push.text.empty(); });
  return pushes;
}

std::string push_request(const PushUrl& url, const Push& push) {
  // POST replaces metrics of the same name and keeps the others; PUT would delete
  // the other metrics of the group.
  return "POST " + push_path(url, push.group) + " HTTP/1.1\r\nHost: " + url.where() +
         "\r\nUser-Agent: cronlatch/" CRONLATCH_VERSION
         "\r\nContent-Type: text/plain; version=0.0.4\r\nContent-Length: " +
         std::to_string(push.text.size()) + "\r\nConnection: close\r\n\r\n" + push.text;
}

std::optional<Status> parse_push_response(std::string_view received) {
  const std::size_t line_end = received.find("\r\n");
  if (line_end == std::string_view::npos) {
    if (received.size() < kMaxResponse &&
        std::string_view("HTTP/1.").starts_with(received.substr(0, 7)))
      return std::nullopt;
    return Status(Error{Code::unreachable, "the response is not HTTP"});
  }
  const std::string_view line = received.substr(0, line_end);
  int code = 0;
  if (!line.starts_with("HTTP/1.") || line.size() < 12 ||
      std::from_chars(line.data() + 9, line.data() + 12, code).ec != std::errc())
    return Status(Error{Code::unreachable, "the response is not HTTP"});
  if (code >= 200 && code < 300) return Status(Done{});
  // The reason is in the body, which ends with the connection.
  if (received.find(kHeadEnd) == std::string_view::npos) return std::nullopt;
  const std::string_view body = body_of(received);
  if (body.find('\n') == std::string_view::npos && body.size() < kMaxResponse) return std::nullopt;
  return Status(
      Error{Code::unreachable, "the response was " + printable(line.substr(9), 60) + ": " +
                                   printable(body.substr(0, body.find('\n')), kMaxShown)});
}

Status push_metrics(const Options& options, const PushUrl& url, const Push& push,
                    TimePoint give_up) {
  redis::Resolver resolver(url.host, url.port, {});
  std::vector<redis::Address> failed;
  std::optional<redis::TlsContext> tls;
  if (url.tls) tls.emplace(tls_of(options, url));
  redis::Connection link(resolver, failed, tls ? &*tls : nullptr, url.where(), boot_now());
  link.step(PollSet{}, boot_now());
  std::string received;
  bool sent = false;
  while (true) {
    if (link.is_open() && !sent) {
      link.write(push_request(url, push));
      sent = true;
    }
    link.flush();
    received += link.read();
    if (const auto answer = received.empty() ? std::nullopt : parse_push_response(received))
      return *answer ? *answer : push_error(answer->error(), url);
    if (link.failure()) {
      const bool answered = received.find(kHeadEnd) != std::string::npos;
      // An error without a newline: the end of the connection ends the body.
      const auto answer = answered ? parse_push_response(received + '\n') : std::nullopt;
      return push_error(answer && !*answer ? answer->error() : link.failure()->error, url);
    }
    if (received.size() > kMaxResponse)
      return push_error({Code::unreachable, "the response is too long"}, url);
    if (boot_now() >= give_up) return push_error(link.timeout_error(), url);
    wait_and_step(link, give_up);
  }
}

}  // namespace cronlatch
