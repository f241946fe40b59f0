// SPDX-License-Identifier: Apache-2.0
// cronlatch-gen PROJECT: writes the documents that are rendered from tables. Not part of a release.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "gen/pages.h"

namespace {

bool write_file(const std::filesystem::path& path, const std::string& text) {
  std::error_code failed;
  std::filesystem::create_directories(path.parent_path(), failed);
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  if (!file) {
    std::fprintf(stderr, "cronlatch-gen: cannot write %s\n", path.c_str());
    return false;
  }
  std::printf("%s\n", path.c_str());
  return true;
}

bool write_section(const std::filesystem::path& path, const cronlatch::gen::PageSection& section) {
  std::ifstream file(path, std::ios::binary);
  const std::string old{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const auto text = cronlatch::gen::with_section(old, section);
  if (text) return write_file(path, *text);
  std::fprintf(stderr, "cronlatch-gen: %s: line not found: %s, or after it: %s\n", path.c_str(),
               section.begin.c_str(), section.end.c_str());
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: cronlatch-gen PROJECT (the directory that contains docs/)\n", stderr);
    return 64;
  }
  const std::filesystem::path project = argv[1];
  for (const cronlatch::gen::Page& page : cronlatch::gen::pages())
    if (!write_file(project / page.path, page.text)) return 1;
  for (const cronlatch::gen::PageSection& section : cronlatch::gen::sections())
    if (!write_section(project / section.path, section)) return 1;
  return 0;
}
