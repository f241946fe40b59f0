// SPDX-License-Identifier: Apache-2.0
// yaml-cpp's sources include <iostream>, so that every start of the program would set up eight
// streams and a locale, for streams that nobody uses. The linker is told (--wrap, in
// src/CMakeLists.txt) to call these instead. String streams, which yaml-cpp does use, set up the
// locale by themselves; tests/binary/arrows_test.sh holds us to no standard stream.
extern "C" {
// The names are the linker's: __wrap_ and the mangled std::ios_base::Init::Init() and ~Init().
void __wrap__ZNSt8ios_base4InitC1Ev(void*) {}
void __wrap__ZNSt8ios_base4InitD1Ev(void*) {}
}
