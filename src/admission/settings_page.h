// SPDX-License-Identifier: Apache-2.0
// docs/reference/operator.md, rendered from the table of the settings.
#pragma once

#include "config/reference.h"

namespace cronlatch::op {

Page settings_page();

}  // namespace cronlatch::op
