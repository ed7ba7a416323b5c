#!/bin/bash
# What relay-service writes into a journald of its own, and how its catalog explains that. Within `unshare --mount`, as root.
# usage: system_log.sh RELAY-SERVICE BUS-ADDRESS FOLDER CATALOG
# Prints the entries as JSON, a line each, then 'explained:', then them with their explanations. FOLDER gets what went to stderr.
set -euo pipefail
service=$1 address=$2 folder=$3 catalog=$4
mount --make-rprivate /
mount -t tmpfs tmpfs /run
mount -t tmpfs tmpfs /var/lib/systemd
mount --bind "$catalog" /usr/lib/systemd/catalog
mkdir -p /run/systemd/journal /run/systemd/journald.conf.d /run/log/journal /var/lib/systemd/catalog
printf '[Journal]\nStorage=volatile\nAudit=no\nReadKMsg=no\n' >/run/systemd/journald.conf.d/test.conf
journalctl --update-catalog
/lib/systemd/systemd-journald 2>"$folder/journald" &
journald=$!
running=
trap 'kill $journald $running 2>/dev/null || true' EXIT
until [ -S /run/systemd/journal/socket ]; do sleep 0.05; done
entries() { journalctl --directory /run/log/journal --quiet --no-pager "$@" SYSLOG_IDENTIFIER=relay-service; }
has() { until entries -o cat "$1" | grep -q .; do kill -0 "$running"; sleep 0.1; done; }

exec 3>"$folder/stderr"
JOURNAL_STREAM=$(stat --format=%d:%i "$folder/stderr") "$service" --bus "$address" --state-directory "$folder/state" 2>&3 &
running=$!
has MESSAGE_ID=63a3aca591cd4c1d87129bc6287055f6
# A peer that asks for more rings at once than may wait is refused some of them.
/usr/bin/python3 - "$address" <<'PYTHON'
import sys
from gi.repository import Gio, GLib
flags = Gio.DBusConnectionFlags.AUTHENTICATION_CLIENT | Gio.DBusConnectionFlags.MESSAGE_BUS_CONNECTION
bus = Gio.DBusConnection.new_for_address_sync(sys.argv[1], flags, None, None)
refused = []
def answered(bus, result):
    try:
        bus.call_with_unix_fd_list_finish(result)
    except GLib.Error as error:
        refused.append(error.message)
for _ in range(200):
    bus.call_with_unix_fd_list(
        "org.eventrelay.Service1", "/org/eventrelay/Relocation1", "org.eventrelay.Stream1", "OpenRing", None, None,
        0, -1, None, None, answered)
while not refused:
    GLib.MainContext.default().iteration(True)
# The calls that wait for the caller's look-up are bounded, too: by another error.
assert all("LimitsExceeded" in text or "Unavailable" in text for text in refused), refused
PYTHON
has RELAY_KIND=LimitsExceeded
kill "$running"
wait "$running"
journalctl --directory /run/log/journal --sync 2>/dev/null || true
until entries -o cat MESSAGE_ID=2bc95ee3009a43d38006f8324fdd3ce7 | grep -q .; do sleep 0.1; done
entries -o json
echo explained:
entries -o short -x
