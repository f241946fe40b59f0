// SPDX-License-Identifier: Apache-2.0
// DeadlineEntrypointSource: the image lookup with the deadline of one admission.
#pragma once

#include "admission/entrypoint.h"
#include "base/time.h"
#include "operator/lookup/image_lookup.h"

namespace cronlatch::op {

// `lookup` must outlive the object.
class DeadlineEntrypointSource final : public EntrypointSource {
 public:
  DeadlineEntrypointSource(const ImageLookup& lookup, TimePoint deadline)
      : lookup_(lookup), deadline_(deadline) {}
  EntrypointResult find(const EntrypointQuery& use) const override {
    return lookup_.find(use, deadline_);
  }

 private:
  const ImageLookup& lookup_;
  const TimePoint deadline_;
};

}  // namespace cronlatch::op
