// SPDX-License-Identifier: Apache-2.0
// The life of one connection: [handshake,] then request, answer, request, ... until somebody
// closes. Everything runs on the connection's strand but the handler itself.
#include "operator/http/server_state.h"

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
#include "operator/http/step_deadline.h"

namespace cronlatch::op::http {
namespace {

namespace beast = boost::beast;
namespace protocol = boost::beast::http;
using ErrorCode = boost::system::error_code;
using std::chrono::steady_clock;
using TlsStream = beast::ssl_stream<Socket>;

// Libraries below a handler may throw; an answer must go out nevertheless.
HttpResponse answer_of(const Shared& shared, const HttpRequest& request) {
  try {
    return shared.handler(request);
  } catch (const std::exception& e) {
    shared.log({Level::error,
                "handler_failed",
                "a request was not answered for a defect of ours",
                {{"path", request.path}, {"reason", e.what()}}});
  }
  return {.status = 500, .body = "internal error\n"};
}

int status_of(const ErrorCode& trouble) {
  if (trouble == protocol::error::header_limit) return 431;
  if (trouble == protocol::error::buffer_overflow) return 431;
  if (trouble == protocol::error::body_limit) return 413;
  return 400;
}

bool is_protocol_error(const ErrorCode& trouble) {
  return trouble.category() == make_error_code(protocol::error::bad_method).category() &&
         trouble != protocol::error::end_of_stream && trouble != protocol::error::partial_message;
}

std::string text(beast::string_view view) { return {view.data(), view.size()}; }

template <class Stream>
class Dialogue final : public Connection, public std::enable_shared_from_this<Dialogue<Stream>> {
  static constexpr bool kTls = std::is_same_v<Stream, TlsStream>;

 public:
  template <class... StreamArgs>
  explicit Dialogue(Shared& shared, StreamArgs&&... args)
      : shared_(shared),
        stream_(std::forward<StreamArgs>(args)...),
        deadline_(stream_.get_executor()),
        buffer_(2 * shared.limits.header_bytes) {}
  ~Dialogue() override { shared_.remove(this); }
  Dialogue(const Dialogue&) = delete;
  Dialogue& operator=(const Dialogue&) = delete;

  void start() override {
    asio::dispatch(stream_.get_executor(), [self = this->shared_from_this()] { self->begin(); });
  }
  void close_if_idle() override {
    asio::post(stream_.get_executor(), [self = this->shared_from_this()] {
      if (self->step_ != Step::idle) return;
      // Who has connected and not yet spoken may be about to.
      if (self->spoken_) return self->close();
      self->enter(Step::idle, self->shared_.limits.linger);
    });
  }
  void close_now() override {
    asio::post(stream_.get_executor(), [self = this->shared_from_this()] { self->close(); });
  }
  SteadyTime waiting_since() const override { return waiting_since_.load(); }

 private:
  enum class Step { handshake, idle, receiving, answering, writing, parting };

  Socket& socket() {
    if constexpr (kTls) {
      return stream_.next_layer();
    } else {
      return stream_;
    }
  }

  void begin() {
    ErrorCode ignored;
    socket().set_option(asio::ip::tcp::no_delay(true), ignored);
    if constexpr (kTls) {
      enter(Step::handshake, shared_.limits.handshake);
      stream_.async_handshake(asio::ssl::stream_base::server,
                              [self = this->shared_from_this()](const ErrorCode& trouble) {
                                self->on_handshake(trouble);
                              });
    } else {
      wait_for_request();
    }
  }

  void on_handshake(const ErrorCode& trouble) {
    if (trouble) {
      // A probe that connects and goes is nobody's trouble; a client that refuses our certificate
      // is the first thing to look for when admissions fail.
      const bool tls = trouble.category() == asio::error::get_ssl_category();
      shared_.log({tls && shared_.may_warn() ? Level::warn : Level::debug,
                   "tls_handshake_failed",
                   "a client could not agree on TLS with us",
                   {{"reason", trouble.message()}}});
      return close();
    }
    wait_for_request();
  }

  void wait_for_request() {
    parser_.emplace();
    parser_->header_limit(static_cast<std::uint32_t>(shared_.limits.header_bytes));
    parser_->body_limit(shared_.limits.body_bytes);
    reserved_ = Reserved();
    if (buffer_.size() > 0) return read_header();  // pipelined
    enter(Step::idle, shared_.stopping ? shared_.limits.linger : shared_.limits.idle);
    stream_.async_read_some(
        buffer_.prepare(4096),
        [self = this->shared_from_this()](const ErrorCode& trouble, std::size_t bytes) {
          if (trouble) return self->close();
          self->buffer_.commit(bytes);
          self->read_header();
        });
  }

  void read_header() {
    enter(Step::receiving, shared_.limits.header);
    protocol::async_read_header(
        stream_, buffer_, *parser_,
        [self = this->shared_from_this()](const ErrorCode& trouble, std::size_t) {
          self->on_header(trouble);
        });
  }

  void on_header(const ErrorCode& trouble) {
    if (trouble) return refuse(trouble);
    const auto length = parser_->content_length();
    auto part =
        Reserved::of(shared_.body_bytes,
                     length || !parser_->chunked() ? static_cast<std::size_t>(length.value_or(0))
                                                   : shared_.limits.body_bytes,
                     shared_.limits.body_budget);
    if (!part) return respond({.status = 503, .body = "too many large requests\n"}, Then::close);
    reserved_ = std::move(*part);
    if (beast::iequals(parser_->get()[protocol::field::expect], "100-continue")) {
      return invite_body();
    }
    read_body();
  }

  void invite_body() {
    enter(Step::receiving, shared_.limits.body);
    invitation_.emplace(protocol::status::continue_, 11);
    protocol::async_write(stream_, *invitation_,
                          [self = this->shared_from_this()](const ErrorCode& trouble, std::size_t) {
                            if (trouble) return self->close();
                            self->read_body();
                          });
  }

  void read_body() {
    enter(Step::receiving, shared_.limits.body);
    protocol::async_read(stream_, buffer_, *parser_,
                         [self = this->shared_from_this()](const ErrorCode& trouble, std::size_t) {
                           if (trouble) return self->refuse(trouble);
                           self->ask(self->parser_->release());
                         });
  }

  void ask(protocol::request<protocol::string_body> message) {
    spoken_ = true;
    keep_alive_ = message.keep_alive();
    head_ = message.method() == protocol::verb::head;
    version_ = message.version();
    const auto target = message.target();
    HttpRequest request{.method = text(message.method_string()),
                        .path = text(target.substr(0, target.find('?'))),
                        .content_type = text(message[protocol::field::content_type]),
                        .body = std::move(message.body())};
    if (++shared_.queued > shared_.limits.queue) {
      --shared_.queued;
      return respond({.status = 503, .body = "too many requests\n"}, Then::close);
    }
    enter(Step::answering, shared_.limits.answer);
    asio::post(shared_.workers, [self = this->shared_from_this(), request = std::move(request),
                                 part = std::move(reserved_), question = question_]() mutable {
      --self->shared_.queued;
      HttpResponse response = answer_of(self->shared_, request);
      auto executor = self->stream_.get_executor();
      asio::post(executor,
                 [self = std::move(self), question, response = std::move(response)]() mutable {
                   if (question == self->question_ && self->step_ == Step::answering) {
                     self->respond(std::move(response), Then::stay);
                   }
                 });
    });
  }

  enum class Then { stay, close };
  void respond(HttpResponse response, Then then) {
    ++question_;  // an answer that comes later is nobody's
    enter(Step::writing, shared_.limits.write);
    const bool stay = then == Then::stay && keep_alive_ && !shared_.draining;
    response_.emplace(static_cast<protocol::status>(response.status), version_);
    response_->set(protocol::field::content_type, response.content_type);
    if (!response.allow.empty()) response_->set(protocol::field::allow, response.allow);
    response_->keep_alive(stay);
    response_->content_length(response.body.size());
    if (!head_) response_->body() = std::move(response.body);
    protocol::async_write(
        stream_, *response_,
        [self = this->shared_from_this(), stay](const ErrorCode& trouble, std::size_t) {
          if (trouble) return self->close();
          self->response_.reset();
          if (stay) return self->wait_for_request();
          self->part();
        });
  }

  void refuse(const ErrorCode& trouble) {
    if (!is_protocol_error(trouble)) return close();
    respond({.status = status_of(trouble), .body = trouble.message() + "\n"}, Then::close);
  }

  void part() {
    enter(Step::parting, shared_.limits.linger);
    if constexpr (kTls) {
      stream_.async_shutdown(
          [self = this->shared_from_this()](const ErrorCode&) { self->listen_to_the_rest(); });
    } else {
      listen_to_the_rest();
    }
  }

  // Closing while something is unread would send a reset, and the peer might lose our answer.
  void listen_to_the_rest() {
    if (!socket().is_open()) return;
    ErrorCode ignored;
    socket().shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
    discard();
  }
  // For a while and up to a size: who keeps sending does not want our answer.
  void discard() {
    socket().async_read_some(asio::buffer(rest_), [self = this->shared_from_this()](
                                                      const ErrorCode& trouble, std::size_t bytes) {
      self->discarded_ += bytes;
      if (trouble || self->discarded_ > self->shared_.limits.body_bytes) return self->close();
      self->discard();
    });
  }

  void close() {
    waiting_since_ = SteadyTime::max();
    deadline_.end();
    ErrorCode ignored;
    socket().close(ignored);
  }

  void enter(Step step, Millis limit) {
    step_ = step;
    const auto now = steady_clock::now();
    waiting_since_ = step == Step::answering ? SteadyTime::max() : now;
    deadline_.set(now, limit, [self = this->shared_from_this()] { self->too_late(); });
  }
  void too_late() {
    if (step_ != Step::answering) return close();
    shared_.log({Level::error, "answer_late", "a request was not answered in time", {}});
    respond({.status = 503, .body = "no answer in time\n"}, Then::close);
  }

  Shared& shared_;
  Stream stream_;
  Deadline deadline_;
  beast::flat_buffer buffer_;
  std::optional<protocol::request_parser<protocol::string_body>> parser_;
  std::optional<protocol::response<protocol::string_body>> response_;
  std::optional<protocol::response<protocol::empty_body>> invitation_;
  Reserved reserved_;
  Step step_ = Step::idle;
  bool spoken_ = false;
  bool keep_alive_ = false;
  bool head_ = false;
  unsigned version_ = 11;
  std::uint64_t question_ = 0;
  std::atomic<SteadyTime> waiting_since_{steady_clock::now()};
  std::array<char, 1024> rest_{};
  std::size_t discarded_ = 0;  // while parting
};

}  // namespace

std::shared_ptr<Connection> make_plain(Socket socket, Shared& shared) {
  return std::make_shared<Dialogue<Socket>>(shared, std::move(socket));
}

std::shared_ptr<Connection> make_tls(Socket socket, asio::ssl::context& context, Shared& shared) {
  return std::make_shared<Dialogue<TlsStream>>(shared, std::move(socket), context);
}

}  // namespace cronlatch::op::http
