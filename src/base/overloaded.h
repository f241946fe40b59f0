// SPDX-License-Identifier: Apache-2.0
// One function object made of several lambdas, for std::visit: a missing alternative does not
// compile.
#pragma once

namespace cronlatch {

template <class... Fs>
struct Overloaded : Fs... {
  using Fs::operator()...;
};
template <class... Fs>
Overloaded(Fs...) -> Overloaded<Fs...>;

}  // namespace cronlatch
