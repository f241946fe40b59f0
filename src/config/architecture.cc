// SPDX-License-Identifier: Apache-2.0
#include "config/architecture.h"

#include "base/text.h"

namespace cronlatch {
namespace {

std::string names_of(const StringLists& lists) {
  std::string names;
  for (const auto& [name, words] : lists)
    names += (names.empty() ? "" : ", ") + printable(name, 40);
  return names;
}

}  // namespace

std::string_view this_architecture() {
#if defined(__x86_64__)
  return "amd64";
#elif defined(__aarch64__)
  return "arm64";
#elif defined(__arm__)
  return "arm";
#elif defined(__i386__)
  return "386";
#elif defined(__powerpc64__) && defined(__LITTLE_ENDIAN__)
  return "ppc64le";
#elif defined(__s390x__)
  return "s390x";
#elif defined(__riscv) && __riscv_xlen == 64
  return "riscv64";
#else
#error "Name this architecture as the label kubernetes.io/arch does."
#endif
}

Result<std::vector<std::string>> full_command(const Options& options, std::string_view architecture,
                                              std::vector<std::string> rest) {
  if (options.command_by_arch.empty()) return rest;
  const auto own = options.command_by_arch.find(std::string(architecture));
  if (own == options.command_by_arch.end())
    return Error{Code::usage,
                 "command-by-arch: no entry for " + std::string(architecture) + ", only for " +
                     names_of(options.command_by_arch),
                 "add an entry, or run on one of these architectures"};
  std::vector<std::string> command = own->second;
  command.insert(command.end(), rest.begin(), rest.end());
  if (!command.empty() && !command.front().empty()) return command;
  return Error{Code::usage, "command-by-arch: no command for " + std::string(architecture),
               "write it there, or after --"};
}

}  // namespace cronlatch
