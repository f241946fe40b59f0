# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Images without a registry: each is a tar with one layer, packed from a folder into build/cluster/images/<name>.tar,
# with the name cronlatch.test/<name>:1. Also loads them into a cluster. Sourced.

# pack NAME FOLDER CONFIG-JSON [IMAGE]: reproducible, equal folders give equal bytes.
pack() {
  local name=$1 folder=$2 config=$3 image=${4:-cronlatch.test/$1:1} stage layer
  stage=$(mktemp -d)
  tar --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner -C "$folder" -cf "$stage/layer.tar" .
  layer=$(sha256sum "$stage/layer.tar" | cut -d ' ' -f 1)
  printf '{"architecture":"%s","os":"linux","config":%s,"rootfs":{"type":"layers","diff_ids":["sha256:%s"]}}' \
    "$(dpkg --print-architecture)" "$config" "$layer" >"$stage/config.json"
  printf '[{"Config":"config.json","RepoTags":["%s"],"Layers":["layer.tar"]}]' "$image" \
    >"$stage/manifest.json"
  mkdir -p "$IMAGES"
  tar --mtime=@0 --owner=0 --group=0 --numeric-owner -C "$stage" -cf "$IMAGES/$name.tar.new" manifest.json config.json layer.tar
  mv "$IMAGES/$name.tar.new" "$IMAGES/$name.tar"
  rm -rf -- "$stage" "$folder"
}

# stale NAME SOURCE...: the image does not exist, or a source is newer.
stale() {
  local image=$IMAGES/$1.tar source
  shift
  [ -s "$image" ] || return 0
  for source in "$@" "$ROOT/scripts/cluster_images.sh"; do
    [ ! "$source" -nt "$image" ] || return 0
  done
  return 1
}

new_root() {
  local folder
  folder=$(mktemp -d)
  chmod 755 "$folder"
  mkdir -m 1777 "$folder/tmp"
  echo "$folder"
}

# copy_libraries FOLDER PROGRAM...: copies the libraries of the programs, with their paths.
copy_libraries() {
  local folder=$1 library
  shift
  ldd "$@" | grep -oE '/[^ :)]+\.so[^ )]*' | sort -u | while read -r library; do
    install -D -m 755 "$library" "$folder$library"
  done
}

add_users() {  # add_users FOLDER: users and groups that programs look up
  mkdir -p "$1/etc"
  printf 'root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n' >"$1/etc/passwd"
  printf 'root:x:0:\nnogroup:x:65534:\n' >"$1/etc/group"
}

static_program() {  # static_program OUT C-SOURCE
  printf '%s\n' "$2" | gcc -x c -O1 -static -s -o "$1" -
}

make_pause() {
  local folder
  stale pause || return 0
  folder=$(new_root)
  static_program "$folder/pause" '#include <signal.h>
    #include <unistd.h>
    static void end(int number) { _exit(number == SIGTERM || number == SIGINT ? 0 : 1); }
    int main(void) { signal(SIGTERM, end); signal(SIGINT, end); for (;;) pause(); }'
  pack pause "$folder" '{"Entrypoint":["/pause"],"User":"65535:65535"}'
}

# Busybox: a shell and tools.
make_shell() {
  local folder applet
  stale shell /bin/busybox || return 0
  folder=$(new_root)
  add_users "$folder"
  install -D /bin/busybox "$folder/bin/busybox"
  /bin/busybox --list | while read -r applet; do
    [ -e "$folder/bin/$applet" ] || ln -s busybox "$folder/bin/$applet"
  done
  pack shell "$folder" '{"Cmd":["sh"],"Env":["PATH=/bin"],"User":"65534:65534"}'
}

# With the names of Valkey's programs, too: the quick start uses the image in the place of Valkey's.
make_redis() {
  local folder program
  stale redis /usr/bin/redis-server || return 0
  folder=$(new_root)
  add_users "$folder"
  for program in redis-server redis-cli; do install -D "$(command -v $program)" "$folder/bin/$program" && ln -s $program "$folder/bin/valkey${program#redis}"; done
  copy_libraries "$folder" "$folder/bin/redis-server" "$folder/bin/redis-cli"
  pack redis "$folder" '{"Entrypoint":["/bin/redis-server"],"Env":["PATH=/bin"],"User":"65534:65534"}'
}

make_coredns() {
  local folder
  stale coredns "$TOOLS/coredns" || return 0
  folder=$(new_root)
  install "$TOOLS/coredns" "$folder/coredns"
  pack coredns "$folder" '{"Entrypoint":["/coredns"],"User":"65534:65534"}'
}

make_images() {
  make_pause
  make_shell
  make_redis
  make_coredns
}

# load_image TAR: a docker or OCI archive.
load_image() {
  [ -r "$1" ] || stop_here "cannot read the image '$1': it must be a tar, as 'docker save' or 'buildah push docker-archive:' write it"
  cri images import "$1" >>"$DIR/log/images.log" 2>&1 ||
    { tail -n 5 "$DIR/log/images.log" >&2; stop_here "containerd could not import the image '$1'"; }
}
