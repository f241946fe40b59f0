// SPDX-License-Identifier: Apache-2.0
// Bytes from a Redis server. Oracles: the parsed replies do not depend on the slices of the bytes;
// a broken stream stays broken; an error's text becomes one bounded, printable line. Input: the
// first byte determines the length of the slices, the rest is the server's output.
#include "base/result.h"
#include "fuzz/oracle.h"
#include "store/redis/errors.h"
#include "store/redis/resp.h"

namespace {

using namespace cronlatch;
using namespace cronlatch::redis;

struct Reading {
  std::vector<Resp> replies;
  std::string broken;
  bool operator==(const Reading&) const = default;
};

Reading read_in_slices(std::string_view bytes, std::size_t slice) {
  Reading reading;
  RespReader reader;
  while (!bytes.empty() && reader.broken().empty()) {
    reader.feed(bytes.substr(0, slice));
    bytes.remove_prefix(std::min(slice, bytes.size()));
    while (std::optional<Resp> reply = reader.next()) reading.replies.push_back(std::move(*reply));
  }
  reading.broken = reader.broken();
  if (!reading.broken.empty()) {
    reader.feed("+OK\r\n");
    fuzz::must(!reader.next(), "a broken stream stays broken");
  }
  return reading;
}

void look_at(const Resp& reply) {
  if (reply.type == Resp::Type::error) {
    const Error error = redis_error(classify_redis_error(reply.text), "server:6379", reply.text);
    fuzz::must(fuzz::is_one_line(error.message), "an error is one printable line");
    fuzz::must(error.message.size() < 1024, "an error is short");
  }
  for (const Resp& element : reply.elements) look_at(element);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  if (size < 2) return 0;
  const std::string_view sent = fuzz::text_of(bytes + 1, size - 1);
  const Reading whole = read_in_slices(sent, sent.size());
  fuzz::must(read_in_slices(sent, bytes[0] % 16 + 1U) == whole,
             "the replies do not depend on the slices");
  for (const Resp& reply : whole.replies) look_at(reply);
  return 0;
}
