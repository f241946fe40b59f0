// SPDX-License-Identifier: Apache-2.0
// The record of a lock on disk: replaced as a whole, so that readers need no lock; writers hold the
// lock's mutex.
#pragma once

#include <string>
#include <string_view>

#include "core/result.h"
#include "store/file/record_codec.h"

namespace cronlatch::file {

// Where the files of one lock are; the directory's descriptor is borrowed.
struct Place {
  int directory = -1;
  std::string path;  // of the directory, for messages
  std::string lock;
  std::string base;  // file_base(lock)
  std::string shown(std::string_view suffix) const;
};

// No file, and an empty one, is a lock that was never granted. Code::config names the file that
// cannot be understood: it is left as it is.
Result<Stored> read_record(const Place& place);
// The same in two steps, for who wants to know later whether anything has changed: the text as it
// stands ("" where there is no file), and what it says.
Result<std::string> read_text(const Place& place);
Result<Stored> understand(const Place& place, std::string_view text);
// A draft is written and put in the record's place in one step; it is not synced: a power cut
// within the next half minute may take the record away (then it is empty), and fences go on from
// the clock.
Status write_text(const Place& place, std::string_view text);

}  // namespace cronlatch::file
