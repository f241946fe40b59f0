// SPDX-License-Identifier: Apache-2.0
// NeededImages: the images that CronJobs in the API server need. An admission review proves
// nothing: without client certificates, anybody who reaches the port can send one.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "kube/object_ref.h"

namespace cronlatch::op {

// Thread rule: any method from any thread.
class NeededImages {
 public:
  // The image of this CronJob, and the imagePullSecrets of its template.
  void set(const kube::ObjectKey& cronjob, const std::string& image,
           const std::vector<std::string>& pull_secrets) {
    const std::lock_guard lock(mutex_);
    erase(cronjob);
    const std::string text = text_of(cronjob.namespace_name, image, pull_secrets);
    text_by_cronjob_[cronjob] = text;
    cronjobs_by_text_[text].insert(cronjob);
  }
  void remove(const kube::ObjectKey& cronjob) {
    const std::lock_guard lock(mutex_);
    erase(cronjob);
  }
  // A CronJob of the namespace that needs this image with these Secrets.
  std::optional<kube::ObjectKey> find(const std::string& namespace_name, const std::string& image,
                                      const std::vector<std::string>& pull_secrets) const {
    const std::lock_guard lock(mutex_);
    const auto at = cronjobs_by_text_.find(text_of(namespace_name, image, pull_secrets));
    return at == cronjobs_by_text_.end() ? std::nullopt : std::optional(*at->second.begin());
  }

 private:
  static std::string text_of(const std::string& namespace_name, const std::string& image,
                             const std::vector<std::string>& pull_secrets) {
    std::string text = namespace_name + "\n" + image;
    for (const std::string& secret : pull_secrets) text += "\n" + secret;
    return text;
  }
  void erase(const kube::ObjectKey& cronjob) {
    const auto at = text_by_cronjob_.find(cronjob);
    if (at == text_by_cronjob_.end()) return;
    const auto all = cronjobs_by_text_.find(at->second);
    all->second.erase(cronjob);
    if (all->second.empty()) cronjobs_by_text_.erase(all);
    text_by_cronjob_.erase(at);
  }

  mutable std::mutex mutex_;
  std::map<kube::ObjectKey, std::string> text_by_cronjob_;
  std::map<std::string, std::set<kube::ObjectKey>> cronjobs_by_text_;  // no set is empty
};

}  // namespace cronlatch::op
