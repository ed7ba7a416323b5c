# Read by the demonstrations: steps, what runs in them and what it says, and their end, which leaves nothing behind.
# Who reads it has run `set -Eeuo pipefail`, and sets `demo`, its own name.

# A mark in the environment of everything that is started here: what is left at the end is found by it.
if [ -z "${RELAY_DEMO:-}" ]; then RELAY_DEMO=$$-$RANDOM exec "scripts/$demo" "$@"; fi

export LC_ALL=C.UTF-8
directory=
step="starting"
running=()      # the process ids of what runs
if [ -t 1 ]; then terminal=true; else terminal=false; fi

say() { if $terminal; then printf '\e[1m== %s\e[0m\n' "$1"; else printf '== %s\n' "$1"; fi; }
step() { step=$1; say "$1"; }
fail() { echo "$demo: failed at '$step': $1" >&2; exit 1; }
# Others' processes that bear our mark.
leftovers() {
    local file id
    for file in /proc/[0-9]*/environ; do
        id=${file#/proc/}; id=${id%/environ}
        if [ "$id" = $$ ] || [ "$id" = "${BASHPID:-}" ]; then continue; fi
        if { tr '\0' '\n' <"$file"; } 2>/dev/null | grep -qxF "RELAY_DEMO=$RELAY_DEMO"; then echo "$id"; fi
    done
}
# Waits for a condition: until SECONDS COMMAND…
until_true() {
    local end=$((SECONDS + $1))
    shift
    until "$@"; do
        ((SECONDS < end)) || return 1
        sleep 0.05
    done
}
ended() { ! kill -0 "$1" 2>/dev/null; }
end() {
    local id
    for id in "$@"; do kill -TERM "$id" 2>/dev/null || true; done
    for id in "$@"; do
        until_true 5 ended "$id" || kill -KILL "$id" 2>/dev/null || true
        wait "$id" 2>/dev/null || true
    done
}
# Ends a process as a crash does: without a word.
crash() {
    local id rest=()
    kill -KILL "$1"
    wait "$1" 2>/dev/null || true
    # Its id may soon be another's.
    for id in "${running[@]}"; do [ "$id" = "$1" ] || rest+=("$id"); done
    running=("${rest[@]}")
}
cleanup() {
    local status=$? index
    trap - EXIT ERR INT TERM
    # In reverse order: the bus last.
    for ((index = ${#running[@]} - 1; index >= 0; index--)); do end "${running[index]}"; done
    [ -z "$directory" ] || rm -rf "$directory"
    # Those that labelled the output end with what they read.
    wait
    local rest
    rest=$(leftovers)
    if [ -n "$rest" ]; then
        echo "$demo: left behind: processes $(tr '\n' ' ' <<<"$rest")" >&2
        status=1
    fi
    exit $status
}
trap cleanup EXIT
trap 'fail "$BASH_COMMAND (exit code $?)"' ERR
trap 'exit 130' INT
trap 'exit 143' TERM

# Shows lines as NAME's, and keeps them for the checks: label NAME COLOUR. A shell of its own, without the traps of this one.
# Ignores SIGINT: it ends with what it reads.
label() (
    trap '' INT
    trap - ERR EXIT TERM
    local line
    while IFS= read -r line || [ -n "$line" ]; do
        printf '%s\n' "$line" >>"$directory/$1.log"
        if $terminal; then printf '\e[%sm%-11s│\e[0m %s\n' "$2" "$1" "$line"; else printf '%-11s| %s\n' "$1" "$line"; fi
    done
)
shown() { [ -e "$directory/$1.log" ] && grep -qE -- "$2" "$directory/$1.log"; }
count() { [ -e "$directory/$1.log" ] || { echo 0; return; }; grep -cE -- "$2" "$directory/$1.log" || true; }
await() { until_true "${3:-15}" shown "$1" "$2" || fail "'$1' did not show: $2"; }
# The sequences that a watcher has shown, as it showed them.
sequences() { grep -oE '^[0-9:.]+ #[0-9]+ ' "$directory/$1.log" | grep -oE '#[0-9]+' | tr -d '#' || true; }
has_count() { [ "$(count "$1" "$2")" -ge "$3" ]; }

# Installs what a level needs, and builds products: build LEVEL PRODUCT…; their folder is `bin` then.
build() {
    local product level=$1
    shift
    step "installing what is missing"
    scripts/install-dependencies "$level"
    step "building"
    for product in "$@"; do scripts/bounded-swift 300 build --product "$product"; done
    bin=$(swift build --show-bin-path)
}
