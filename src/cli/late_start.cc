// SPDX-License-Identifier: Apache-2.0
// What libraries do before main, and a run has no use for. The linker is told (--wrap, in
// src/CMakeLists.txt) to call these instead, in the static program only.
//
// yaml-cpp's sources include <iostream>: every start would set up eight streams and a locale, for
// streams that nobody uses. String streams, which yaml-cpp does use, set up the locale by
// themselves; tests/binary/arrows_test.sh holds us to no standard stream.
//
// libcrypto asks what the processor can do, which a virtual machine answers slowly. It asks again
// when TLS is first used; without an answer (SHA-256 of a command, for its lock) it takes the code
// that runs on every processor.
extern "C" {
// The names are the linker's: __wrap_ and the mangled std::ios_base::Init::Init() and ~Init().
void __wrap__ZNSt8ios_base4InitC1Ev(void*) {}
void __wrap__ZNSt8ios_base4InitD1Ev(void*) {}

void __real_OPENSSL_cpuid_setup();
void __wrap_OPENSSL_cpuid_setup() {
  static bool started = false;  // the first call comes before main, where there is one thread
  if (started) __real_OPENSSL_cpuid_setup();
  started = true;
}
}
