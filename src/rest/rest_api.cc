// SPDX-License-Identifier: Apache-2.0
// What the bytes of an exchange mean: one JSON answer, or the lines of a watch; and how many of
// them we take.
#include "rest/rest_api.h"

#include <optional>

#include "base/text.h"
#include "kube/line_splitter.h"
#include "rest/https_client.h"

namespace cronlatch::kube {
namespace {

using Steady = std::chrono::steady_clock;

constexpr std::size_t kLongestLine = 16U << 20;
constexpr std::size_t kLargestBody = 128U << 20;

// A body that is no JSON comes from something between us and the API server.
Result<Response> response_of(int status, std::string_view body) {
  if (body.empty()) return Response{status, {}};
  auto parsed = parse_json(body, {.bytes = kLargestBody});
  if (parsed) return Response{status, std::move(*parsed)};
  if (status >= 200 && status < 300)
    return Error{Code::unreachable, "the API server's answer: " + parsed.error().message};
  return Response{status, Json{{"message", printable(body, 200)}}};
}

int code_of(const Json& status) {
  const Json* code = find(status, {"code"});
  return code != nullptr && code->is_number_integer() ? code->get<int>() : 500;
}

}  // namespace

RestApi::RestApi(std::unique_ptr<Wire> wire) : wire_(std::move(wire)) {}
RestApi::~RestApi() = default;

Result<std::unique_ptr<RestApi>> RestApi::open(const ClusterAccess& access) {
  Result<std::unique_ptr<Wire>> wire = open_wire(access);
  if (!wire) return wire.error();
  return std::unique_ptr<RestApi>(new RestApi(std::move(*wire)));
}

Result<Response> RestApi::call(const Request& request) {
  std::string body;
  bool too_large = false;
  auto status = wire_->exchange(request, Wire::Purpose::call, Steady::now() + request.deadline, {},
                                [&](int, std::string_view bytes) {
                                  if (bytes.empty()) body.clear();
                                  too_large = body.size() + bytes.size() > kLargestBody;
                                  if (!too_large) body += bytes;
                                  return !too_large;
                                });
  if (!status) return status.error();
  if (too_large) return Error{Code::unreachable, "the API server's answer is larger than 128 MiB"};
  return response_of(*status, body);
}

Result<Response> RestApi::watch(const Request& request,
                                const std::function<void(const WatchEvent&)>& on_event,
                                std::stop_token stop) {
  LineSplitter lines(kLongestLine);
  std::string refusal;            // the body of an answer that is no watch
  std::optional<Response> ended;  // by an ERROR event
  std::optional<Error> garbled;
  const auto on_line = [&](std::string_view line) {
    auto parsed = parse_json(line, {.bytes = kLongestLine});
    const Json* object = parsed ? find(*parsed, {"object"}) : nullptr;
    if (object == nullptr) {
      garbled = Error{Code::unreachable, "a line of the watch is no event"};
      return false;
    }
    WatchEvent event{string_at(*parsed, {"type"}), *object};
    if (event.type == "ERROR") {
      ended = Response{code_of(event.object), std::move(event.object)};
      return false;
    }
    on_event(event);
    return !stop.stop_requested();
  };
  auto status = wire_->exchange(request, Wire::Purpose::watch, Steady::now() + request.deadline,
                                stop, [&](int code, std::string_view bytes) {
                                  if (code == 200) return lines.push(bytes, on_line);
                                  if (bytes.empty()) refusal.clear();
                                  refusal += bytes;
                                  return refusal.size() < kLongestLine;
                                });
  if (ended) return std::move(*ended);
  if (garbled) return *garbled;
  if (lines.overlong()) return Error{Code::unreachable, "an event is larger than 16 MiB"};
  if (!status) return status.error();
  return *status == 200 ? Response{200, {}} : response_of(*status, refusal);
}

}  // namespace cronlatch::kube
