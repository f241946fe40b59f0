// SPDX-License-Identifier: Apache-2.0
// yaml-cpp makes tables of words before main, the same ones in every file of its own; a run without
// a configuration file never looks at them. In the static program the linker sets their makers
// apart (cmake/run_order.cmake) and sends the first call into yaml-cpp here (--wrap, in
// src/CMakeLists.txt).
#include <yaml-cpp/yaml.h>

#include <string>

extern "C" {
// Weak: the same where the linker made no such list.
[[gnu::weak]] extern void (*const cronlatch_late_begins[])();
[[gnu::weak]] extern void (*const cronlatch_late_ends[])();
}

// YAML::Load(const std::string&), by the names that the linker gives it.
YAML::Node real_load(const std::string& text) __asm__(
    "__real__ZN4YAML4LoadERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE");
YAML::Node late_load(const std::string& text) __asm__(
    "__wrap__ZN4YAML4LoadERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE");

YAML::Node late_load(const std::string& text) {
  [[maybe_unused]] static const bool made = [] {
    for (auto maker = cronlatch_late_begins; maker != cronlatch_late_ends; ++maker) (*maker)();
    return true;
  }();
  return real_load(text);
}
