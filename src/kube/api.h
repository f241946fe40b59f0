// SPDX-License-Identifier: Apache-2.0
// The interface to the Kubernetes API: one call, one watch. RestApi (rest/rest_api.h) implements it
// with cpprestsdk; tests use FakeApi.
#pragma once

#include <functional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "kube/json.h"

namespace cronlatch::kube {

enum class Method { get, create, replace, patch, remove };
enum class PatchType { none, merge, json, apply };

struct Request {
  Method method = Method::get;
  std::string path;  // "/apis/batch/v1/namespaces/demo/jobs/x"
  std::vector<std::pair<std::string, std::string>> query{};  // unescaped
  Json body{};                                               // null: none
  PatchType patch_type = PatchType::none;
  Millis deadline{10'000};  // for the whole exchange
  Millis idle_timeout{0};   // of a watch: the longest time without bytes; zero: the deadline
  // Of a list: called with each item on the calling thread, before call() returns. The body of the
  // answer then has no items. An answer that is invalid JSON can have passed some.
  OnItem on_item{};
};

// An answer of the server, errors included: 404 and 409 are answers, not failures.
struct Response {
  int status = 0;
  Json body{};            // the object, or a Status with `reason` and `message`
  Millis retry_after{0};  // the header Retry-After; zero: none
  bool ok() const { return status >= 200 && status < 300; }
  std::string reason() const { return string_at(body, {"reason"}); }
  std::string message() const { return string_at(body, {"message"}); }
  // "409 the object has been modified"
  std::string error_text() const { return std::to_string(status) + " " + message(); }
};

// One line of a watch.
struct WatchEvent {
  std::string type;  // ADDED, MODIFIED, DELETED, BOOKMARK, ERROR
  Json object;
};

// Thread rule: every method may be called from any thread, several at once. Nothing throws.
class Api {
 public:
  virtual ~Api() = default;
  // Blocks until there is an answer, at most request.deadline. After an error it is unknown whether
  // the server executed the request: every write must be safe to repeat. A request that the server
  // rejects because of its load (overload.h) is repeated after the time that it names, if that is
  // before the deadline.
  virtual Result<Response> call(const Request& request) = 0;
  // Blocks until the server ends the watch, an error, or `stop`. Calls `on_event` on the calling
  // thread, in order. The Response has the server's status. It is 200 after a watch that the server
  // ended or that reached request.idle_timeout: only a new request distinguishes a server without
  // news from a lost connection. A 410, as status or as ERROR event, is returned as 410.
  virtual Result<Response> watch(const Request& request,
                                 const std::function<void(const WatchEvent&)>& on_event,
                                 std::stop_token stop) = 0;
};

}  // namespace cronlatch::kube
