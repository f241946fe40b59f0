// SPDX-License-Identifier: Apache-2.0
// The Kubernetes API as this project uses it: one exchange, one watch. rest_api.{h,cc} is the real
// one, over cpprestsdk; tests have a fake. It moves JSON and knows
// nothing of locks.
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
  std::vector<std::pair<std::string, std::string>> query{};  // not yet escaped
  Json body{};                                               // null: none
  PatchType patch_type = PatchType::none;
  Millis deadline{10'000};  // for the whole exchange, not for each silence in it
  Millis silence{0};        // of a watch: longer than this nobody is there; zero: as the deadline
};

// What the server said, errors included: 404 and 409 are answers, not failures.
struct Response {
  int status = 0;
  Json body;  // the object, or a Status with `reason` and `message`
  bool ok() const { return status >= 200 && status < 300; }
  std::string reason() const { return string_at(body, {"reason"}); }
  std::string message() const { return string_at(body, {"message"}); }
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
  // Blocks the calling thread until there is an answer, at most request.deadline. An error means
  // that we do not know what the server did: whoever writes must be able to write the same again.
  virtual Result<Response> call(const Request& request) = 0;
  // Blocks until the server ends the watch, an error, or `stop`. Calls `on_event` on the calling
  // thread, in order. The Response is the server's status: 200 after a watch that ended by itself
  // (410 as a status or as an ERROR event reaches the caller as 410),
  // or that was left because of request.silence: a server that is alive but has nothing to tell
  // cannot be known from one whose packets are dropped but by asking again.
  virtual Result<Response> watch(const Request& request,
                                 const std::function<void(const WatchEvent&)>& on_event,
                                 std::stop_token stop) = 0;
};

}  // namespace cronlatch::kube
