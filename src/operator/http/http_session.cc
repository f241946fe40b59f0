// SPDX-License-Identifier: Apache-2.0
// HttpSession: one connection: [TLS handshake,] then requests and responses until one side closes.
// Everything except the handler runs on the strand of the connection.
#include "operator/http/http_session.h"

#include <array>
#include <boost/asio/post.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl/ssl_stream.hpp>
#include <exception>
#include <optional>
#include <type_traits>
#include <utility>

#include "operator/http/body_budget.h"
#include "operator/http/http_message.h"
#include "operator/http/step_deadline.h"

namespace cronlatch::op::http {
namespace {

namespace beast = boost::beast;
using std::chrono::steady_clock;
using TlsStream = beast::ssl_stream<Socket>;

// Libraries that a handler uses may throw; a response must be sent nevertheless.
HttpResponse call_handler(const HttpServerState& state, const HttpRequest& request) {
  try {
    return state.handler(request);
  } catch (const std::exception& e) {
    state.log({Level::error,
               "handler_failed",
               "a request failed because of an internal error",
               {{"path", request.path}, {"reason", e.what()}}});
  }
  return {.status = 500, .body = "internal error\n"};
}

// A listener on "[::]" reports an IPv4 client as ::ffff:192.0.2.1.
std::string address_of(const asio::ip::address& address) {
  if (!address.is_v6() || !address.to_v6().is_v4_mapped()) return address.to_string();
  return asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6()).to_string();
}

template <class Stream>
class HttpSession final : public HttpConnection,
                          public std::enable_shared_from_this<HttpSession<Stream>> {
  static constexpr bool kTls = std::is_same_v<Stream, TlsStream>;

 public:
  template <class... StreamArgs>
  explicit HttpSession(HttpServerState& state, StreamArgs&&... args)
      : state_(state),
        stream_(std::forward<StreamArgs>(args)...),
        deadline_(stream_.get_executor()),
        buffer_(2 * state.limits.header_bytes) {}
  ~HttpSession() override { state_.remove(this); }
  HttpSession(const HttpSession&) = delete;
  HttpSession& operator=(const HttpSession&) = delete;

  void start() override {
    asio::dispatch(stream_.get_executor(),
                   [self = this->shared_from_this()] { self->start_on_strand(); });
  }
  void close_if_idle() override {
    asio::post(stream_.get_executor(), [self = this->shared_from_this()] {
      if (self->step_ != Step::idle) return;
      // A new connection has a short time for its first request.
      if (self->has_sent_request_) return self->close();
      self->enter_step(Step::idle, self->state_.limits.linger);
    });
  }
  void close_now() override {
    asio::post(stream_.get_executor(), [self = this->shared_from_this()] { self->close(); });
  }
  SteadyTime waiting_since() const override { return waiting_since_.load(); }

 private:
  enum class Step { handshake, idle, receiving, answering, writing, closing };

  Socket& socket() {
    if constexpr (kTls) {
      return stream_.next_layer();
    } else {
      return stream_;
    }
  }

  void start_on_strand() {
    ErrorCode ignored;
    socket().set_option(asio::ip::tcp::no_delay(true), ignored);
    peer_ = address_of(socket().remote_endpoint(ignored).address());
    if constexpr (kTls) {
      enter_step(Step::handshake, state_.limits.handshake);
      stream_.async_handshake(
          asio::ssl::stream_base::server,
          [self = this->shared_from_this()](const ErrorCode& error) { self->on_handshake(error); });
    } else {
      wait_for_request();
    }
  }

  void on_handshake(const ErrorCode& error) {
    if (error) {
      // A probe that connects and disconnects is no error. A client that rejects the certificate is
      // a frequent cause of failed admissions.
      const bool tls = error.category() == asio::error::get_ssl_category();
      state_.log({tls && state_.may_warn() ? Level::warn : Level::debug,
                  "tls_handshake_failed",
                  "the TLS handshake with a client failed",
                  {{"reason", error.message()}}});
      return close();
    }
    wait_for_request();
  }

  void wait_for_request() {
    parser_.emplace();
    parser_->header_limit(static_cast<std::uint32_t>(state_.limits.header_bytes));
    parser_->body_limit(state_.limits.body_bytes);
    reserved_ = BodyReservation();
    if (buffer_.size() > 0) return read_header();  // pipelined
    enter_step(Step::idle, state_.stopping ? state_.limits.linger : state_.limits.idle);
    stream_.async_read_some(buffer_.prepare(4096), [self = this->shared_from_this()](
                                                       const ErrorCode& error, std::size_t bytes) {
      if (error) return self->close();
      self->buffer_.commit(bytes);
      self->read_header();
    });
  }

  void read_header() {
    enter_step(Step::receiving, state_.limits.header);
    protocol::async_read_header(
        stream_, buffer_, *parser_,
        [self = this->shared_from_this()](const ErrorCode& error, std::size_t) {
          self->on_header(error);
        });
  }

  void on_header(const ErrorCode& error) {
    if (error) return respond_to_error(error);
    const auto length = parser_->content_length();
    auto reservation = BodyReservation::reserve(state_.body_bytes,
                                                length || !parser_->chunked()
                                                    ? static_cast<std::size_t>(length.value_or(0))
                                                    : state_.limits.body_bytes,
                                                state_.limits.body_budget);
    if (!reservation)
      return respond({.status = 503, .body = "too many large requests\n"}, Next::close);
    reserved_ = std::move(*reservation);
    if (beast::iequals(parser_->get()[protocol::field::expect], "100-continue")) {
      return send_100_continue();
    }
    read_body();
  }

  void send_100_continue() {
    enter_step(Step::receiving, state_.limits.body);
    continue_.emplace(protocol::status::continue_, 11);
    protocol::async_write(stream_, *continue_,
                          [self = this->shared_from_this()](const ErrorCode& error, std::size_t) {
                            if (error) return self->close();
                            self->read_body();
                          });
  }

  void read_body() {
    enter_step(Step::receiving, state_.limits.body);
    protocol::async_read(stream_, buffer_, *parser_,
                         [self = this->shared_from_this()](const ErrorCode& error, std::size_t) {
                           if (error) return self->respond_to_error(error);
                           self->dispatch(self->parser_->release());
                         });
  }

  void dispatch(protocol::request<protocol::string_body> message) {
    has_sent_request_ = true;
    traits_ = traits_of(message);
    HttpRequest request = to_request(std::move(message));
    request.peer = peer_;
    if (++state_.queued > state_.limits.queue) {
      --state_.queued;
      return respond({.status = 503, .body = "too many requests\n"}, Next::close);
    }
    enter_step(Step::answering, state_.limits.answer);
    asio::post(state_.workers,
               [self = this->shared_from_this(), request = std::move(request),
                reservation = std::move(reserved_), request_number = request_number_]() mutable {
                 --self->state_.queued;
                 HttpResponse response = call_handler(self->state_, request);
                 auto executor = self->stream_.get_executor();
                 asio::post(executor, [self = std::move(self), request_number,
                                       response = std::move(response)]() mutable {
                   if (request_number == self->request_number_ && self->step_ == Step::answering) {
                     self->respond(std::move(response), Next::keep_open);
                   }
                 });
               });
  }

  enum class Next { keep_open, close };
  void respond(HttpResponse response, Next next) {
    ++request_number_;  // a later answer of the handler is discarded
    enter_step(Step::writing, state_.limits.write);
    const bool keep_open = next == Next::keep_open && traits_.keep_alive && !state_.draining;
    response_.emplace(to_message(std::move(response), traits_, keep_open));
    protocol::async_write(
        stream_, *response_,
        [self = this->shared_from_this(), keep_open](const ErrorCode& error, std::size_t) {
          if (error) return self->close();
          self->response_.reset();
          if (keep_open) return self->wait_for_request();
          self->close_gracefully();
        });
  }

  void respond_to_error(const ErrorCode& error) {
    if (!is_protocol_error(error)) return close();
    respond(response_for(error), Next::close);
  }

  void close_gracefully() {
    enter_step(Step::closing, state_.limits.linger);
    if constexpr (kTls) {
      stream_.async_shutdown(
          [self = this->shared_from_this()](const ErrorCode&) { self->drain(); });
    } else {
      drain();
    }
  }

  // A close with unread bytes sends a reset, and the peer may lose the response. The session
  // therefore discards received bytes first, up to a time and a size.
  void drain() {
    if (!socket().is_open()) return;
    ErrorCode ignored;
    socket().shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
    drain_some();
  }
  void drain_some() {
    socket().async_read_some(
        asio::buffer(drain_buffer_),
        [self = this->shared_from_this()](const ErrorCode& error, std::size_t bytes) {
          self->discarded_ += bytes;
          if (error || self->discarded_ > self->state_.limits.body_bytes) return self->close();
          self->drain_some();
        });
  }

  void close() {
    waiting_since_ = SteadyTime::max();
    deadline_.cancel();
    ErrorCode ignored;
    socket().close(ignored);
  }

  void enter_step(Step step, Millis limit) {
    step_ = step;
    const auto now = steady_clock::now();
    waiting_since_ = step == Step::answering ? SteadyTime::max() : now;
    deadline_.set(now, limit, [self = this->shared_from_this()] { self->on_deadline(); });
  }
  void on_deadline() {
    if (step_ != Step::answering) return close();
    state_.log({Level::error, "answer_late", "the handler did not answer a request in time", {}});
    respond({.status = 503, .body = "no answer in time\n"}, Next::close);
  }

  HttpServerState& state_;
  Stream stream_;
  StepDeadline deadline_;
  beast::flat_buffer buffer_;
  std::optional<protocol::request_parser<protocol::string_body>> parser_;
  std::optional<protocol::response<protocol::string_body>> response_;
  std::optional<protocol::response<protocol::empty_body>> continue_;
  BodyReservation reserved_;
  Step step_ = Step::idle;
  bool has_sent_request_ = false;
  RequestTraits traits_;  // of the last request
  std::string peer_;
  std::uint64_t request_number_ = 0;
  std::atomic<SteadyTime> waiting_since_{steady_clock::now()};
  std::array<char, 1024> drain_buffer_{};
  std::size_t discarded_ = 0;
};

}  // namespace

std::shared_ptr<HttpConnection> make_plain_session(Socket socket, HttpServerState& state) {
  return std::make_shared<HttpSession<Socket>>(state, std::move(socket));
}

std::shared_ptr<HttpConnection> make_tls_session(Socket socket, asio::ssl::context& context,
                                                 HttpServerState& state) {
  return std::make_shared<HttpSession<TlsStream>>(state, std::move(socket), context);
}

}  // namespace cronlatch::op::http
