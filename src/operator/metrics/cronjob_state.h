// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace cronlatch::op {

// What cronlatch_cronjobs counts. ungated: asks for no lock. pending: its annotations are not on
// the Job template yet. invalid: its annotations are refused.
enum class CronJobState { ungated, gated, pending, invalid };

}  // namespace cronlatch::op
