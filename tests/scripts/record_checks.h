// SPDX-License-Identifier: Apache-2.0
// Checks of stored records, and names of replies for the statistics of a random test.
#pragma once

#include <string>

#include "core/store.h"
#include "store/rules.h"

namespace cronlatch::testing {

// The grants of the job that are not closed.
std::int64_t open_grants(const rules::Record& stored, const std::string& job);
// C1, on the stored data: acquired = released + stolen + revoked + open, for each job.
void expect_law(const rules::Record& stored);
// A failure for each member that differs.
void expect_same_record(const rules::Record& stored, const rules::Record& expected);
std::string name_of(const Reply& reply);

}  // namespace cronlatch::testing
