// SPDX-License-Identifier: Apache-2.0
// ProgressApi: the API server for one loop, whose calls count as progress. A round of the loop can
// contain many calls. Each of them ends within its own deadline, but all of them together may take
// longer than the liveness probe allows.
#pragma once

#include <functional>
#include <utility>

#include "kube/api.h"

namespace cronlatch::op {

class ProgressApi final : public kube::Api {
 public:
  // `api` must outlive the object.
  ProgressApi(kube::Api& api, std::function<void()> on_progress)
      : api_(api), on_progress_(std::move(on_progress)) {}

  Result<kube::Response> call(const kube::Request& request) override {
    on_progress_();
    Result<kube::Response> response = api_.call(request);
    on_progress_();
    return response;
  }
  // A watch lasts for minutes: the loops of watchers are not reported.
  Result<kube::Response> watch(const kube::Request& request,
                               const std::function<void(const kube::WatchEvent&)>& on_event,
                               std::stop_token stop) override {
    return api_.watch(request, on_event, std::move(stop));
  }

 private:
  kube::Api& api_;
  const std::function<void()> on_progress_;
};

}  // namespace cronlatch::op
