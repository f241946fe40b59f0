// SPDX-License-Identifier: Apache-2.0
#include "operator/http/http_message.h"

#include <utility>

namespace cronlatch::op::http {
namespace {

namespace beast = boost::beast;

std::string text(beast::string_view view) { return {view.data(), view.size()}; }

// "Bearer TOKEN" (RFC 6750); the name of the scheme in any case. Empty for another scheme.
Secret bearer_token(beast::string_view authorization) {
  constexpr beast::string_view kScheme = "Bearer ";
  if (!beast::iequals(authorization.substr(0, kScheme.size()), kScheme)) return {};
  beast::string_view token = authorization.substr(kScheme.size());
  while (token.starts_with(' ')) token.remove_prefix(1);
  while (token.ends_with(' ')) token.remove_suffix(1);
  return Secret(text(token));
}

int status_of(const ErrorCode& error) {
  if (error == protocol::error::header_limit) return 431;
  if (error == protocol::error::buffer_overflow) return 431;
  if (error == protocol::error::body_limit) return 413;
  return 400;
}

}  // namespace

RequestTraits traits_of(const protocol::request<protocol::string_body>& message) {
  return {message.keep_alive(), message.method() == protocol::verb::head, message.version()};
}

HttpRequest to_request(protocol::request<protocol::string_body> message) {
  const auto target = message.target();
  return {.method = text(message.method_string()),
          .path = text(target.substr(0, target.find('?'))),
          .content_type = text(message[protocol::field::content_type]),
          .body = std::move(message.body()),
          .bearer = bearer_token(message[protocol::field::authorization])};
}

protocol::response<protocol::string_body> to_message(HttpResponse response,
                                                     const RequestTraits& traits, bool keep_open) {
  protocol::response<protocol::string_body> message(static_cast<protocol::status>(response.status),
                                                    traits.version);
  message.set(protocol::field::content_type, response.content_type);
  if (!response.allow.empty()) message.set(protocol::field::allow, response.allow);
  if (!response.authenticate.empty())
    message.set(protocol::field::www_authenticate, response.authenticate);
  message.keep_alive(keep_open);
  message.content_length(response.body.size());
  if (!traits.is_head) message.body() = std::move(response.body);
  return message;
}

bool is_protocol_error(const ErrorCode& error) {
  return error.category() == make_error_code(protocol::error::bad_method).category() &&
         error != protocol::error::end_of_stream && error != protocol::error::partial_message;
}

HttpResponse response_for(const ErrorCode& protocol_error) {
  return {.status = status_of(protocol_error), .body = protocol_error.message() + "\n"};
}

}  // namespace cronlatch::op::http
