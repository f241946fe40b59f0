// SPDX-License-Identifier: Apache-2.0
// Checks of replies.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "core/store.h"

namespace cronlatch::testing {

// The reply as T; a failure and an empty T when it is another.
template <class T>
T got(const Reply& reply) {
  const T* held = std::get_if<T>(&reply);
  const Unavailable* error = std::get_if<Unavailable>(&reply);
  EXPECT_NE(held, nullptr) << "the reply is alternative " << reply.index()
                           << (error ? ": " + error->error.message : "");
  return held != nullptr ? *held : T{};
}

}  // namespace cronlatch::testing
