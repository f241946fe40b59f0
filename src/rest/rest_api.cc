// SPDX-License-Identifier: Apache-2.0
// Parses the answer to a call, or the lines of a watch, with limits on their size.
#include "rest/rest_api.h"

#include <optional>
#include <thread>

#include "base/kernel_clock.h"
#include "base/retry_after.h"
#include "base/text.h"
#include "kube/line_splitter.h"
#include "kube/overload.h"
#include "kube/watch_timing.h"
#include "rest/https_client.h"

namespace cronlatch::kube {
namespace {

using Steady = std::chrono::steady_clock;

constexpr std::size_t kMaxLine = 16U << 20;
constexpr std::size_t kMaxBody = 128U << 20;

// A body that is not JSON was sent by a proxy in front of the API server.
Result<Response> response_of(const HttpsClient::Head& head, std::string_view body,
                             const OnItem& on_item = {}) {
  Response response{head.status};
  response.retry_after = retry_after(head.retry_after, KernelClock().wall());
  if (body.empty()) return response;
  auto parsed = parse_json(body, {.bytes = kMaxBody}, response.ok() ? on_item : OnItem{});
  if (!parsed && response.ok())
    return Error{Code::unreachable, "the API server's answer: " + parsed.error().message};
  response.body = parsed ? std::move(*parsed) : Json{{"message", printable(body, 200)}};
  return response;
}

int code_of(const Json& status) {
  const Json* code = find(status, {"code"});
  return code != nullptr && code->is_number_integer() ? code->get<int>() : 500;
}

}  // namespace

RestApi::RestApi(std::unique_ptr<HttpsClient> client) : client_(std::move(client)) {}
RestApi::~RestApi() = default;

Result<std::unique_ptr<RestApi>> RestApi::open(const ClusterAccess& access) {
  Result<std::unique_ptr<HttpsClient>> client = open_https_client(access);
  if (!client) return client.error();
  return std::unique_ptr<RestApi>(new RestApi(std::move(*client)));
}

Result<Response> RestApi::attempt(const Request& request, Steady::time_point deadline) {
  std::string body;
  bool too_large = false;
  auto head = client_->exchange(request, HttpsClient::Purpose::call, deadline, {},
                                [&](int, std::string_view bytes) {
                                  if (bytes.empty()) body.clear();
                                  too_large = body.size() + bytes.size() > kMaxBody;
                                  if (!too_large) body += bytes;
                                  return !too_large;
                                });
  if (!head) return head.error();
  if (too_large) return Error{Code::unreachable, "the API server's answer is larger than 128 MiB"};
  return response_of(*head, body, request.on_item);
}

Result<Response> RestApi::call(const Request& request) {
  const Steady::time_point deadline = Steady::now() + request.deadline;
  while (true) {
    Result<Response> response = attempt(request, deadline);
    if (!response) return response;
    const Millis pause = overload_pause(*response, [] { return real_random_fraction()(); });
    if (pause == Millis(0) || Steady::now() + pause >= deadline) return response;
    std::this_thread::sleep_for(pause);
  }
}

Result<Response> RestApi::watch(const Request& request,
                                const std::function<void(const WatchEvent&)>& on_event,
                                std::stop_token stop) {
  LineSplitter lines(kMaxLine);
  std::string error_body;               // the body of an answer other than 200
  std::optional<Response> error_event;  // by an ERROR event
  std::optional<Error> parse_error;
  const auto on_line = [&](std::string_view line) {
    auto parsed = parse_json(line, {.bytes = kMaxLine});
    Json* const object = parsed ? find(*parsed, {"object"}) : nullptr;
    if (object == nullptr) {
      parse_error = Error{Code::unreachable, "a line of the watch is not an event"};
      return false;
    }
    WatchEvent event{string_at(*parsed, {"type"}), std::move(*object)};
    if (event.type == "ERROR") {
      error_event = Response{code_of(event.object), std::move(event.object)};
      return false;
    }
    on_event(event);
    return !stop.stop_requested();
  };
  auto head =
      client_->exchange(request, HttpsClient::Purpose::watch, Steady::now() + request.deadline,
                        stop, [&](int code, std::string_view bytes) {
                          if (code == 200) return lines.push(bytes, on_line);
                          if (bytes.empty()) error_body.clear();
                          error_body += bytes;
                          return error_body.size() < kMaxLine;
                        });
  if (error_event) return std::move(*error_event);
  if (parse_error) return *parse_error;
  if (lines.overlong()) return Error{Code::unreachable, "an event is larger than 16 MiB"};
  if (!head) return head.error();
  return head->status == 200 ? Response{200} : response_of(*head, error_body);
}

}  // namespace cronlatch::kube
