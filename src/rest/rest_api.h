// SPDX-License-Identifier: Apache-2.0
// RestApi: the Kubernetes API over HTTPS. It trusts the cluster's CA and nothing else, shows the
// token as it is now, follows no redirect, and holds every exchange to one absolute deadline.
// Over cpprestsdk (wire.h). After it was made the process must not fork: the library's threads
// would be missing in the child.
#pragma once

#include <memory>

#include "kube/access.h"
#include "kube/api.h"

namespace cronlatch::kube {

class Wire;

class RestApi final : public Api {
 public:
  // Says what cannot work with this access; connects to nothing yet.
  static Result<std::unique_ptr<RestApi>> open(const ClusterAccess& access);
  ~RestApi() override;

  Result<Response> call(const Request& request) override;
  // request.deadline bounds the whole watch: more than its timeoutSeconds. request.silence notices
  // a server that died without a word sooner: the next attempt finds that nobody answers.
  Result<Response> watch(const Request& request,
                         const std::function<void(const WatchEvent&)>& on_event,
                         std::stop_token stop) override;

 private:
  explicit RestApi(std::unique_ptr<Wire> wire);
  std::unique_ptr<Wire> wire_;
};

}  // namespace cronlatch::kube
