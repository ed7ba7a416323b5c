"""Cuts the power of a machine under load, again and again, and looks for what it lost.

Its disk forgets at the cut what was not flushed, in any order and by halves (volatile_disk.py). Each order that is answered leaves the
machine at once; then the machine ends, and is started again. Asked after each cut: whether the service started by itself; whether each
answered order is in the history once, with the box's id that was answered; whether the sequences have no hole; whether earlier history
has not changed; whether the boxes in the state are those of the history; and whether a `watch --resume --confirm`, whose lines the host
confirms, goes on without a gap, and has shown every event.

A check of the check: with Synchronous=normal, which does not flush each commit, orders must be lost.
"""
import json
import pathlib
import random
import shutil
import subprocess
import sys
import time

import debian_root
import image
from machine import Gone, Virtual
from trial import SERVICE

HERE = pathlib.Path(__file__).resolve().parent
LOAD = (HERE / "guest/load.py").read_text()
CLI = f"relay-cli --system --service {SERVICE} --json"
# How often the control may cut before it must have shown a loss.
CONTROL = 6


def install(release, place):
    """A disk with the packages, the service enabled, and alice in its group."""
    root = image.new(release, place / "root")
    (root / "debs").mkdir()
    for deb in debian_root.packages():
        shutil.copy2(deb, root / "debs")
    image.inside(root, "apt-get install -y /debs/*.deb; adduser alice eventrelay-users; systemctl -q enable relay-service")
    disk = image.disk(root, place)
    debian_root.remove(root)
    return disk


def normal(disk, place):
    """A copy of the disk whose service does not flush each commit."""
    copy = place / "normal.ext4"
    subprocess.run(["cp", "--sparse=always", str(disk), str(copy)], check=True)
    settings = place / "normal.conf"
    settings.write_text("[Service]\nSynchronous=normal\n")
    folder = "/etc/eventrelay"
    words = f"mkdir {folder}\nmkdir {folder}/relay-service.conf.d\nwrite {settings} {folder}/relay-service.conf.d/normal.conf\n"
    subprocess.run(["debugfs", "-w", "-f", "-", str(copy)], input=words, text=True, check=True, capture_output=True)
    return copy


class Disk:
    """What the machine has as its disk: served until the power is cut, or it was shut down."""

    def __init__(self, path, chance):
        self.socket = pathlib.Path(f"{path}.socket")
        self.socket.unlink(missing_ok=True)
        self.process = subprocess.Popen(
            [sys.executable, str(HERE / "volatile_disk.py"), str(path), str(self.socket), str(chance.random())],
            stdout=subprocess.PIPE, text=True)
        while not self.socket.exists():
            time.sleep(0.02)

    def cut(self):
        self.process.terminate()
        return self.process.communicate(timeout=60)[0].strip()

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


class Cuts:
    def __init__(self, folder, path, seed, say, is_control=False):
        self.folder, self.path, self.chance, self.say, self.is_control = folder, path, random.Random(seed), say, is_control
        self.answered, self.ids = {}, {}                 # label: box id, and the reverse, as the host heard them
        self.history, self.ledger, self.again = {}, {}, 0  # sequence: (box id, title), as asked for, and as the watch showed them
        self.refused, self.faults, self.lost, self.job = [], [], 0, None

    def fault(self, text):
        self.faults.append(text)
        self.say(f"{'as it must be' if self.is_control else 'FAULT'}: {text}")

    def heard(self, line):
        kind, label, rest = (line.split(" ", 2) + ["", ""])[:3]
        if kind == "a":
            if label in self.answered or int(rest) in self.ids and self.ids[int(rest)] != label:
                self.fault(f"answered twice: {line}")
            self.answered[label], self.ids[int(rest)] = int(rest), label
        elif kind == "b":
            self.refused.append(line)

    def watched(self, line):
        event = json.loads(line) if line else {}
        if "gap" in event:
            return self.fault(f"the ledger has a gap: {line}")
        if "sequence" not in event:
            return
        number, fields = event["sequence"], event.get("fields", event)
        value = (fields["boxID"], fields["title"])
        if number in self.ledger:
            self.again += 1
            if self.ledger[number] != value:
                self.fault(f"the ledger shows another event #{number}: {value}, not {self.ledger[number]}")
        elif self.ledger and number != max(self.ledger) + 1:
            self.fault(f"the ledger shows #{number} after #{max(self.ledger)}")
        self.ledger[number] = value
        while not self.job:  # The first line may be here before the job.
            time.sleep(0.01)
        try:
            self.job.write("seen\n")
        except Gone:
            pass

    def look(self, vm):
        """Compares what the machine has with what was heard."""
        result = vm.run(f"{CLI} history BoxProvisioned", user="alice")
        if result.code:
            return self.fault(f"history: {result}")
        found = {}
        for row in map(json.loads, result.out.splitlines()):
            if "gap" in row:
                self.fault(f"the history has a gap: {row}")
                continue
            fields = row.get("fields", row)
            if row["sequence"] in found:
                self.fault(f"#{row['sequence']} is there twice")
            found[row["sequence"]] = (fields["boxID"], fields["title"])
        changed = [number for number, value in self.history.items() if found.get(number) != value]
        if sorted(found) != list(range(1, len(found) + 1)):
            self.fault("the sequences have holes")
        self.history = found
        boxes = dict(found.values())
        titles = {title: box for box, title in found.values()}
        if len(titles) != len(found):
            self.fault("an order is there twice")
        lost = [label for label, box in self.answered.items() if titles.get(label) != box]
        self.lost += len(lost) + len(changed)
        if lost or changed:
            self.fault(f"{len(lost)} answered orders are lost, and {len(changed)} events have changed: {lost[:5]} {changed[:5]}")
        result = vm.run("sqlite3 -readonly -json /var/lib/eventrelay/journal.sqlite 'SELECT id, title FROM relocation_boxes'")
        state = {row["id"]: row["title"] for row in json.loads(result.out or "[]")}
        if state != boxes:
            self.fault(f"the state differs from the history in {len(set(state.items()) ^ set(boxes.items()))} boxes: {result.err}")

    def cycle(self, cut):
        """Boots, looks, and cuts the power under load, or shuts down in good order."""
        disk = Disk(self.path, self.chance)
        vm = Virtual(self.folder, {"nbd": str(disk.socket)}, f"{self.path}.console")
        try:
            begin = time.monotonic()
            vm.boot()
            vm.put("/tmp/load.py", LOAD)
            # It starts by itself: nothing here has called it yet.
            ready = vm.run("for i in $(seq 480); do systemctl is-active -q relay-service && exit; sleep 0.25; done; exit 1")
            if ready.code:
                return self.fault(f"the service did not start by itself: {vm.run('systemctl status -l --no-pager relay-service')}")
            self.job = None
            self.job = vm.start(f"{CLI} watch BoxProvisioned --resume ledger --confirm", user="alice", stdin="", line=self.watched)
            self.look(vm)
            if self.lost:
                return None
            head = max(self.history, default=0)
            if not wait_for(lambda: max(self.ledger, default=0) >= head, 120):
                self.fault(f"the ledger ends with #{max(self.ledger, default=0)}, the history with #{head}: {''.join(self.job.err)}")
            if not cut:
                vm.shut_down()
                return None
            before = len(self.answered)
            vm.start("exec python3 /tmp/load.py r$RANDOM$RANDOM 2 2", user="alice", line=self.heard)
            wait_for(lambda: len(self.answered) > before + 5, 120)
            time.sleep(self.chance.uniform(0, 8))
            # The disk first, as it were by a millisecond.
            kept = disk.cut()
            vm.cut()
            self.say(f"cut after {time.monotonic() - begin:.0f} s: {len(self.answered) - before} orders answered; {kept}")
        except (Gone, TimeoutError) as error:
            self.fault(repr(error))
        finally:
            vm.close()
            disk.close()


def wait_for(condition, seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.05)
    return False


def trial(release, cuts, seed=None):
    def say(text):
        print(f"== {release}: {text}", flush=True)
    place = image.CACHE / release / "disk"
    seed = seed or int(time.time())
    say(f"{cuts} power cuts, on a disk that forgets what was not flushed (seed {seed})")
    disk = install(release, place)
    control = Cuts(place, normal(disk, place), seed, say, is_control=True)
    real = Cuts(place, disk, seed, say)
    for number in range(cuts + 1):
        real.cycle(cut=number < cuts)
        if real.faults:
            sys.exit(f"test-machine: {release}: {len(real.faults)} faults after {number} cuts, with seed {seed}")
    say(f"{len(real.answered)} orders answered, {len(real.history)} events, {len(real.refused)} refused, {real.again} watched again: "
        "none lost")
    say("the same with Synchronous=normal: orders must be lost")
    for _ in range(CONTROL):
        control.cycle(cut=True)
        if control.lost:
            return say("they are")
    sys.exit(f"test-machine: {release}: nothing was lost in {CONTROL} cuts: these cuts would not show a loss")
