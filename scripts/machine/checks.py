"""What is tried with the packages: on the system bus, by two users, of whom alice is in the group."""
import re

import debian_root
from load import Load
from trial import SERVICE

NEWER = "99.0"
# What a machine that runs makes by itself.
MACHINE = r"(etc|var)/\.updated$|var/lib/systemd/(linger|timers|timesync|random-seed|rfkill|backlight|coredump|pstore|credential)(/|$)|var/lib/private"
SETTINGS = "/etc/eventrelay/relay-service.conf.d"


def install(trial):
    trial.say("the packages, as README installs them")
    readme = (debian_root.TOP / "README.md").read_text()
    line = re.search(r"`sudo (apt install \./\.build/deb/\S+)`", readme)
    trial.check(line, "README does not say how the packages are installed")
    # -y is the person's answer.
    trial.run(f"mkdir -p /srv/.build && ln -sfn /debs /srv/.build/deb && cd /srv && {line[1].replace('install', 'install -y')}")
    trial.check(not trial.is_active(), "the installation has started the service")
    trial.run("adduser alice eventrelay-users")


def first_screen(trial):
    trial.say("README's first screen, by alice; the first call starts the service")
    for line in debian_root.first_screen():
        trial.run(line, user="alice")
    trial.await_active()
    process = trial.unit("MainPID")
    owner = trial.run(f"ps -o user= -p {process}").strip()
    trial.check(owner == "eventrelay", f"it runs as {owner}")
    mode = trial.run("stat -c '%A %U' /var/lib/eventrelay").strip()
    trial.check(mode == "drwx------ eventrelay", f"the state directory is {mode}")
    trial.check("serving" in trial.unit("StatusText"), f"systemctl status says {trial.unit('StatusText')}")


def stranger(trial):
    trial.say("bob, who is not in the group, may not call, get, read or watch")
    for words in ["call OrderBox label=x capacity=5", "get Inventory", "history", "watch --count 1"]:
        trial.cli(words, user="bob", code=77)


def reload(trial):
    trial.say("a reload takes what can change at once; a wrong setting changes nothing, and systemctl status says so")
    process = trial.unit("MainPID")
    trial.vm.put(f"{SETTINGS}/20-test.conf", "[Service]\nLogLevel=debug\nIdleExit=1\n")
    trial.run("systemctl reload relay-service")
    trial.until(lambda: "idle" in trial.log().lower(), lambda: f"a line of the log that names IdleExit: {trial.log()}")
    trial.vm.put(f"{SETTINGS}/30-wrong.conf", "[Service]\nLogLevel=loud\n")
    trial.run("systemctl reload relay-service", code=None)
    trial.until(lambda: "loud" in trial.unit("StatusText"), lambda: f"a status that names the mistake: {trial.unit('StatusText')}")
    trial.run(f"rm {SETTINGS}/30-wrong.conf && systemctl reload relay-service")
    trial.until(lambda: "loud" not in trial.unit("StatusText"), lambda: f"another status than: {trial.unit('StatusText')}")
    trial.check(trial.unit("MainPID") == process, "the service was started again meanwhile")


def idle_exit(trial):
    trial.say("an idle service ends, and the next call starts it again")
    trial.run("systemctl restart relay-service")
    first = trial.order("Idle")
    trial.until(lambda: trial.unit("ActiveState") == "inactive", lambda: f"its end: {trial.log()}")
    trial.check(trial.unit("Result") == "success", f"it ended with {trial.unit('Result')}")
    trial.check(trial.order("Again") == first + 1, "an order is missing")
    trial.run(f"rm {SETTINGS}/20-test.conf && systemctl restart relay-service")


def watchdog(trial):
    trial.say("a service that hangs is ended by systemd's watchdog, and started again")
    place = "/run/systemd/system/relay-service.service.d"
    trial.vm.put(f"{place}/watchdog.conf", "[Service]\nWatchdogSec=2\n")
    trial.run("systemctl daemon-reload && systemctl restart relay-service")
    box = trial.order("Before")
    trial.run(f"kill -STOP {trial.unit('MainPID')}")
    trial.until(lambda: int(trial.unit("NRestarts")) >= 1 and trial.is_active(), lambda: f"a restart: {trial.log()}")
    trial.check("watchdog" in trial.run("journalctl -q -o cat --no-pager _PID=1 -u relay-service").lower(), "not by the watchdog")
    trial.check(trial.order("After") == box + 1, "an order is missing")
    trial.run(f"rm -r {place} && systemctl daemon-reload && systemctl restart relay-service")


def upgrade(trial):
    trial.say("an upgrade under load")
    load = Load(trial, "u")
    load.await_more(40)
    trial.run("apt-get install -y /debs/newer/*.deb")
    version = trial.run("dpkg-query -W -f '${Version}' relay-service")
    trial.check(version == NEWER, f"it is version {version}")
    load.await_more(40)
    trial.check(trial.is_active(), "the service does not run")
    load.end()


def reboot(trial):
    trial.say("a reboot, with the service enabled: it starts by itself, and all orders are there")
    trial.run("systemctl -q enable relay-service")
    before = trial.history()
    trial.vm.reboot()
    trial.run("systemctl is-system-running --wait", code=None)
    trial.await_active()
    trial.check(trial.history() == before, "the history has changed")
    trial.check(trial.order("Morning") == len(before) + 1, "an order is missing")
    trial.run("systemctl -q disable relay-service")


def broker(trial):
    trial.say("dbus-broker in dbus-daemon's place")
    trial.run("systemctl -q enable dbus-broker.service && systemctl -q --global enable dbus-broker.service")
    trial.vm.reboot()
    trial.run("systemctl is-system-running --wait", code=None)
    trial.check(trial.unit("Id", "dbus.service") == "dbus-broker.service" and trial.is_active("dbus-broker.service"),
               f"the bus is {trial.unit('Id', 'dbus.service')}")
    trial.check(not trial.is_active(), "the service runs before anybody has called it")
    before = trial.order("Broker")
    trial.await_active()
    trial.check(trial.history()[before][1] == "Broker", "the order is not in the history")
    stranger(trial)
    trial.run("systemctl restart relay-service")
    load = Load(trial, "b")
    load.await_more(20)
    trial.run("systemctl restart relay-service")
    load.await_more(20)
    load.end()


def quiet(trial):
    trial.say("no line of libdispatch in the system's log, and nothing that a filter of system calls has ended")
    lines = trial.log("--grep 'thread priority|SIGSYS|Bad system call|type=1326' || true")
    trial.check(not lines, lines)


def purge(trial, pristine):
    trial.say("a purge leaves nothing, and complains of nothing")
    trial.order("Last")
    trial.run("rm -r /etc/eventrelay")
    output = trial.run("apt-get purge -y relay-service relay-cli 2>&1")
    trial.check("not empty" not in output and "warning" not in output.lower(), output)
    running = "ps -C relay-service,relay-cli -o pid=,args="
    trial.until(lambda: not trial.run(running, code=None).strip(), lambda: f"their end: {trial.run(running, code=None)}", seconds=10)
    trial.check(f"no {SERVICE}" in trial.run(f"busctl status {SERVICE} >/dev/null 2>&1 || echo no {SERVICE}"), "the name has an owner")
    trial.run("systemctl -q disable dbus-broker.service && systemctl -q --global disable dbus-broker.service")
    now = debian_root.files(trial.vm.root)
    left = [path for path in sorted(now - pristine) if not re.match(MACHINE, path)]
    trial.check(not left, f"left: {left}")
    trial.check(not pristine - now, f"removed: {sorted(pristine - now)}")
