// SPDX-License-Identifier: Apache-2.0
// BodyReservation: a share of the memory budget for all request bodies of a server. Many large
// requests at once cannot take more memory than the budget.
#pragma once

#include <atomic>
#include <cstddef>
#include <optional>
#include <utility>

namespace cronlatch::op::http {

// Releases its share when it is destroyed.
class BodyReservation {
 public:
  BodyReservation() = default;
  BodyReservation(BodyReservation&& other) noexcept
      : total_(std::exchange(other.total_, nullptr)), bytes_(other.bytes_) {}
  BodyReservation& operator=(BodyReservation&& other) noexcept {
    std::swap(total_, other.total_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~BodyReservation() {
    if (total_ != nullptr) *total_ -= bytes_;
  }

  // Nothing when `total` would exceed `max_bytes`.
  static std::optional<BodyReservation> reserve(std::atomic<std::size_t>& total, std::size_t bytes,
                                                std::size_t max_bytes) {
    BodyReservation reservation(total, bytes);
    if (total.load() > max_bytes) return std::nullopt;
    return reservation;
  }

 private:
  BodyReservation(std::atomic<std::size_t>& total, std::size_t bytes)
      : total_(&total), bytes_(bytes) {
    total += bytes;
  }
  std::atomic<std::size_t>* total_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace cronlatch::op::http
