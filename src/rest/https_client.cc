// SPDX-License-Identifier: Apache-2.0
// cpprestsdk's http_client, with what it leaves out: an own certificate store (it trusts the
// system's otherwise), a deadline for the whole exchange (its timer is one of silence), and a
// reader that holds the network back. Nothing of the library, nor its exceptions, leaves this file.
#include "rest/https_client.h"

#include <cpprest/http_client.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <pplx/threadpool.h>

#include <algorithm>
#include <mutex>

#include "kube/exchange.h"
#include "kube/target.h"
#include "kube/token.h"
#include "rest/sink.h"

namespace cronlatch::kube {
namespace {

namespace http = web::http;
using Steady = std::chrono::steady_clock;

constexpr std::size_t kThreads = 4;
constexpr Seconds kLetGo{2};
// A server that is there begins to answer a watch at once.
constexpr Seconds kHeadOfWatch{30};
// Above every deadline of ours: its timer would end a watch in which nothing happens.
constexpr std::chrono::hours kNoTimer{1};

// "Error in SSL handshake" with a number of OpenSSL's becomes what OpenSSL calls it. Two codes are
// known to mislead: EPERM for a connection that broke, EHOSTUNREACH also for a refused one.
std::string why(const http::http_exception& e) {
  std::string text = e.what();
  const auto number = static_cast<unsigned long>(e.error_code().value());
  const char* reason = ERR_reason_error_string(number);
  if (text.find("SSL") != std::string::npos && reason != nullptr)
    text += std::string(": ") + reason;
  else if (e.error_code() == std::errc::operation_not_permitted)
    text += " (the connection broke)";
  else if (e.error_code() == std::errc::host_unreachable)
    text += " (refused, or no route)";
  else if (e.error_code())
    text += " (" + e.error_code().message() + ")";
  return text;
}

std::string why(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const http::http_exception& e) {
    return why(e);
  } catch (const std::exception& e) {
    return e.what();
  } catch (...) {
    return "unknown failure of the HTTP library";
  }
}

http::method method_of(Method method) {
  switch (method) {
    case Method::get:
      return http::methods::GET;
    case Method::create:
      return http::methods::POST;
    case Method::replace:
      return http::methods::PUT;
    case Method::patch:
      return http::methods::PATCH;
    case Method::remove:
      return http::methods::DEL;
  }
  return http::methods::GET;
}

std::string content_type(PatchType type) {
  switch (type) {
    case PatchType::none:
      return "application/json";
    case PatchType::merge:
      return "application/merge-patch+json";
    case PatchType::json:
      return "application/json-patch+json";
    case PatchType::apply:
      return "application/apply-patch+yaml";  // JSON is YAML
  }
  return "application/json";
}

// Runs for every new connection, so that a CA or a certificate that was replaced counts from the
// next one on. What cannot be loaded leaves a context that trusts nobody: fails closed.
void arm(const ClusterAccess& access, boost::asio::ssl::context& context) {
  SSL_CTX* ctx = context.native_handle();
  SSL_CTX_set_cert_store(ctx, X509_STORE_new());  // drops the system's CAs
  SSL_CTX_set_min_proto_version(ctx, TLS1_2_VERSION);
  SSL_CTX_load_verify_file(ctx, access.ca_file.c_str());
  if (!access.client_cert_file.empty()) {
    SSL_CTX_use_certificate_chain_file(ctx, access.client_cert_file.c_str());
    SSL_CTX_use_PrivateKey_file(ctx, access.client_key_file.c_str(), SSL_FILETYPE_PEM);
  }
  ERR_clear_error();
}

http::client::http_client_config config_for(const ClusterAccess& access) {
  http::client::http_client_config config;
  config.set_timeout(kNoTimer);
  config.set_max_redirects(0);  // a redirect would carry the token elsewhere
  config.set_proxy(web::web_proxy(web::web_proxy::disabled));
  config.set_ssl_context_callback(
      [access](boost::asio::ssl::context& context) { arm(access, context); });
  return config;
}

// The two clients, the token, and one exchange over them.
class RestWire final : public Wire {
 public:
  explicit RestWire(const ClusterAccess& access)
      : token_(access.token_file, access.token),
        server_(access.server),
        calls_(access.server, config_for(access)),
        watches_(access.server, config_for(access)) {}

  Result<int> exchange(const Request& request, Purpose purpose, Steady::time_point deadline,
                       const std::stop_token& stop, const Take& take) override;

 private:
  Result<int> attempt(const Request& request, Purpose purpose, const Secret& token,
                      Steady::time_point deadline, const std::stop_token& stop, const Take& take);
  http::http_request dress(const Request& request, const Secret& token) const;
  Error failed(const Request& request, const std::string& what) const;

  TokenSource token_;
  const std::string server_;
  http::client::http_client calls_, watches_;
};

http::http_request RestWire::dress(const Request& request, const Secret& token) const {
  http::http_request out(method_of(request.method));
  out.set_request_uri(web::uri(target_of(request)));
  if (!request.body.is_null())
    out.set_body(to_text(request.body), content_type(request.patch_type));
  out.headers().add("Accept", "application/json");
  out.headers().add("User-Agent", "cronlatch-operator/" CRONLATCH_VERSION);
  if (!token.empty()) out.headers().add("Authorization", "Bearer " + token.reveal());
  return out;
}

// Why an exchange is given up; "" for a watch that was merely silent.
std::string overdue(Steady::time_point deadline, int status) {
  if (Steady::now() >= deadline) return "no complete answer before the deadline";
  return status == 0 ? "no answer at all" : "";
}

Error RestWire::failed(const Request& request, const std::string& what) const {
  const bool tls = what.find("SSL") != std::string::npos;
  return {tls ? Code::tls : Code::unreachable,
          "API server " + server_ + ", " + request.path + ": " + what};
}

Result<int> RestWire::exchange(const Request& request, Purpose purpose, Steady::time_point deadline,
                               const std::stop_token& stop, const Take& take) {
  const Secret token = token_.current(Steady::now());
  auto status = attempt(request, purpose, token, deadline, stop, take);
  if (!status || *status != 401 || !token_.renewed_after_refusal(token, Steady::now()))
    return status;
  return attempt(request, purpose, token_.current(Steady::now()), deadline, stop, take);
}

Result<int> RestWire::attempt(const Request& request, Purpose purpose, const Secret& token,
                              Steady::time_point deadline, const std::stop_token& stop,
                              const Take& take) try {
  take(0, {});
  const auto shared = std::make_shared<Exchange>();
  const auto sink = std::make_shared<Sink>(shared);
  http::http_request dressed = dress(request, token);
  dressed.set_response_stream(concurrency::streams::streambuf<std::uint8_t>(sink).create_ostream());
  pplx::cancellation_token_source cancel;
  http::client::http_client& client = purpose == Purpose::watch ? watches_ : calls_;
  client.request(dressed, cancel.get_token())
      .then([shared](const http::http_response& response) {
        shared->head(response.status_code());
        return response.content_ready();
      })
      .then([shared](const pplx::task<http::http_response>& done) {
        try {
          done.get();
          shared->finish({});
        } catch (...) {
          shared->finish(why(std::current_exception()));
        }
      });
  std::string broken;
  const auto patience = [&] {
    if (request.silence == Millis(0)) return deadline;
    const Millis limit =
        shared->status() == 0 ? std::min<Millis>(request.silence, kHeadOfWatch) : request.silence;
    return std::min(deadline, Steady::now() + limit);
  };
  for (Exchange::Wake wake{}; (wake = shared->wait(patience(), stop)) != Exchange::Wake::end;) {
    if (wake == Exchange::Wake::deadline) broken = overdue(deadline, shared->status());
    if (wake == Exchange::Wake::stopped) broken = "stopped";
    if (wake == Exchange::Wake::bytes && take(shared->status(), shared->take())) continue;
    cancel.cancel();
    shared->abandon();
    shared->wait_for_end(Steady::now() + kLetGo);
    if (!broken.empty()) return failed(request, broken);
    return shared->status();
  }
  if (const std::string error = shared->error(); !error.empty()) return failed(request, error);
  return shared->status();
} catch (...) {
  return failed(request, why(std::current_exception()));
}

}  // namespace

Result<std::unique_ptr<Wire>> open_wire(const ClusterAccess& access) try {
  if (auto usable = check_server(access.server); !usable) return usable.error();
  if (auto ca = read_small_file(access.ca_file); !ca) return ca.error();
  // The library has one pool for the process, 40 threads unless it is told before its first use.
  static std::once_flag pool;
  std::call_once(pool, [] { crossplat::threadpool::initialize_with_threads(kThreads); });
  return std::unique_ptr<Wire>(std::make_unique<RestWire>(access));
} catch (...) {
  return Error{Code::config, "cannot use the API server: " + why(std::current_exception())};
}

}  // namespace cronlatch::kube
