"""What relay-cli says where something is wrong, and what it starts by itself."""
import time

from trial import SERVICE

DROP_IN = "/run/systemd/system/relay-service.service.d"


def outsider(trial):
    trial.say("bob reads how he comes into the group")
    for words in ["call OrderBox label=x capacity=5", "watch --count 1", "history"]:
        output = trial.cli(words, user="bob", code=77)
        trial.check("adduser bob eventrelay-users" in output, f"{words}: {output}")


def starts(trial):
    trial.say("watch, tail and top start a service that runs on demand; doctor needs no RELAY_SERVICE")
    for words in ["watch", "tail", "top"]:
        trial.run("systemctl stop relay-service")
        job = trial.vm.start(f"TERM=dumb script -qec 'relay-cli --system --service {SERVICE} {words}' /dev/null", user="alice")
        trial.await_active()
        job.kill()
    trial.run("relay-cli --system doctor", user="alice")


def cannot_start(trial):
    trial.say("a unit that cannot start is named within seconds, with its last line and the command that shows more")
    trial.run("systemctl stop relay-service")
    trial.vm.put(f"{DROP_IN}/fails.conf", "[Service]\nExecStart=\nExecStart=/bin/sh -c 'echo the disk is on fire; exit 78'\n")
    trial.run("systemctl daemon-reload")
    for words in ["call OrderBox label=x capacity=5", "watch --no-wait --count 1", "doctor"]:
        begin = time.monotonic()
        output = trial.cli(words, user="root", code=None)
        seconds = time.monotonic() - begin
        for part in ["relay-service.service", "the disk is on fire", "journalctl -u relay-service"]:
            trial.check(part in output, f"{words} does not name '{part}': {output}")
        trial.check(seconds < 20, f"{words} took {seconds:.0f} s")
    trial.run(f"rm -r {DROP_IN} && systemctl daemon-reload && systemctl reset-failed relay-service")
    # The bus still waits for the start that failed, and answers the next call with that.
    trial.run("systemctl start relay-service")
    trial.order("Recovered")


ALL = [outsider, starts, cannot_start]
