// SPDX-License-Identifier: Apache-2.0
// A part of the budget that all bodies of a server share: many large requests at once must not cost
// more memory than one number says.
#pragma once

#include <atomic>
#include <cstddef>
#include <optional>
#include <utility>

namespace cronlatch::op::http {

// Given back when the request is forgotten.
class Reserved {
 public:
  Reserved() = default;
  Reserved(Reserved&& other) noexcept
      : total_(std::exchange(other.total_, nullptr)), bytes_(other.bytes_) {}
  Reserved& operator=(Reserved&& other) noexcept {
    std::swap(total_, other.total_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~Reserved() {
    if (total_ != nullptr) *total_ -= bytes_;
  }

  static std::optional<Reserved> of(std::atomic<std::size_t>& total, std::size_t bytes,
                                    std::size_t most) {
    Reserved reserved(total, bytes);  // gives it back if it was too much
    if (total.load() > most) return std::nullopt;
    return reserved;
  }

 private:
  Reserved(std::atomic<std::size_t>& total, std::size_t bytes) : total_(&total), bytes_(bytes) {
    total += bytes;
  }
  std::atomic<std::size_t>* total_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace cronlatch::op::http
