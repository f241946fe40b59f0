# Completion of cronlatch for fish. Rendered from the tables in src/cli and src/options by `./dev gen`. Do not edit.

# The subcommand is the first word; the words after -- are a command of their own.
function __cronlatch_is
    set -l words (commandline -opc)
    contains -- -- $words[2..]; and return 1
    contains -- "$words[2]" $argv
end
function __cronlatch_gates
    set -l words (commandline -opc)
    contains -- -- $words[2..]
end
function __cronlatch_command
    set -l words (commandline -opc) (commandline -ct)
    set -l at (contains -i -- -- $words)
    complete -C (string join ' ' -- (string escape -- $words[(math $at + 1)..-2]) $words[-1])
end

complete -c cronlatch -f
complete -c cronlatch -n '__cronlatch_gates' -a '(__cronlatch_command)'
complete -c cronlatch -n '__fish_use_subcommand' -a run -d 'run a command while holding a lock'
complete -c cronlatch -n '__fish_use_subcommand' -a explain -d 'what run would do now, without a lock'
complete -c cronlatch -n '__fish_use_subcommand' -a as -d 'accept another program\'s flags'
complete -c cronlatch -n '__fish_use_subcommand' -a ls -d 'the locks in the store'
complete -c cronlatch -n '__fish_use_subcommand' -a show -d 'one lock, every field and counter'
complete -c cronlatch -n '__fish_use_subcommand' -a release -d 'revoke a lease, which stops its command'
complete -c cronlatch -n '__fish_use_subcommand' -a metrics -d 'lock statistics as Prometheus text'
complete -c cronlatch -n '__fish_use_subcommand' -a advise -d 'recommended settings, from statistics'
complete -c cronlatch -n '__fish_use_subcommand' -a config -d 'every option, its value and its origin'
complete -c cronlatch -n '__fish_use_subcommand' -a store -d 'create the schema of postgres://'
complete -c cronlatch -n '__fish_use_subcommand' -a install -d 'copy this program into DIR'
complete -c cronlatch -n '__fish_use_subcommand' -a version -d 'print the version'
complete -c cronlatch -n '__fish_use_subcommand' -a help -d 'this page, a subcommand or a topic'
complete -c cronlatch -n '__cronlatch_is run explain ls show release metrics advise config store' -l lock -x -d 'name of the lock'
complete -c cronlatch -n '__cronlatch_is run explain ls show release metrics advise config store' -l lock-file -r -F -d 'file of another program (flock, lockrun) that is locked with flock(2), in place of lock'
complete -c cronlatch -n '__cronlatch_is run explain ls show release metrics advise config store' -l key-format -x -a 'native cronlock golock redlock' -d 'program that shares the lock by the key foreign-key'
complete -c cronlatch -n '__cronlatch_is run explain ls show release metrics advise config store' -l foreign-key -x -d 'key of another program (see key-format) that is the lock, in place of lock'
complete -c cronlatch -n '__cronlatch_is run explain ls show release metrics advise config store' -l job -x -d 'job that the counters belong to, if several jobs share a lock'
complete -c cronlatch -n '__cronlatch_is run explain ls show release metrics advise config store' -l store -x -d 'file://, redis://, redis+sentinel://, redis+cluster:// (rediss...: TLS), postgres://'
complete -c cronlatch -n '__cronlatch_is run explain ls show release metrics advise config store' -l ttl -x -d 'length of the lease'
complete -c cronlatch -n '__cronlatch_is run explain ls show release metrics advise config store' -l renew-every -x -d 'time between renewals of the lease'
complete -c cronlatch -n '__cronlatch_is run explain ls show release metrics advise config store' -l on-busy -x -a 'skip wait fail' -d 'if another run holds the lock: skip (exit 0), wait, fail (exit 75)'
complete -c cronlatch -n '__cronlatch_is run explain ls show release metrics advise config store' -l skip-command -x -d 'runs instead of the command if the run is skipped'
complete -c cronlatch -n '__cronlatch_is run explain ls show release metrics advise config store' -l wait-timeout -x -d 'longest wait for the lock (then exit 75) and for the store (then exit 69)'
complete -c cronlatch -n '__cronlatch_is run explain ls show release metrics advise config store' -l min-hold -x -d 'the lock stays closed for at least this time after it was granted'
complete -c cronlatch -n '__cronlatch_is run explain ls show release metrics advise config store' -l max-run -x -d 'longest run'
complete -c cronlatch -n '__cronlatch_is run explain ls show release metrics advise config store' -l kill-after -x -d 'time between TERM and KILL'
complete -c cronlatch -n '__cronlatch_is run explain ls show release metrics advise config store' -l leftovers -x -a 'end wait leave' -d 'background processes of the command: end them, wait for them, leave them (unsafe)'
complete -c cronlatch -n '__cronlatch_is run explain ls show release metrics advise config store' -l untracked -x -a 'refuse allow' -d 'if the processes of a leased run cannot be found (no /proc): refuse (exit 78), allow (unsafe)'
complete -c cronlatch -n '__cronlatch_is run explain ls show release metrics advise config store' -l guardian -x -a 'auto off' -d 'second process that kills the command when cronlatch is killed or stopped: auto (where needed), off'
complete -c cronlatch -n '__cronlatch_is run explain ls show release metrics advise config store' -l warn-after -x -d 'logs one warning and increases a counter if the command still runs'
complete -c cronlatch -n '__cronlatch_is run explain ls show release metrics advise config store' -l on-lost -x -a 'kill term warn' -d 'if the lease is lost: kill'
complete -c cronlatch -n '__cronlatch_is run explain ls show release metrics advise config store' -l on-store-down -x -a 'fail wait run' -d 'if the store is unavailable at the start: fail (exit 69), wait, run without a lock (unsafe)'
complete -c cronlatch -n '__cronlatch_is run explain ls show release metrics advise config store' -l once-per -x -d 'identity of this run'
complete -c cronlatch -n '__cronlatch_is run explain ls show release metrics advise config store' -l once-ttl -x -d 'how long the store keeps a finished identity, at most the newest 128 of each job'
complete -c cronlatch -n '__cronlatch_is run explain ls show release metrics advise config store' -l grace-period -x -d 'maximum time from TERM to the end of the run'
complete -c cronlatch -n '__cronlatch_is run explain ls show release metrics advise config store' -l attempt-group -x -d 'runs of a group that was granted the lock do not skip: they wait, at most 2 ttl, then exit 75'
complete -c cronlatch -n '__cronlatch_is run explain ls show release metrics advise config store' -l holder -x -d 'name of the holder in messages and statistics'
complete -c cronlatch -n '__cronlatch_is run explain ls show release metrics advise config store' -l credentials-dir -x -a '(__fish_complete_directories)' -d 'files [sentinel-]username, [sentinel-]password, ca.crt, tls.crt, tls.key'
complete -c cronlatch -n '__cronlatch_is run explain ls show release metrics advise config store' -l redis-username -x -d 'user name for the store'
complete -c cronlatch -n '__cronlatch_is run explain ls show release metrics advise config store' -l password-file -r -F -d 'file with the password'
complete -c cronlatch -n '__cronlatch_is run explain ls show release metrics advise config store' -l sentinel-username -x -d 'user name for the Sentinels of a redis+sentinel:// store'
complete -c cronlatch -n '__cronlatch_is run explain ls show release metrics advise config store' -l sentinel-password-file -r -F -d 'file with the password for the Sentinels'
complete -c cronlatch -n '__cronlatch_is run explain ls show release metrics advise config store' -l tls-ca -r -F -d 'certificates of the trusted authorities (PEM)'
complete -c cronlatch -n '__cronlatch_is run explain ls show release metrics advise config store' -l tls-cert -r -F -d 'client certificate (PEM)'
complete -c cronlatch -n '__cronlatch_is run explain ls show release metrics advise config store' -l tls-key -r -F -d 'key of the client certificate (PEM)'
complete -c cronlatch -n '__cronlatch_is run explain ls show release metrics advise config store' -l tls-server-name -x -d 'name that the store\'s certificate must contain'
complete -c cronlatch -n '__cronlatch_is run explain ls show release metrics advise config store' -l tls-skip-verify -d 'accept any certificate (unsafe'
complete -c cronlatch -n '__cronlatch_is run explain ls show release metrics advise config store' -l connect-timeout -x -d 'limit for a connection to the store: names, TCP, TLS, login'
complete -c cronlatch -n '__cronlatch_is run explain ls show release metrics advise config store' -l op-timeout -x -d 'limit for one request to the store'
complete -c cronlatch -n '__cronlatch_is run explain ls show release metrics advise config store' -l max-ttl -x -d 'with strict or a quorum: longest ttl of any run, and the time without grants after lost data'
complete -c cronlatch -n '__cronlatch_is run explain ls show release metrics advise config store' -l key-prefix -x -d 'prefix of every key in Redis'
complete -c cronlatch -n '__cronlatch_is run explain ls show release metrics advise config store' -l strict -d 'no double grant across a failover: grants need min-replicas, and pause for max-ttl after a failover'
complete -c cronlatch -n '__cronlatch_is run explain ls show release metrics advise config store' -l min-replicas -x -d 'with strict: replicas that acknowledge each grant and renewal'
complete -c cronlatch -n '__cronlatch_is run explain ls show release metrics advise config store' -l exit-skipped -x -d 'exit code of a skipped run'
complete -c cronlatch -n '__cronlatch_is run explain ls show release metrics advise config store' -l outcome-file -r -F -d 'file for the outcome, one line of JSON'
complete -c cronlatch -n '__cronlatch_is run explain ls show release metrics advise config store' -l metrics-file -r -F -d 'file for Prometheus text that node_exporter\'s textfile collector reads'
complete -c cronlatch -n '__cronlatch_is run explain ls show release metrics advise config store' -l metrics-push -x -d 'Pushgateway for the metrics of the run: http://host:9091, or https://... with the tls-... options'
complete -c cronlatch -n '__cronlatch_is run explain ls show release metrics advise config store' -l log-format -x -a 'text json logfmt' -d 'format of the log lines on stderr'
complete -c cronlatch -n '__cronlatch_is run explain ls show release metrics advise config store' -l log-level -x -a 'error warn info debug' -d 'lowest level that is logged'
complete -c cronlatch -n '__cronlatch_is run explain ls show release metrics advise config store' -l config -r -F -d 'file of options (YAML)'
complete -c cronlatch -n '__cronlatch_is run explain ls show release metrics advise config store' -l isolated -d 'the environment and files set no options'
complete -c cronlatch -n '__cronlatch_is run explain ls show release metrics advise config store' -l command-by-arch -x -d 'first words of the command for each architecture, as in {"amd64": ["/app"]}'
complete -c cronlatch -n '__cronlatch_is explain' -s o -x -a 'table json' -d 'output format'
complete -c cronlatch -n '__cronlatch_is as' -a 'cronlock golock lockrun'
complete -c cronlatch -n '__cronlatch_is ls' -s o -x -a 'table json' -d 'output format'
complete -c cronlatch -n '__cronlatch_is show' -s o -x -a 'table json' -d 'output format'
complete -c cronlatch -n '__cronlatch_is release' -l force -d 'revoke'
complete -c cronlatch -n '__cronlatch_is release' -l no-wait -d 'do not wait until it is released or its lease has ended'
complete -c cronlatch -n '__cronlatch_is advise' -s o -x -a 'table json' -d 'output format'
complete -c cronlatch -n '__cronlatch_is advise' -l schedule -x -d 'schedule of the lock in --lock, for example \'*/5 * * * *\''
complete -c cronlatch -n '__cronlatch_is config' -s o -x -a 'table json' -d 'output format'
complete -c cronlatch -n '__cronlatch_is store' -l print -d 'print the SQL instead, for psql'
complete -c cronlatch -n '__cronlatch_is store' -a 'init'
complete -c cronlatch -n '__cronlatch_is install' -a '(__fish_complete_directories)'
complete -c cronlatch -n '__cronlatch_is help' -a 'options exit-codes outcomes environment run explain as ls show release metrics advise config store install version help cronlock golock lockrun'
