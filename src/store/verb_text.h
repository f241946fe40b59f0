// SPDX-License-Identifier: Apache-2.0
// Values of requests as the scripts of Redis and the functions of PostgreSQL read them.
#pragma once

#include <string>
#include <string_view>

#include "base/time.h"
#include "core/store.h"

namespace cronlatch {

// Whole microseconds or milliseconds, from 0 to 31 years: sums with the server's time stay below
// 2^53, where the numbers of the scripts are exact.
std::string micros_text(Micros d);
std::string millis_text(Millis d);

std::string_view name_of(IfBusy if_busy);
std::string_view name_of(RunVerdict verdict);

}  // namespace cronlatch
