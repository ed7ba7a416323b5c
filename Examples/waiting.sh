# Read by the `run` of an example: to wait for what its programs do, and to end when one of them has ended.

# What each program that is needed is called, by its process id. Those that run at the end are ended.
declare -A needed=()
# Files of their last words.
said=()

# runs ID: whether a program of this shell runs.
runs() { jobs -rp | grep -qx "$1"; }
# crash ID: kills a program.
crash() {
    unset "needed[$1]"
    kill -KILL "$1"
    wait "$1" 2>/dev/null || true
}
finish() {
    local id
    for id in "${!needed[@]}"; do
        if runs "$id"; then kill "$id" 2>/dev/null || true; fi
    done
}
trap finish EXIT
# fail CODE TEXT: ends with the last words of all programs.
fail() {
    printf 'run: %s\n' "$2" >&2
    if [ ${#said[@]} -gt 0 ]; then cat -- "${said[@]}" 2>/dev/null | tail -n 20 >&2; fi
    exit "$1"
}
# waitfor WHAT COMMAND...: waits until the command succeeds, or a program that is needed has ended.
waitfor() {
    local what=$1 id code
    shift
    printf 'run: waits for %s\n' "$what" >&2
    for _ in $(seq 1200); do
        if "$@"; then return; fi
        for id in "${!needed[@]}"; do
            if runs "$id"; then continue; fi
            code=0
            wait "$id" || code=$?
            fail "$((code > 0 ? code : 1))" "${needed[$id]} has ended with exit code $code"
        done
        sleep 0.1
    done
    fail 1 "waited in vain for $what"
}
