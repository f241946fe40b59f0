// SPDX-License-Identifier: Apache-2.0
// HttpsClient: one HTTPS exchange with the API server, with an absolute deadline and the current
// token. rest_api.cc interprets the bytes. No type of cpprestsdk is visible here.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>

#include "kube/access.h"
#include "kube/api.h"

namespace cronlatch::kube {

// Any thread may call, several at once. Nothing throws.
class HttpsClient {
 public:
  virtual ~HttpsClient() = default;

  // Separate connections: a watch occupies its connection for minutes.
  enum class Purpose { call, watch };
  // Called on the calling thread; returns false to stop. Without bytes: a new attempt begins, and
  // the bytes of the last one are invalid.
  using OnBytes = std::function<bool(int status, std::string_view bytes)>;
  struct Head {
    int status = 0;
    std::string retry_after{};  // the header; "" without it
  };
  // Returns the head of an answer that is complete, was stopped by `on_bytes`, or reached
  // request.idle_timeout. After a 401 it reads the token again and repeats the request.
  virtual Result<Head> exchange(const Request& request, Purpose purpose,
                                std::chrono::steady_clock::time_point deadline,
                                const std::stop_token& stop, const OnBytes& on_bytes) = 0;
};

// An error for an unusable access. Does not connect.
Result<std::unique_ptr<HttpsClient>> open_https_client(const ClusterAccess& access);

}  // namespace cronlatch::kube
