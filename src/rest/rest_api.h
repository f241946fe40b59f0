// SPDX-License-Identifier: Apache-2.0
// RestApi: the Kubernetes API over HTTPS (https_client.h). It trusts only the cluster's CA, sends
// the current token, follows no redirects, and has one absolute deadline per exchange. The process
// must not fork after open(): the library's threads do not exist in the child.
#pragma once

#include <chrono>
#include <memory>

#include "kube/access.h"
#include "kube/api.h"

namespace cronlatch::kube {

class HttpsClient;

class RestApi final : public Api {
 public:
  // An error for an unusable access. Does not connect.
  static Result<std::unique_ptr<RestApi>> open(const ClusterAccess& access);
  ~RestApi() override;

  Result<Response> call(const Request& request) override;
  // request.deadline applies to the whole watch and must exceed its timeoutSeconds.
  // request.idle_timeout detects a lost connection earlier.
  Result<Response> watch(const Request& request,
                         const std::function<void(const WatchEvent&)>& on_event,
                         std::stop_token stop) override;

 private:
  explicit RestApi(std::unique_ptr<HttpsClient> client);
  Result<Response> attempt(const Request& request, std::chrono::steady_clock::time_point deadline);
  std::unique_ptr<HttpsClient> client_;
};

}  // namespace cronlatch::kube
