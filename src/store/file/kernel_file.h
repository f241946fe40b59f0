// SPDX-License-Identifier: Apache-2.0
// The file whose kernel lock decides about a slot of a lock: <name>.lock or <name>.<slot>.slot in
// the directory of the store, or the file in the lock's name (core/lock_file.h), which other
// programs lock, too.
#pragma once

#include <cstdint>
#include <optional>

#include "base/result.h"
#include "store/file/holders.h"
#include "store/file/kernel_lock.h"
#include "store/file/record_file.h"

namespace cronlatch::file {

// As KernelLock::try_take, or KernelLock::try_take_file. Only a lock without a path in its name has
// slots above 1.
Result<std::optional<KernelLock>> try_take_kernel_lock(const LockFiles& files, unsigned slot = 1);

// As HolderTable::find.
Holder find_holder(const HolderTable& holders, const LockFiles& files, std::uint64_t pid_namespace,
                   unsigned slot = 1);

}  // namespace cronlatch::file
