// SPDX-License-Identifier: Apache-2.0
// Bytes from a PostgreSQL server. Oracles: the messages do not depend on the slices of the bytes; a
// broken stream stays broken; an error becomes one bounded, printable line. Input: the first byte
// determines the length of the slices, the rest is the server's output.
#include "base/result.h"
#include "fuzz/oracle.h"
#include "store/postgres/errors.h"
#include "store/postgres/message.h"
#include "store/postgres/scram.h"
#include "store/postgres/verb_codec.h"

namespace {

using namespace cronlatch;
using namespace cronlatch::postgres;

struct Reading {
  std::vector<Message> messages;
  std::string broken;
  bool operator==(const Reading&) const = default;
};

Reading read_in_slices(std::string_view bytes, std::size_t slice) {
  Reading reading;
  MessageReader reader;
  while (!bytes.empty() && reader.broken().empty()) {
    reader.feed(bytes.substr(0, slice));
    bytes.remove_prefix(std::min(slice, bytes.size()));
    while (std::optional<Message> message = reader.next())
      reading.messages.push_back(std::move(*message));
  }
  reading.broken = reader.broken();
  if (!reading.broken.empty()) {
    reader.feed(std::string("Z\0\0\0\5I", 6));
    fuzz::must(!reader.next(), "a broken stream stays broken");
  }
  return reading;
}

void look_at(const Message& message, std::vector<Row>& rows) {
  if (const auto row = parse_row(message.body)) rows.push_back(*row);
  if (const auto parsed = parse_server_message(message.body)) {
    const Error error = server_error(*parsed, "server:5432");
    fuzz::must(fuzz::is_one_line(error.message), "an error is one printable line");
    fuzz::must(error.message.size() < 1024, "an error is short");
  }
  static const Secret password("pencil");
  Scram scram(password, "rOprNGfwEbeRWgbNEkqO");
  // The number of iterations that a server may request takes too long here.
  if (message.body.size() < 64) (void)scram.answer(message.body);
  (void)scram.is_proved(message.body);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  if (size < 2) return 0;
  const std::string_view sent = fuzz::text_of(bytes + 1, size - 1);
  const Reading whole = read_in_slices(sent, sent.size());
  fuzz::must(read_in_slices(sent, bytes[0] % 16 + 1U) == whole,
             "the messages do not depend on the slices");
  std::vector<Row> rows;
  for (const Message& message : whole.messages) look_at(message, rows);
  for (const Request& request : {Request(Acquire{}), Request(Renew{}), Request(Release{})})
    (void)decode(request, rows);
  (void)decode_revoke(rows);
  (void)decode_views(rows, rows, rows);
  return 0;
}
