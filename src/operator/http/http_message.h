// SPDX-License-Identifier: Apache-2.0
// Converts between Beast's messages and HttpRequest, HttpResponse; maps protocol errors to status
// codes.
#pragma once

#include <boost/beast/http.hpp>

#include "operator/http/http_server.h"

namespace cronlatch::op::http {

namespace protocol = boost::beast::http;
using ErrorCode = boost::system::error_code;

// The properties of a request that its response depends on.
struct RequestTraits {
  bool keep_alive = false;
  bool is_head = false;
  unsigned version = 11;
};
RequestTraits traits_of(const protocol::request<protocol::string_body>& message);

HttpRequest to_request(protocol::request<protocol::string_body> message);
protocol::response<protocol::string_body> to_message(HttpResponse response,
                                                     const RequestTraits& traits, bool keep_open);

// False for errors of the connection: then no response can be sent.
bool is_protocol_error(const ErrorCode& error);
HttpResponse response_for(const ErrorCode& protocol_error);

}  // namespace cronlatch::op::http
