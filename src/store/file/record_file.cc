// SPDX-License-Identifier: Apache-2.0
// Reads, overwrites and replaces the record with as few system calls as possible.
#include "store/file/record_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>

#include "base/fd.h"
#include "store/file/file_errors.h"
#include "store/file/names.h"

namespace cronlatch::file {
namespace {

constexpr std::size_t kPage = 4096;
constexpr int kMaxReads = 100;

// The text without the empty lines that fill the page. Comparing the padding with itself, shifted
// by one byte, is a memcmp.
std::string_view unpadded(std::string_view text) {
  const std::size_t end = text.find("\n\n");
  if (end == text.npos) return text;
  const std::string_view padding = text.substr(end);
  const bool only_padding = padding.substr(1) == padding.substr(0, padding.size() - 1);
  return only_padding ? text.substr(0, end == 0 ? 0 : end + 1) : text;
}

// Reads the record's text; returns 0 or an errno. A short read of a plain file is its end: a record
// that fits into a page needs one call.
int read_whole(int fd, std::string& text) {
  char block[kPage + 1];
  for (;;) {
    const ssize_t n = pread(fd, block, sizeof block, static_cast<off_t>(text.size()));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno;
    const std::string_view got(block, static_cast<std::size_t>(n));
    const bool all = got.size() < sizeof block;
    if (all && text.empty()) {
      text = unpadded(got);
      return 0;
    }
    text += got;
    if (!all) continue;
    text.resize(unpadded(text).size());
    return 0;
  }
}

void pad(std::string& text) { text.resize((text.size() + kPage - 1) / kPage * kPage, '\n'); }

// A signal cannot interrupt the kernel's copy of one page: it is written, or it is not. No file is
// created or unlinked, which is most of the cost of a replacement.
bool overwrite(const RecordFile& record, std::string_view page) {
  struct stat st {};
  return record.fd && page.size() == kPage && fstat(record.fd.get(), &st) == 0 &&
         st.st_size == static_cast<off_t>(kPage) &&
         pwrite(record.fd.get(), page.data(), kPage, 0) == static_cast<ssize_t>(kPage);
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
  // A killed process can have left a draft. No other process writes it now: this one has the mutex.
  Fd fd(openat(directory, draft.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW,
               0600));
  if (!fd) return errno;
  if (const int error = write_whole(fd.get(), text)) return error;
  // Some file systems report a full disk only at close().
  return fd.close() == 0 || errno == EINTR ? 0 : errno;
}

// A rename over a file makes ext4 write the new file to disk at once (auto_da_alloc), which costs
// more than the rest of a run. An exchange does not.
int replace(int directory, const std::string& draft, const std::string& name) {
  if (renameat2(directory, draft.c_str(), directory, name.c_str(), RENAME_EXCHANGE) == 0) {
    unlinkat(directory, draft.c_str(), 0);
    return 0;
  }
  // Without an old record there is nothing to exchange, and some file systems cannot exchange.
  return renameat(directory, draft.c_str(), directory, name.c_str()) == 0 ? 0 : errno;
}

Result<std::string> read_text(const LockFiles& files) {
  const std::string name = with_suffix(files.base, kRecordSuffix);
  const Fd fd(openat(files.directory, name.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!fd && errno == ENOENT) return std::string();
  if (!fd) return file_error(errno, "open", files.path_of(kRecordSuffix));
  std::string text;
  if (const int error = read_whole(fd.get(), text))
    return file_error(error, "read", files.path_of(kRecordSuffix));
  return text;
}

}  // namespace

std::string LockFiles::path_of(std::string_view suffix) const {
  return path + "/" + with_suffix(base, suffix);
}

Result<RecordFile> open_record(const LockFiles& files) {
  const std::string name = with_suffix(files.base, kRecordSuffix);
  RecordFile record{Fd(openat(files.directory, name.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW)), {}};
  if (!record.fd && errno == ENOENT) return record;
  if (!record.fd) return file_error(errno, "open", files.path_of(kRecordSuffix));
  if (const int error = read_whole(record.fd.get(), record.text))
    return file_error(error, "read", files.path_of(kRecordSuffix));
  return record;
}

Result<Stored> decode_record(const LockFiles& files, std::string_view text) {
  Result<Stored> stored = decode(files.lock, text);
  if (stored) return stored;
  return Error{
      Code::config,
      "the record " + files.path_of(kRecordSuffix) + " is damaged: " + stored.error().message,
      "repair the file, or move it: the lock then starts again without counters"};
}

Result<Stored> read_record(const LockFiles& files) {
  // During a write the checksum is wrong; it is right after the write.
  for (int reads = 1;; ++reads) {
    const Result<std::string> text = read_text(files);
    if (!text) return text.error();
    Result<Stored> stored = decode_record(files, *text);
    if (stored || reads == kMaxReads) return stored;
  }
}

Status write_text(const LockFiles& files, const RecordFile& before, std::string text) {
  pad(text);
  if (overwrite(before, text)) return Done{};
  const std::string draft = with_suffix(files.base, kDraftSuffix);
  const std::string name = with_suffix(files.base, kRecordSuffix);
  int error = write_draft(files.directory, draft, text);
  if (error == 0) error = replace(files.directory, draft, name);
  if (error == 0) return Done{};
  unlinkat(files.directory, draft.c_str(), 0);
  return file_error(error, "write", files.path_of(kRecordSuffix));
}

}  // namespace cronlatch::file
