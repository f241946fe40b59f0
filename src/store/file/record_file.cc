// SPDX-License-Identifier: Apache-2.0
// Reading and replacing the record with as few system calls as there can be.
#include "store/file/record_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "store/file/fd.h"
#include "store/file/names.h"
#include "store/file/trouble.h"

namespace cronlatch::file {
namespace {

// 0 or an errno.
int read_whole(int fd, std::string& text) {
  char part[8192];
  for (;;) {
    const ssize_t n = read(fd, part, sizeof part);
    if (n == 0) return 0;
    if (n > 0)
      text.append(part, static_cast<std::size_t>(n));
    else if (errno != EINTR)
      return errno;
  }
}

int write_whole(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = write(fd, text.data(), text.size());
    if (n >= 0)
      text.remove_prefix(static_cast<std::size_t>(n));
    else if (errno != EINTR)
      return errno;
  }
  return 0;
}

int write_draft(int directory, const std::string& draft, std::string_view text) {
  // A draft may be left over from a process that was killed; the mutex says that nobody writes it
  // now.
  Fd fd(openat(directory, draft.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW,
               0600));
  if (!fd) return errno;
  if (const int error = write_whole(fd.get(), text)) return error;
  // Some file systems tell only now that there is no room.
  return fd.close_now() == 0 || errno == EINTR ? 0 : errno;
}

// A rename over a file makes ext4 write the new one out at once (auto_da_alloc), which costs more
// than all the rest of a run; an exchange does not. The old record is unlinked, never written to
// again: readers may have it open.
int replace(int directory, const std::string& draft, const std::string& name) {
  if (renameat2(directory, draft.c_str(), directory, name.c_str(), RENAME_EXCHANGE) == 0) {
    unlinkat(directory, draft.c_str(), 0);
    return 0;
  }
  // The first record has nothing to be exchanged with, and some file systems cannot.
  return renameat(directory, draft.c_str(), directory, name.c_str()) == 0 ? 0 : errno;
}

}  // namespace

std::string Place::shown(std::string_view suffix) const {
  return path + "/" + with_suffix(base, suffix);
}

Result<std::string> read_text(const Place& place) {
  const std::string name = with_suffix(place.base, kRecordSuffix);
  const Fd fd(openat(place.directory, name.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!fd && errno == ENOENT) return std::string();
  if (!fd) return trouble(errno, "open", place.shown(kRecordSuffix));
  std::string text;
  if (const int error = read_whole(fd.get(), text))
    return trouble(error, "read", place.shown(kRecordSuffix));
  return text;
}

Result<Stored> understand(const Place& place, std::string_view text) {
  Result<Stored> stored = decode(place.lock, text);
  if (stored) return stored;
  return Error{
      Code::config,
      "the record " + place.shown(kRecordSuffix) + " is damaged: " + stored.error().message,
      "repair it, or move it away: the lock then starts anew, without counters"};
}

Result<Stored> read_record(const Place& place) {
  const Result<std::string> text = read_text(place);
  if (!text) return text.error();
  return understand(place, *text);
}

Status write_text(const Place& place, std::string_view text) {
  const std::string draft = with_suffix(place.base, kDraftSuffix);
  const std::string name = with_suffix(place.base, kRecordSuffix);
  int error = write_draft(place.directory, draft, text);
  if (error == 0) error = replace(place.directory, draft, name);
  if (error == 0) return Done{};
  unlinkat(place.directory, draft.c_str(), 0);
  return trouble(error, "write", place.shown(kRecordSuffix));
}

}  // namespace cronlatch::file
