#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The completions: each shell accepts its file, and completes subcommands, flags, values, files and the command after --.
set -uo pipefail
# shellcheck source=tests/binary/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../binary/lib.sh"
export LC_ALL=C.UTF-8
FOLDER=$ROOT/packaging/completions
stage=$(mktemp -d)
trap 'rm -rf -- "$stage"' EXIT
mkdir "$stage/certificates"
touch "$stage/ca.pem"
cd "$stage" || exit 1

# offers SHELL "WORDS..." EXPECTED: the completions of the line, sorted and separated by blanks, are exactly EXPECTED. A
# last word in EXPECTED of `...` permits more.
offers() {
  local shell=$1 line=$2 expected=$3 seen word
  seen=$("complete_$shell" "$line" | sed 's/\t.*//; s,/$,,; s/ *$//' | sort -u | paste -sd ' ')
  if [ "${expected% ...}" != "$expected" ]; then
    for word in ${expected% ...}; do
      [[ " $seen " == *" $word "* ]] || { echo "$line: no $word in: $seen"; return 1; }
    done
  else
    [ "$seen" = "$expected" ] || { echo "$line: $seen"; return 1; }
  fi
}

# bash passes the words as COMP_WORDS, divided at `=` as its default COMP_WORDBREAKS does.
complete_bash() {
  bash --norc -c '
    source "$1"
    line=${2//=/ = }
    read -ra COMP_WORDS <<<"$line"
    [[ $line != *" " ]] || COMP_WORDS+=("")
    COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
    [[ ${COMP_WORDS[COMP_CWORD]} != "" || ${COMP_WORDS[COMP_CWORD - 1]} != "=" ]] || { unset "COMP_WORDS[-1]"; ((COMP_CWORD--)); }
    _cronlatch
    printf "%s\n" "${COMPREPLY[@]}"' bash "$FOLDER/cronlatch.bash" "$1"
}
# shellcheck disable=SC2016  # fish expands it
complete_fish() { fish --no-config -c 'source $argv[1]; complete -C $argv[2]' "$FOLDER/cronlatch.fish" "$1" | sed 's/^--on-busy=//'; }
# kubectl passes the words after `kubectl cronlatch`.
complete_kubectl() {
  local words
  read -ra words <<<"$1"
  [[ $1 != *' ' ]] || words+=('')
  # The directive is not a completion.
  PATH=$stage/bin:$PATH "$FOLDER/kubectl_complete-cronlatch" "${words[@]}" | sed '$ { /^:4$/ d }'
}
# zsh has its completions in the line editor alone: a terminal, the line and a TAB; what the editor has written is the
# result.
complete_zsh() {
  ZDOTDIR=$stage zsh -f -c '
    zmodload zsh/zpty
    zpty shell "TERM=dumb zsh -f -i"
    read_until() {
      local text part
      repeat 200; do
        zpty -r -t shell part && text+=$part || sleep 0.05
        [[ $text != *$~1* ]] || { print -r -- $text; return 0; }
      done
      print -r -- "no answer: $text"
      return 1
    }
    zpty -w shell "PS1=; fpath=($1 \$fpath); autoload -Uz compinit; compinit -u -D; print ready-\$((1+1))"
    read_until "*ready-2*" >/dev/null
    zpty -w -n shell "$2"$'"'\\t'"'
    read_until "*$3*"
    found=$?
    zpty -d shell
    exit $found' zsh "$FOLDER" "$1" "$2"
}

for shell in bash zsh fish; do
  if ! command -v $shell >/dev/null; then skip "completions of $shell" "$shell is not installed"; fi
done
check 'bash accepts its file' bash -n "$FOLDER/cronlatch.bash"
check 'zsh accepts its file' zsh -n "$FOLDER/_cronlatch"
check 'fish accepts its file' fish --no-execute "$FOLDER/cronlatch.fish"
check 'sh accepts the file for kubectl' sh -n "$FOLDER/kubectl_complete-cronlatch"
check 'shellcheck accepts both' shellcheck "$FOLDER/cronlatch.bash" "$FOLDER/kubectl_complete-cronlatch"
check 'the file for kubectl is a program' test -x "$FOLDER/kubectl_complete-cronlatch"

for shell in bash fish; do
  check "$shell: subcommands" offers $shell 'cronlatch re' release
  check "$shell: options" offers $shell 'cronlatch run --on-' '--on-busy --on-lost --on-store-down'
  check "$shell: the words of an option" offers $shell 'cronlatch run --on-busy ' 'fail skip wait'
  check "$shell: the words after =" offers $shell 'cronlatch run --on-busy=s' skip
  check "$shell: a flag of one subcommand" offers $shell 'cronlatch release --no-' --no-wait
  check "$shell: it is no flag of another" offers $shell 'cronlatch show --no-' ''
  check "$shell: formats" offers $shell 'cronlatch ls -o ' 'json table'
  check "$shell: files" offers $shell 'cronlatch ls --tls-ca ' 'ca.pem certificates'
  check "$shell: directories" offers $shell 'cronlatch ls --credentials-dir ' certificates
  check "$shell: a directory as operand" offers $shell 'cronlatch install ' certificates
  check "$shell: a name has no completion" offers $shell 'cronlatch run --lock ' ''
  check "$shell: programs" offers $shell 'cronlatch as ' 'cronlock golock lockrun'
  check "$shell: topics" offers $shell 'cronlatch help exit' exit-codes
  check "$shell: the command" offers $shell 'cronlatch run --on-busy wait -- base64' 'base64 ...'
  check "$shell: no flag of cronlatch behind the command" offers $shell 'cronlatch run -- true --on-b' ''
done
check 'zsh: subcommands' complete_zsh 'cronlatch rele' 'release'
check 'zsh: options' complete_zsh 'cronlatch run --on-st' '--on-store-down'
check 'zsh: the words of an option' complete_zsh 'cronlatch run --on-busy=sk' 'busy=skip'
check 'zsh: a flag of one subcommand' complete_zsh 'cronlatch release --no-w' '--no-wait'

mkdir "$stage/bin"
cat >"$stage/bin/kubectl" <<'KUBECTL'
#!/bin/sh
# The answers of kubectl to the two queries of the completion.
[ "$1 $2" != 'get namespaces' ] || printf 'namespace/%s\n' shop store
[ "$1 $2" != 'get cronjobs' ] || [ "$3" != --namespace=shop ] || printf 'cronjob.batch/%s\n' nightly weekly
KUBECTL
chmod +x "$stage/bin/kubectl"
check 'kubectl: verbs' offers kubectl 'de' 'describe'
check 'kubectl: flags of a verb' offers kubectl 'release --no' '--no-wait'
check 'kubectl: namespaces' offers kubectl 'why -n s' 'shop store'
check 'kubectl: CronJobs' offers kubectl '-n shop why ni' 'nightly'
check 'kubectl: CronJobs, the namespace after =' offers kubectl 'why --namespace=shop ' 'nightly weekly'
check 'kubectl: formats' offers kubectl 'ls -o n' 'name'
finish
