// SPDX-License-Identifier: Apache-2.0
// The stream buffer into which cpprestsdk writes a response. It forwards the bytes to an Exchange,
// which pauses the library. For https_client.cc only.
#pragma once

#include <cpprest/astreambuf.h>

#include <memory>
#include <utility>

#include "kube/exchange.h"

namespace cronlatch::kube {

// Must not throw: an exception would terminate the process.
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
  pos_type getpos(std::ios_base::openmode) const override { return no_position(); }
  pos_type seekpos(pos_type, std::ios_base::openmode) override { return no_position(); }
  pos_type seekoff(off_type, std::ios_base::seekdir, std::ios_base::openmode) override {
    return no_position();
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
  // Reading is not supported.
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
  static pos_type no_position() { return static_cast<pos_type>(Traits::eof()); }
  const std::shared_ptr<Exchange> exchange_;
};

}  // namespace cronlatch::kube
