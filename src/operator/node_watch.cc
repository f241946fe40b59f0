// SPDX-License-Identifier: Apache-2.0
#include "operator/node_watch.h"

#include <algorithm>

#include "base/thread_name.h"
#include "kube/image_volumes.h"
#include "kube/watch_timing.h"
#include "kube/watcher.h"

namespace cronlatch::op {

void NodeWatch::start() {
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

void NodeWatch::stop() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
}

void NodeWatch::run(const std::stop_token& stop) {
  name_thread("nodes");
  kube::Watcher watcher(api_, {.path = "/api/v1/nodes"},
                        {.on_object = [this](const kube::Json& node) { put(node); },
                         .on_deleted =
                             [this](const kube::ObjectKey& key, const std::string&) {
                               nodes_.erase(key);
                               update();
                             },
                         .on_listed =
                             [this] {
                               is_listed_ = true;
                               has_failed_ = false;
                               update();
                             },
                         .on_error = [this](const std::string& what) { set_failed(what); }},
                        kube::real_watch_timing(clock_));
  watcher.run(stop);
}

void NodeWatch::put(const kube::Json& node) {
  nodes_[kube::key_of(node)] = kube::why_no_image_volumes(node);
  has_failed_ = false;  // the API server reports changes again
  update();
}

void NodeWatch::set_failed(const std::string& what) {
  has_failed_ = true;
  proven_ = false;
  if (what == reported_) return;
  reported_ = what;
  log_({Level::warn,
        "nodes_unknown",
        "cannot read the nodes; gated pods get an init container: " + what,
        {},
        "grant the operator list and watch of nodes, or set the chart value injection to "
        "init-container"});
}

void NodeWatch::update() {
  if (!is_listed_) return;
  const auto unproven = std::find_if(nodes_.begin(), nodes_.end(),
                                     [](const auto& node) { return !node.second.empty(); });
  const bool proven = !nodes_.empty() && unproven == nodes_.end() && !has_failed_;
  const std::string reason =
      unproven == nodes_.end() ? "" : "node " + unproven->first.name + ": " + unproven->second;
  const bool is_news = proven != proven_ || (!proven && reason != reported_);
  proven_ = proven;
  if (!is_news) return;
  reported_ = reason;
  if (proven)
    log_({Level::info,
          "image_volumes",
          "every schedulable node supports image volumes; gated pods mount the image",
          {}});
  else
    log_({Level::info,
          "no_image_volumes",
          "gated pods get an init container: image volumes are not proven on " +
              (reason.empty() ? "any node" : reason),
          {}});
}

}  // namespace cronlatch::op
