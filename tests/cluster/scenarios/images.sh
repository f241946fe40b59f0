#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A gated command runs in an image like Alpine (musl), one like distroless (glibc, no shell), and one from scratch.
# shellcheck source=tests/cluster/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../lib.sh"
fresh_namespace pod-security.kubernetes.io/warn=restricted

PROGRAM='#include <stdio.h>
#include <stdlib.h>
int main(void) {
  const char* fence = getenv("CRONLATCH_FENCE");
  printf("ran with fence %s\n", fence ? fence : "none");
  return fence ? 0 : 1;
}'

make_alpine_like() {
  local folder loader
  folder=$(new_root)
  add_users "$folder"
  install -D /bin/busybox "$folder/bin/busybox"
  ln -s busybox "$folder/bin/sh"
  musl-gcc -x c -O1 -s -o "$folder/program" - <<<"$PROGRAM"
  loader=$(file_interpreter "$folder/program")
  install -D "$(readlink -f "$loader")" "$folder$loader"
  pack alpine-like "$folder" '{"Cmd":["sh"],"Env":["PATH=/bin"],"User":"65534:65534"}'
}
file_interpreter() { readelf -l "$1" | sed -n 's/.*interpreter: \(.*\)]/\1/p'; }

make_distroless_like() {
  local folder
  folder=$(new_root)
  add_users "$folder"
  gcc -x c -O1 -s -o "$folder/program" - <<<"$PROGRAM"
  copy_libraries "$folder" "$folder/program"
  pack distroless-like "$folder" '{"User":"65532:65532"}'
}

# Contains only one file: no /tmp, no /etc/passwd, no user.
make_from_scratch() {
  local folder
  folder=$(new_root)
  rmdir "$folder/tmp"
  static_program "$folder/program" "$PROGRAM"
  pack from-scratch "$folder" '{"User":"1"}'
}

make_alpine_like
make_distroless_like
make_from_scratch
for image in alpine-like distroless-like from-scratch; do
  load_image "$IMAGES/$image.tar"
  RAW=1 IMAGE=cronlatch.test/$image:1 cronjob $image lock=true -- '[/program]' >/dev/null
  start_job $image run-$image
done
for image in alpine-like distroless-like from-scratch; do
  becomes "a gated Job of the image $image completes" complete run-$image
  check "the command in $image ran with a fencing token" log_has run-$image "ran with fence 1"
done
finish
