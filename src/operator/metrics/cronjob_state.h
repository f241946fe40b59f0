// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace cronlatch::op {

// The states of cronlatch_gated_cronjobs. ungated: requests no lock. pending: its annotations are
// not copied to the Job template yet. invalid: its annotations are rejected.
enum class CronJobState { ungated, gated, pending, invalid };

}  // namespace cronlatch::op
