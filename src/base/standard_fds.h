// SPDX-License-Identifier: Apache-2.0
// The first step of main, before any other code of the program.
#pragma once

namespace cronlatch {

// Call before any descriptor is opened. Where 0, 1 or 2 is closed, opens a descriptor there that
// cannot be written and that a child does not inherit; on Linux, it cannot be read either. So no
// other descriptor becomes a standard stream, and a closed one is still closed for the child.
void reserve_standard_fds();

}  // namespace cronlatch
