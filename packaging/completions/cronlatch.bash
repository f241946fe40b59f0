# shellcheck shell=bash
# Completion of cronlatch for bash. Rendered from the tables in src/cli and src/options by `./dev gen`. Do not edit.

# _cronlatch_words WORD...: the words that begin like the current one.
_cronlatch_words() {
  local word
  for word; do
    [[ $word != "$current"* ]] || COMPREPLY+=("$word")
  done
}

_cronlatch_files() {  # _cronlatch_files -f | -d
  compopt -o filenames 2>/dev/null
  mapfile -t COMPREPLY < <(compgen "$1" -- "$current")
}

# _cronlatch_command INDEX: the words from INDEX on are a command line of their own.
_cronlatch_command() {
  if declare -F _command_offset >/dev/null; then
    _command_offset "$1"
  elif [ "$COMP_CWORD" -eq "$1" ]; then
    mapfile -t COMPREPLY < <(compgen -c -- "$current")
  else
    _cronlatch_files -f
  fi
}

_cronlatch() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} i
  COMPREPLY=()
  # bash splits --flag=value into three words.
  if [ "$current" = = ]; then
    current=
  elif [ "$previous" = = ] && [ "$COMP_CWORD" -ge 2 ]; then
    previous=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  if [ "$COMP_CWORD" -eq 1 ]; then
    _cronlatch_words run explain hold as ls show release metrics advise config store install sleep demo version help --help --version
    return
  fi
  case ${COMP_WORDS[1]} in
    run | explain)
      for ((i = 2; i < COMP_CWORD; i++)); do
        if [ "${COMP_WORDS[i]}" = -- ]; then
          _cronlatch_command $((i + 1))
          return
        fi
      done
      ;;
  esac
  case $previous in
    --key-format) _cronlatch_words native cronlock golock redlock; return ;;
    --on-busy) _cronlatch_words skip wait fail; return ;;
    --leftovers) _cronlatch_words end wait leave; return ;;
    --untracked) _cronlatch_words refuse allow; return ;;
    --guardian) _cronlatch_words auto off; return ;;
    --on-lost) _cronlatch_words kill term warn; return ;;
    --on-store-down) _cronlatch_words fail wait run; return ;;
    --log-format) _cronlatch_words text json logfmt; return ;;
    --log-level) _cronlatch_words error warn info debug; return ;;
    -o) _cronlatch_words table json; return ;;
    --output) _cronlatch_words table json; return ;;
    --lock-file | --password-file | --sentinel-password-file | --tls-ca | --tls-cert | --tls-key | --outcome-file | --metrics-file | --config) _cronlatch_files -f; return ;;
    --credentials-dir) _cronlatch_files -d; return ;;
    --lock | --foreign-key | --job | --store | --ttl | --renew-every | --skip-command | --wait-timeout | --slots | --min-hold | --max-run | --kill-after | --warn-after | --once-per | --once-ttl | --grace-period | --attempt-group | --holder | --redis-username | --sentinel-username | --tls-server-name | --connect-timeout | --op-timeout | --max-ttl | --key-prefix | --min-replicas | --exit-skipped | --metrics-push | --command-by-arch | --for | --reason | --schedule) return ;;
  esac
  case ${COMP_WORDS[1]} in
    run) _cronlatch_words --lock --lock-file --key-format --foreign-key --job --store --ttl --renew-every --on-busy --skip-command --wait-timeout --slots --min-hold --max-run --kill-after --leftovers --untracked --guardian --warn-after --on-lost --on-store-down --once-per --once-ttl --grace-period --attempt-group --holder --credentials-dir --redis-username --password-file --sentinel-username --sentinel-password-file --tls-ca --tls-cert --tls-key --tls-server-name --tls-skip-verify --connect-timeout --op-timeout --max-ttl --key-prefix --strict --min-replicas --exit-skipped --outcome-file --metrics-file --metrics-push --log-format --log-level --config --isolated --command-by-arch --help ;;
    explain) _cronlatch_words -o --output --lock --lock-file --key-format --foreign-key --job --store --ttl --renew-every --on-busy --skip-command --wait-timeout --slots --min-hold --max-run --kill-after --leftovers --untracked --guardian --warn-after --on-lost --on-store-down --once-per --once-ttl --grace-period --attempt-group --holder --credentials-dir --redis-username --password-file --sentinel-username --sentinel-password-file --tls-ca --tls-cert --tls-key --tls-server-name --tls-skip-verify --connect-timeout --op-timeout --max-ttl --key-prefix --strict --min-replicas --exit-skipped --outcome-file --metrics-file --metrics-push --log-format --log-level --config --isolated --command-by-arch --help ;;
    hold) _cronlatch_words --for --reason --lock --lock-file --key-format --foreign-key --job --store --ttl --renew-every --on-busy --skip-command --wait-timeout --slots --min-hold --max-run --kill-after --leftovers --untracked --guardian --warn-after --on-lost --on-store-down --once-per --once-ttl --grace-period --attempt-group --holder --credentials-dir --redis-username --password-file --sentinel-username --sentinel-password-file --tls-ca --tls-cert --tls-key --tls-server-name --tls-skip-verify --connect-timeout --op-timeout --max-ttl --key-prefix --strict --min-replicas --exit-skipped --outcome-file --metrics-file --metrics-push --log-format --log-level --config --isolated --command-by-arch --help ;;
    as) if [[ $current == -* ]]; then _cronlatch_words --help; elif [ "$COMP_CWORD" -eq 2 ]; then _cronlatch_words cronlock golock lockrun; fi ;;
    ls) _cronlatch_words -o --output --lock --lock-file --key-format --foreign-key --job --store --ttl --renew-every --on-busy --skip-command --wait-timeout --slots --min-hold --max-run --kill-after --leftovers --untracked --guardian --warn-after --on-lost --on-store-down --once-per --once-ttl --grace-period --attempt-group --holder --credentials-dir --redis-username --password-file --sentinel-username --sentinel-password-file --tls-ca --tls-cert --tls-key --tls-server-name --tls-skip-verify --connect-timeout --op-timeout --max-ttl --key-prefix --strict --min-replicas --exit-skipped --outcome-file --metrics-file --metrics-push --log-format --log-level --config --isolated --command-by-arch --help ;;
    show) _cronlatch_words -o --output --lock --lock-file --key-format --foreign-key --job --store --ttl --renew-every --on-busy --skip-command --wait-timeout --slots --min-hold --max-run --kill-after --leftovers --untracked --guardian --warn-after --on-lost --on-store-down --once-per --once-ttl --grace-period --attempt-group --holder --credentials-dir --redis-username --password-file --sentinel-username --sentinel-password-file --tls-ca --tls-cert --tls-key --tls-server-name --tls-skip-verify --connect-timeout --op-timeout --max-ttl --key-prefix --strict --min-replicas --exit-skipped --outcome-file --metrics-file --metrics-push --log-format --log-level --config --isolated --command-by-arch --help ;;
    release) _cronlatch_words --force --no-wait --lock --lock-file --key-format --foreign-key --job --store --ttl --renew-every --on-busy --skip-command --wait-timeout --slots --min-hold --max-run --kill-after --leftovers --untracked --guardian --warn-after --on-lost --on-store-down --once-per --once-ttl --grace-period --attempt-group --holder --credentials-dir --redis-username --password-file --sentinel-username --sentinel-password-file --tls-ca --tls-cert --tls-key --tls-server-name --tls-skip-verify --connect-timeout --op-timeout --max-ttl --key-prefix --strict --min-replicas --exit-skipped --outcome-file --metrics-file --metrics-push --log-format --log-level --config --isolated --command-by-arch --help ;;
    metrics) _cronlatch_words --lock --lock-file --key-format --foreign-key --job --store --ttl --renew-every --on-busy --skip-command --wait-timeout --slots --min-hold --max-run --kill-after --leftovers --untracked --guardian --warn-after --on-lost --on-store-down --once-per --once-ttl --grace-period --attempt-group --holder --credentials-dir --redis-username --password-file --sentinel-username --sentinel-password-file --tls-ca --tls-cert --tls-key --tls-server-name --tls-skip-verify --connect-timeout --op-timeout --max-ttl --key-prefix --strict --min-replicas --exit-skipped --outcome-file --metrics-file --metrics-push --log-format --log-level --config --isolated --command-by-arch --help ;;
    advise) _cronlatch_words -o --output --schedule --lock --lock-file --key-format --foreign-key --job --store --ttl --renew-every --on-busy --skip-command --wait-timeout --slots --min-hold --max-run --kill-after --leftovers --untracked --guardian --warn-after --on-lost --on-store-down --once-per --once-ttl --grace-period --attempt-group --holder --credentials-dir --redis-username --password-file --sentinel-username --sentinel-password-file --tls-ca --tls-cert --tls-key --tls-server-name --tls-skip-verify --connect-timeout --op-timeout --max-ttl --key-prefix --strict --min-replicas --exit-skipped --outcome-file --metrics-file --metrics-push --log-format --log-level --config --isolated --command-by-arch --help ;;
    config) _cronlatch_words -o --output --lock --lock-file --key-format --foreign-key --job --store --ttl --renew-every --on-busy --skip-command --wait-timeout --slots --min-hold --max-run --kill-after --leftovers --untracked --guardian --warn-after --on-lost --on-store-down --once-per --once-ttl --grace-period --attempt-group --holder --credentials-dir --redis-username --password-file --sentinel-username --sentinel-password-file --tls-ca --tls-cert --tls-key --tls-server-name --tls-skip-verify --connect-timeout --op-timeout --max-ttl --key-prefix --strict --min-replicas --exit-skipped --outcome-file --metrics-file --metrics-push --log-format --log-level --config --isolated --command-by-arch --help ;;
    store) if [[ $current == -* ]]; then _cronlatch_words --print --lock --lock-file --key-format --foreign-key --job --store --ttl --renew-every --on-busy --skip-command --wait-timeout --slots --min-hold --max-run --kill-after --leftovers --untracked --guardian --warn-after --on-lost --on-store-down --once-per --once-ttl --grace-period --attempt-group --holder --credentials-dir --redis-username --password-file --sentinel-username --sentinel-password-file --tls-ca --tls-cert --tls-key --tls-server-name --tls-skip-verify --connect-timeout --op-timeout --max-ttl --key-prefix --strict --min-replicas --exit-skipped --outcome-file --metrics-file --metrics-push --log-format --log-level --config --isolated --command-by-arch --help; elif [ "$COMP_CWORD" -eq 2 ]; then _cronlatch_words init; fi ;;
    install) if [[ $current == -* ]]; then _cronlatch_words --help; elif [ "$COMP_CWORD" -eq 2 ]; then _cronlatch_files -d; fi ;;
    sleep) _cronlatch_words --help ;;
    demo) _cronlatch_words --help ;;
    version) _cronlatch_words --help ;;
    help) if [[ $current == -* ]]; then _cronlatch_words --help; elif [ "$COMP_CWORD" -eq 2 ]; then _cronlatch_words options exit-codes outcomes environment run explain hold as ls show release metrics advise config store install sleep demo version help cronlock golock lockrun; fi ;;
  esac
}

complete -F _cronlatch cronlatch
