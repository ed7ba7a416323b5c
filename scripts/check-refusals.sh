#!/bin/bash
# What the compiler must refuse, so that a wrong use of the library never runs: every file in Tests/Refusals has to fail to
# compile, with the words of its "// expect:" line (and with the flags of its "// flags:" line, if it has one).
# A file that says "// expect: nothing" has to compile: it shows that the others fail for the reason they name.
#
# Needs the debug build. usage: scripts/check-refusals.sh [module directory, by default .build/debug/Modules]
cd "$(dirname "$0")/.." || exit 1
modules=${1:-.build/debug/Modules}
if [ ! -e "$modules/RelayCore.swiftmodule" ]; then
    echo "check-refusals: no RelayCore in $modules; run 'swift build' first" >&2
    exit 1
fi
export SWIFT_BACKTRACE=enable=no
# The C modules that RelayCore is built on, as SwiftPM gives them to a client.
read -ra dbus <<<"$(pkg-config --cflags-only-I dbus-1)"
clang=(-I Sources/CDBus -I Sources/CSQLite -Xcc "-fmodule-map-file=$modules/../CRelayShims.build/module.modulemap")
for flag in "${dbus[@]}"; do clang+=(-Xcc "$flag"); done
failed=0
count=0
for file in Tests/Refusals/*.swift; do
    expected=$(sed -n 's|^// expect: ||p' "$file")
    flags=$(sed -n 's|^// flags: ||p' "$file")
    # shellcheck disable=SC2086 # flags are several words
    output=$(swiftc -swift-version 6 -parse-as-library -package-name outsider $flags -I "$modules" \
        "${clang[@]}" -typecheck "$file" 2>&1)
    status=$?
    count=$((count + 1))
    if [ -z "$expected" ]; then
        echo "WRONG    $file: it has no '// expect:' line"
        failed=1
    elif [ "$expected" = nothing ]; then
        if [ $status -ne 0 ]; then
            echo "WRONG    $file: it should compile, but:"
            grep -E 'error:' <<<"$output" | head -4
            failed=1
        fi
    elif [ $status -eq 0 ]; then
        echo "WRONG    $file: it compiles; expected: $expected"
        failed=1
    elif ! grep -qF -- "$expected" <<<"$output"; then
        echo "WRONG    $file: expected: $expected"
        grep -E 'error:|fatal|Stack dump' <<<"$output" | head -4
        failed=1
    fi
done
if [ $count -eq 0 ]; then
    echo "check-refusals: Tests/Refusals is empty" >&2
    exit 1
fi
[ $failed -eq 0 ] && echo "check-refusals: $count programs judged as expected"
exit $failed
