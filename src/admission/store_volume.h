// SPDX-License-Identifier: Apache-2.0
// The volume of a gated pod with the credentials and the CA certificates of the store. The chart
// renders the same volume for gates that are written out (_store.tpl).
#pragma once

#include "admission/lock_request.h"
#include "admission/settings.h"
#include "kube/json.h"

namespace cronlatch::op {

// Whether there is a Secret or a ConfigMap to mount.
bool has_store_volume(const LockRequest& request, const Settings& settings);

// Null without a Secret and a ConfigMap. The pod starts without them, too: a store may need neither
// credentials nor a CA of its own, and a run without the right CA ends with an error that says so.
kube::Json store_volume(const LockRequest& request, const Settings& settings);

// Whether the volume is one that a rewrite has added, also with another Secret or ConfigMap. In a
// pod that runs the gate, it may be any Secret, projected or CSI volume: another webhook may have
// changed it, and a written-out gate has another mode.
bool is_store_volume(const kube::Json& volume, bool is_gated);

}  // namespace cronlatch::op
