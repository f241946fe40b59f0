// SPDX-License-Identifier: Apache-2.0
// NodeWatch: whether every schedulable node is proven to support image volumes. A thread watches
// the nodes; an admission only reads the result. Until the first list, after an error and without
// the right to list nodes the answer is no. A node that joins or changes is known when the API
// server reports it; pods that were created before keep their form.
#pragma once

#include <atomic>
#include <map>
#include <string>
#include <thread>

#include "base/log.h"
#include "base/time.h"
#include "kube/api.h"
#include "kube/object_ref.h"

namespace cronlatch::op {

class NodeWatch {
 public:
  // All references must outlive the object.
  NodeWatch(kube::Api& api, const Clock& clock, const Log& log)
      : api_(api), clock_(clock), log_(log) {}
  ~NodeWatch() { stop(); }

  void start();
  void stop();

  // Any thread; does not block.
  bool has_image_volumes() const { return proven_.load(std::memory_order_relaxed); }

 private:
  void run(const std::stop_token& stop);
  void put(const kube::Json& node);
  void set_failed(const std::string& what);
  void update();

  kube::Api& api_;
  const Clock& clock_;
  const Log& log_;
  std::atomic<bool> proven_{false};
  // ---- of the thread ----
  std::map<kube::ObjectKey, std::string> nodes_;  // value: why_no_image_volumes
  bool is_listed_ = false, has_failed_ = false;
  std::string reported_;  // the reason in the last log line
  std::jthread thread_;
};

}  // namespace cronlatch::op
