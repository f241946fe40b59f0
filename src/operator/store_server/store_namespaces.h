// SPDX-License-Identifier: Apache-2.0
// The namespaces that may use the store server: the operator's own, those in the settings, and
// those with the labels in the settings.
#pragma once

#include <map>
#include <string>

#include "admission/settings.h"
#include "base/result.h"
#include "kube/api.h"

namespace cronlatch::op {

using NamespaceUids = std::map<std::string, std::string>;  // by name

// With the UID; "" for those that are named without labels, which the operator may not
// read. An error if the API server does not list the namespaces: a part of them would
// remove the users of the others.
Result<NamespaceUids> store_namespaces(const Settings& settings, kube::Api& api);

}  // namespace cronlatch::op
