// SPDX-License-Identifier: Apache-2.0
// require_token: a handler that answers only clients whose token is allowed to read the path.
#pragma once

#include <string>

#include "operator/access/access_control.h"
#include "operator/http/http_server.h"

namespace cronlatch::op {

// Where the client sends its token.
enum class TokenPlace {
  // `Authorization: Bearer TOKEN`; for the audience of the API server, as Prometheus sends it.
  header,
  // {"token":"..."}; for the audience kStatusAudience. The API server's service proxy removes the
  // header of its client, and transmits the body. It does not verify the operator's certificate:
  // a token of this audience cannot be used as a login.
  body,
};

// 401 without a valid token, 403 without the right, 503 while the access is not known. `access`
// must outlive the handler.
HttpHandler require_token(AccessControl& access, TokenPlace place, HttpHandler page);

}  // namespace cronlatch::op
