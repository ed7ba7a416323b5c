"""What each check has: a machine, its packages, and words for what is expected."""
import json
import sys
import time

SERVICE = "org.eventrelay.Service1"


class Trial:
    def __init__(self, release, vm):
        self.release, self.vm, self.step = release, vm, "beginning"

    def say(self, text):
        self.step = text
        print(f"== {self.release}: {text}", flush=True)

    def fail(self, text):
        sys.exit(f"test-machine: {self.release}: failed at '{self.step}': {text}")

    def check(self, condition, text):
        if not condition:
            self.fail(text)

    def until(self, condition, what, seconds=120):
        """Waits for a condition; so long without it is a failure."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            value = condition()
            if value:
                return value
            time.sleep(0.1)
        self.fail(f"never came: {what() if callable(what) else what}")

    def run(self, command, user=None, code=0):
        """Runs a command, as root or in a session of the user; returns what it prints."""
        result = self.vm.run(command, user=user)
        if code is not None and result.code != code:
            self.fail(f"{command} ended with {result.code}, not {code}:\n{result.out}{result.err}")
        return result.out if code == 0 else result.out + result.err

    def cli(self, words, user="alice", code=0, service=SERVICE):
        return self.run(f"relay-cli --system --service {service} {words}", user=user, code=code)

    def unit(self, name, unit="relay-service"):
        """A property of a unit."""
        return self.run(f"systemctl show --value --property={name} {unit}").strip()

    def is_active(self, unit="relay-service"):
        return self.unit("ActiveState", unit) == "active"

    def await_active(self, unit="relay-service"):
        self.until(lambda: self.is_active(unit), lambda: self.run(f"systemctl status --no-pager -l {unit}", code=None))

    def log(self, words="-u relay-service"):
        return self.run(f"journalctl -q -o cat --no-pager {words}")

    def order(self, label, capacity=10):
        return int(self.cli(f"call OrderBox label={label} capacity={capacity}").removeprefix("boxID="))

    def history(self, user="alice"):
        """The events of boxes: sequence to (id, title). A gap or an event that is there twice ends this."""
        found = {}
        for line in self.cli("--json history BoxProvisioned", user=user).splitlines():
            event = json.loads(line)
            self.check("gap" not in event, f"the history has a gap: {line}")
            fields = event.get("fields", event)
            self.check(event["sequence"] not in found, f"#{event['sequence']} is there twice")
            found[event["sequence"]] = (fields["boxID"], fields["title"])
        self.check(sorted(found) == list(range(1, len(found) + 1)), f"the history has holes: {sorted(found)}")
        return found
