// SPDX-License-Identifier: Apache-2.0
// cpprestsdk's http_client, with what it leaves out: an own certificate store (it trusts the
// system's otherwise), a deadline for the whole exchange (its timer is one of silence), limits of
// size, and a reader that holds the network back. Nothing of the library leaves this file.
#include "rest/rest_api.h"

#include <cpprest/astreambuf.h>
#include <cpprest/http_client.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <pplx/threadpool.h>

#include <atomic>
#include <mutex>

#include "core/text.h"
#include "kube/exchange.h"
#include "kube/line_splitter.h"
#include "kube/target.h"
#include "kube/token.h"

namespace cronlatch::kube {
namespace {

namespace http = web::http;
using Steady = std::chrono::steady_clock;

constexpr std::size_t kThreads = 4;
constexpr std::size_t kLongestLine = 16U << 20;
constexpr std::size_t kLargestBody = 128U << 20;
constexpr Seconds kLetGo{2};
// Above every deadline of ours: its timer would end a watch in which nothing happens.
constexpr std::chrono::hours kNoTimer{1};

// The library writes the response here. It must not throw: that would end the process.
class Sink : public concurrency::streams::details::streambuf_state_manager<std::uint8_t> {
  using Base = concurrency::streams::details::streambuf_state_manager<std::uint8_t>;
  using Traits = concurrency::streams::char_traits<std::uint8_t>;

 public:
  explicit Sink(std::shared_ptr<Exchange> exchange)
      : Base(std::ios_base::out), exchange_(std::move(exchange)) {}

  bool can_seek() const override { return false; }
  bool has_size() const override { return false; }
  std::size_t buffer_size(std::ios_base::openmode) const override { return 0; }
  void set_buffer_size(std::size_t, std::ios_base::openmode) override {}
  std::size_t in_avail() const override { return 0; }
  pos_type getpos(std::ios_base::openmode) const override { return nowhere(); }
  pos_type seekpos(pos_type, std::ios_base::openmode) override { return nowhere(); }
  pos_type seekoff(off_type, std::ios_base::seekdir, std::ios_base::openmode) override {
    return nowhere();
  }
  bool acquire(std::uint8_t*& at, std::size_t& count) override {
    at = nullptr;
    count = 0;
    return false;
  }
  void release(std::uint8_t*, std::size_t) override {}

 protected:
  pplx::task<std::size_t> _putn(const std::uint8_t* bytes, std::size_t count) override {
    const std::string_view text(reinterpret_cast<const char*>(bytes), count);
    const pplx::task_completion_event<std::size_t> room;
    if (exchange_->push(text, [room, count] { room.set(count); }))
      return pplx::task_from_result(count);
    return pplx::create_task(room);
  }
  pplx::task<int_type> _putc(std::uint8_t byte) override {
    return _putn(&byte, 1).then([byte](std::size_t) { return static_cast<int_type>(byte); });
  }
  pplx::task<bool> _sync() override { return pplx::task_from_result(true); }
  std::uint8_t* _alloc(std::size_t) override { return nullptr; }
  void _commit(std::size_t) override {}
  // Nobody reads from it.
  pplx::task<int_type> _bumpc() override { return pplx::task_from_result(Traits::eof()); }
  int_type _sbumpc() override { return Traits::eof(); }
  pplx::task<int_type> _getc() override { return pplx::task_from_result(Traits::eof()); }
  int_type _sgetc() override { return Traits::eof(); }
  pplx::task<int_type> _nextc() override { return pplx::task_from_result(Traits::eof()); }
  pplx::task<int_type> _ungetc() override { return pplx::task_from_result(Traits::eof()); }
  pplx::task<std::size_t> _getn(std::uint8_t*, std::size_t) override {
    return pplx::task_from_result<std::size_t>(0);
  }
  std::size_t _scopy(std::uint8_t*, std::size_t) override { return 0; }

 private:
  static pos_type nowhere() { return static_cast<pos_type>(Traits::eof()); }
  const std::shared_ptr<Exchange> exchange_;
};

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

// A body that is no JSON comes from something between us and the API server.
Result<Response> response_of(int status, std::string_view body) {
  if (body.empty()) return Response{status, {}};
  auto parsed = parse_json(body, {.bytes = kLargestBody});
  if (parsed) return Response{status, std::move(*parsed)};
  if (status >= 200 && status < 300)
    return Error{Code::unreachable, "the API server's answer: " + parsed.error().message};
  return Response{status, Json{{"message", printable(body, 200)}}};
}

int code_of(const Json& status) {
  const Json* code = find(status, {"code"});
  return code != nullptr && code->is_number_integer() ? code->get<int>() : 500;
}

}  // namespace

// The two clients, the token, and one exchange over them.
class RestApi::Wire {
 public:
  explicit Wire(ClusterAccess access)
      : token_(access.token_file, access.token),
        server_(access.server),
        // Watches keep their connections for minutes; calls must never wait behind them.
        calls_(access.server, config_for(access)),
        watches_(access.server, config_for(access)) {}

  enum class Purpose { call, watch };

  // Takes bytes on the calling thread; false: enough. No bytes: an attempt begins, forget the last.
  using Take = std::function<bool(int status, std::string_view bytes)>;
  Result<int> exchange(const Request& request, Purpose purpose, Steady::time_point deadline,
                       const std::stop_token& stop, const Take& take);

 private:
  Result<int> attempt(const Request& request, Purpose purpose, const Secret& token,
                      Steady::time_point deadline, const std::stop_token& stop, const Take& take);
  http::http_request dress(const Request& request, const Secret& token) const;
  Error failed(const Request& request, const std::string& what) const;

  TokenSource token_;
  const std::string server_;
  http::client::http_client calls_, watches_;
};

http::http_request RestApi::Wire::dress(const Request& request, const Secret& token) const {
  http::http_request out(method_of(request.method));
  out.set_request_uri(web::uri(target_of(request)));
  if (!request.body.is_null())
    out.set_body(to_text(request.body), content_type(request.patch_type));
  out.headers().add("Accept", "application/json");
  out.headers().add("User-Agent", "cronlatch-operator/" CRONLATCH_VERSION);
  if (!token.empty()) out.headers().add("Authorization", "Bearer " + token.reveal());
  return out;
}

Error RestApi::Wire::failed(const Request& request, const std::string& what) const {
  const bool tls = what.find("SSL") != std::string::npos;
  return {tls ? Code::tls : Code::unreachable,
          "API server " + server_ + ", " + request.path + ": " + what};
}

Result<int> RestApi::Wire::exchange(const Request& request, Purpose purpose,
                                    Steady::time_point deadline, const std::stop_token& stop,
                                    const Take& take) {
  const Secret token = token_.current(Steady::now());
  auto status = attempt(request, purpose, token, deadline, stop, take);
  if (!status || *status != 401 || !token_.renewed_after_refusal(token, Steady::now()))
    return status;
  return attempt(request, purpose, token_.current(Steady::now()), deadline, stop, take);
}

Result<int> RestApi::Wire::attempt(const Request& request, Purpose purpose, const Secret& token,
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
      .then([shared](http::http_response response) {
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
  for (Exchange::Wake wake{}; (wake = shared->wait(deadline, stop)) != Exchange::Wake::end;) {
    if (wake == Exchange::Wake::deadline) broken = "no complete answer before the deadline";
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

RestApi::RestApi(std::unique_ptr<Wire> wire) : wire_(std::move(wire)) {}
RestApi::~RestApi() = default;

Result<std::unique_ptr<RestApi>> RestApi::open(ClusterAccess access) try {
  if (auto usable = check_server(access.server); !usable) return usable.error();
  if (auto ca = read_small_file(access.ca_file); !ca) return ca.error();
  // The library has one pool for the process, 40 threads unless it is told before its first use.
  static std::once_flag pool;
  std::call_once(pool, [] { crossplat::threadpool::initialize_with_threads(kThreads); });
  return std::unique_ptr<RestApi>(new RestApi(std::make_unique<Wire>(std::move(access))));
} catch (...) {
  return Error{Code::config, "cannot use the API server: " + why(std::current_exception())};
}

Result<Response> RestApi::call(const Request& request) {
  std::string body;
  bool too_large = false;
  auto status = wire_->exchange(request, Wire::Purpose::call, Steady::now() + request.deadline, {},
                                [&](int, std::string_view bytes) {
                                  if (bytes.empty()) body.clear();
                                  too_large = body.size() + bytes.size() > kLargestBody;
                                  if (!too_large) body += bytes;
                                  return !too_large;
                                });
  if (!status) return status.error();
  if (too_large) return Error{Code::unreachable, "the API server's answer is larger than 128 MiB"};
  return response_of(*status, body);
}

Result<Response> RestApi::watch(const Request& request,
                                const std::function<void(const WatchEvent&)>& on_event,
                                std::stop_token stop) {
  LineSplitter lines(kLongestLine);
  std::string refusal;            // the body of an answer that is no watch
  std::optional<Response> ended;  // by an ERROR event
  std::optional<Error> garbled;
  const auto on_line = [&](std::string_view line) {
    auto parsed = parse_json(line, {.bytes = kLongestLine});
    const Json* object = parsed ? find(*parsed, {"object"}) : nullptr;
    if (object == nullptr) {
      garbled = Error{Code::unreachable, "a line of the watch is no event"};
      return false;
    }
    WatchEvent event{string_at(*parsed, {"type"}), *object};
    if (event.type == "ERROR") {
      ended = Response{code_of(event.object), std::move(event.object)};
      return false;
    }
    on_event(event);
    return !stop.stop_requested();
  };
  auto status = wire_->exchange(request, Wire::Purpose::watch, Steady::now() + request.deadline,
                                stop, [&](int code, std::string_view bytes) {
                                  if (code == 200) return lines.push(bytes, on_line);
                                  if (bytes.empty()) refusal.clear();
                                  refusal += bytes;
                                  return refusal.size() < kLongestLine;
                                });
  if (ended) return std::move(*ended);
  if (garbled) return *garbled;
  if (lines.overlong()) return Error{Code::unreachable, "an event is larger than 16 MiB"};
  if (!status) return status.error();
  return *status == 200 ? Response{200, {}} : response_of(*status, refusal);
}

}  // namespace cronlatch::kube
