// SPDX-License-Identifier: Apache-2.0
#include "store/limit_views.h"

#include <algorithm>

namespace cronlatch {

void limit_views(std::vector<LockView>& views, std::size_t max_locks) {
  if (views.size() > max_locks) {
    std::sort(views.begin(), views.end(),
              [](const LockView& a, const LockView& b) { return a.acquired > b.acquired; });
    views.resize(max_locks);
  }
  std::sort(views.begin(), views.end(),
            [](const LockView& a, const LockView& b) { return a.lock < b.lock; });
}

}  // namespace cronlatch
