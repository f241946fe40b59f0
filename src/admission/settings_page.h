// SPDX-License-Identifier: Apache-2.0
// The page of docs/reference about the operator's settings, rendered from their table.
#pragma once

#include "config/reference.h"

namespace cronlatch::op {

Page settings_page();

}  // namespace cronlatch::op
