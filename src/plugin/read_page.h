// SPDX-License-Identifier: Apache-2.0
// Reads the operator's status page after kubectl searched for its Service.
#pragma once

#include <string>
#include <vector>

#include "plugin/context.h"
#include "plugin/kubectl.h"
#include "plugin/page_service.h"

namespace cronlatch::plugin {

// Sets the status page, or the reason why there is none.
void set_status_page(const KubectlResult& answer, Cluster& cluster);

// The Services of a List, or a Service.
std::vector<PageService> services_of(const KubectlResult& answer);

// Reads the page of a Service, with a token if it requires one. The token is sent in the body of a
// POST: the API server removes the header Authorization of its own client, and a URL is written to
// audit logs. An error only if kubectl cannot be run.
Status read_page_of(const PageService& service, const Context& context, Cluster& cluster);

}  // namespace cronlatch::plugin
