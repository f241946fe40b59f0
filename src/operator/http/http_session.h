// SPDX-License-Identifier: Apache-2.0
// Creates the sessions of HttpServer. The protocol (Boost.Beast) is in http_session.cc.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/strand.hpp>
#include <memory>

#include "operator/http/server_state.h"

namespace cronlatch::op::http {

namespace asio = boost::asio;
using Strand = asio::strand<asio::io_context::executor_type>;
using Socket = asio::basic_stream_socket<asio::ip::tcp, Strand>;

std::shared_ptr<HttpConnection> make_plain_session(Socket socket, HttpServerState& state);
// The session takes a reference to the SSL_CTX; `context` may be destroyed before the session.
std::shared_ptr<HttpConnection> make_tls_session(Socket socket, asio::ssl::context& context,
                                                 HttpServerState& state);

}  // namespace cronlatch::op::http
