// SPDX-License-Identifier: Apache-2.0
#include "operator/http/listen_address.h"

#include <boost/asio/ip/v6_only.hpp>
#include <string>

#include "base/host_port.h"

namespace cronlatch::op::http {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using ErrorCode = boost::system::error_code;

Result<tcp::endpoint> parse(std::string_view address) {
  const auto invalid = [&](std::string_view what) {
    return Error{Code::config,
                 "cannot listen on '" + std::string(address) + "': " + std::string(what),
                 "IP:port, for example [::]:8443"};
  };
  const Result<HostPort> parsed = parse_host_port(address, 0);
  if (!parsed) return invalid(parsed.error().message);
  if (!parsed->port) return invalid("it has no port");
  ErrorCode error;
  const auto ip = asio::ip::make_address(parsed->host, error);
  if (error) return invalid("invalid IP address");
  return tcp::endpoint(ip, *parsed->port);
}

ErrorCode open(const tcp::endpoint& endpoint, tcp::acceptor& acceptor) {
  ErrorCode error;
  const auto failed = [&] { return static_cast<bool>(error); };
  acceptor.open(endpoint.protocol(), error);
  if (failed()) return error;
  acceptor.set_option(tcp::acceptor::reuse_address(true), error);
  if (!failed() && endpoint.protocol() == tcp::v6()) {
    acceptor.set_option(asio::ip::v6_only(false), error);
  }
  if (!failed()) acceptor.bind(endpoint, error);
  if (!failed()) acceptor.listen(asio::socket_base::max_listen_connections, error);
  ErrorCode ignored;
  if (failed()) acceptor.close(ignored);
  return error;
}

}  // namespace

Result<int> listen_on(std::string_view address, tcp::acceptor& acceptor) {
  const auto endpoint = parse(address);
  if (!endpoint) return endpoint.error();
  ErrorCode error = open(*endpoint, acceptor);
  if (error == asio::error::address_family_not_supported && endpoint->address().is_unspecified()) {
    error = open(tcp::endpoint(asio::ip::address_v4::any(), endpoint->port()), acceptor);
  }
  if (error) {
    return Error{Code::system,
                 "cannot listen on '" + std::string(address) + "': " + error.message()};
  }
  return static_cast<int>(acceptor.local_endpoint(error).port());
}

}  // namespace cronlatch::op::http
