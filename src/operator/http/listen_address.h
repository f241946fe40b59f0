// SPDX-License-Identifier: Apache-2.0
// Parses "IP:port" and "[IPv6]:port", and listens there.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <string_view>

#include "base/result.h"

namespace cronlatch::op::http {

// Returns the port. "[::]" listens on both families, and on IPv4 alone where the host has no IPv6.
// Port 0: any free port.
Result<int> listen_on(std::string_view address, boost::asio::ip::tcp::acceptor& acceptor);

}  // namespace cronlatch::op::http
