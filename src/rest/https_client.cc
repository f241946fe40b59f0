// SPDX-License-Identifier: Apache-2.0
// Extends cpprestsdk's http_client: a certificate store with only the cluster's CA (the library
// trusts the system's CAs), a deadline for the whole exchange (the library has an idle timeout),
// and backpressure. All exceptions of the library are caught in this file.
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
constexpr Seconds kCancelWait{2};
// A reachable server sends the headers of a watch at once.
constexpr Seconds kWatchResponse{30};
// Longer than every deadline: the library's timer would end an idle watch.
constexpr std::chrono::hours kLibraryTimeout{1};

// Adds OpenSSL's reason to "Error in SSL handshake". Two codes of the library are misleading: EPERM
// for a broken connection, EHOSTUNREACH also for a refused one.
std::string error_text(const http::http_exception& e) {
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

std::string error_text(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const http::http_exception& e) {
    return error_text(e);
  } catch (const std::exception& e) {
    return e.what();
  } catch (...) {
    return "unknown error of the HTTP library";
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

// Called for every new connection, so that a replaced CA or certificate is used from then on. After
// an error the context has no CA, and every handshake fails.
void configure_tls(const ClusterAccess& access, boost::asio::ssl::context& context) {
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
  config.set_timeout(kLibraryTimeout);
  config.set_max_redirects(0);  // a redirect would send the token to another server
  config.set_proxy(web::web_proxy(web::web_proxy::disabled));
  config.set_ssl_context_callback(
      [access](boost::asio::ssl::context& context) { configure_tls(access, context); });
  return config;
}

class CpprestClient final : public HttpsClient {
 public:
  explicit CpprestClient(const ClusterAccess& access)
      : token_(access.token_file, access.token),
        server_(access.server),
        calls_(access.server, config_for(access)),
        watches_(access.server, config_for(access)) {}

  Result<Head> exchange(const Request& request, Purpose purpose, Steady::time_point deadline,
                        const std::stop_token& stop, const OnBytes& on_bytes) override;

 private:
  Result<Head> attempt(const Request& request, Purpose purpose, const Secret& token,
                       Steady::time_point deadline, const std::stop_token& stop,
                       const OnBytes& on_bytes);
  http::http_request build_request(const Request& request, const Secret& token) const;
  Error error_for(const Request& request, const std::string& what) const;

  TokenSource token_;
  const std::string server_;
  http::client::http_client calls_, watches_;
};

http::http_request CpprestClient::build_request(const Request& request, const Secret& token) const {
  http::http_request out(method_of(request.method));
  out.set_request_uri(web::uri(request_target(request)));
  if (!request.body.is_null())
    out.set_body(to_text(request.body), content_type(request.patch_type));
  out.headers().add("Accept", "application/json");
  out.headers().add("User-Agent", "cronlatch-operator/" CRONLATCH_VERSION);
  if (!token.empty()) out.headers().add("Authorization", "Bearer " + token.reveal());
  return out;
}

// The error of an exchange that timed out; "" for an idle watch.
std::string timeout_error(Steady::time_point deadline, int status) {
  if (Steady::now() >= deadline) return "no complete answer before the deadline";
  return status == 0 ? "no answer" : "";
}

Error CpprestClient::error_for(const Request& request, const std::string& what) const {
  const bool tls = what.find("SSL") != std::string::npos;
  return {tls ? Code::tls : Code::unreachable,
          "API server " + server_ + ", " + request.path + ": " + what};
}

Result<HttpsClient::Head> CpprestClient::exchange(const Request& request, Purpose purpose,
                                                  Steady::time_point deadline,
                                                  const std::stop_token& stop,
                                                  const OnBytes& on_bytes) {
  const Secret token = token_.current(Steady::now());
  auto head = attempt(request, purpose, token, deadline, stop, on_bytes);
  if (!head || head->status != 401 || !token_.renewed_after_refusal(token, Steady::now()))
    return head;
  return attempt(request, purpose, token_.current(Steady::now()), deadline, stop, on_bytes);
}

Result<HttpsClient::Head> CpprestClient::attempt(const Request& request, Purpose purpose,
                                                 const Secret& token, Steady::time_point deadline,
                                                 const std::stop_token& stop,
                                                 const OnBytes& on_bytes) try {
  on_bytes(0, {});
  const auto shared = std::make_shared<Exchange>();
  const auto sink = std::make_shared<Sink>(shared);
  http::http_request http_request = build_request(request, token);
  http_request.set_response_stream(
      concurrency::streams::streambuf<std::uint8_t>(sink).create_ostream());
  pplx::cancellation_token_source cancel;
  http::client::http_client& client = purpose == Purpose::watch ? watches_ : calls_;
  client.request(http_request, cancel.get_token())
      .then([shared](const http::http_response& response) {
        const auto retry_after = response.headers().find("Retry-After");
        shared->set_status(response.status_code(), retry_after == response.headers().end()
                                                       ? std::string()
                                                       : retry_after->second);
        return response.content_ready();
      })
      .then([shared](const pplx::task<http::http_response>& done) {
        try {
          done.get();
          shared->finish({});
        } catch (...) {
          shared->finish(error_text(std::current_exception()));
        }
      });
  std::string failure;
  const auto wait_until = [&] {
    if (request.idle_timeout == Millis(0)) return deadline;
    const Millis limit = shared->status() == 0
                             ? std::min<Millis>(request.idle_timeout, kWatchResponse)
                             : request.idle_timeout;
    return std::min(deadline, Steady::now() + limit);
  };
  for (Exchange::WaitResult wake{};
       (wake = shared->wait(wait_until(), stop)) != Exchange::WaitResult::end;) {
    if (wake == Exchange::WaitResult::deadline) failure = timeout_error(deadline, shared->status());
    if (wake == Exchange::WaitResult::stopped) failure = "stopped";
    if (wake == Exchange::WaitResult::bytes && on_bytes(shared->status(), shared->take())) continue;
    cancel.cancel();
    shared->abandon();
    shared->wait_for_end(Steady::now() + kCancelWait);
    if (!failure.empty()) return error_for(request, failure);
    return Head{shared->status(), shared->retry_after()};
  }
  if (const std::string error = shared->error(); !error.empty()) return error_for(request, error);
  return Head{shared->status(), shared->retry_after()};
} catch (...) {
  return error_for(request, error_text(std::current_exception()));
}

}  // namespace

Result<std::unique_ptr<HttpsClient>> open_https_client(const ClusterAccess& access) try {
  if (auto usable = check_server(access.server); !usable) return usable.error();
  if (auto ca = read_small_file(access.ca_file); !ca) return ca.error();
  // One thread pool per process; the default is 40 threads and can be changed before the first use
  // only.
  static std::once_flag pool;
  std::call_once(pool, [] { crossplat::threadpool::initialize_with_threads(kThreads); });
  return std::unique_ptr<HttpsClient>(std::make_unique<CpprestClient>(access));
} catch (...) {
  return Error{Code::config, "cannot use the API server: " + error_text(std::current_exception())};
}

}  // namespace cronlatch::kube
