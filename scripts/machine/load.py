"""Orders under way while something happens to the machine, and a watch beside them: nothing of both may be lost."""
import json
import pathlib

LOAD = (pathlib.Path(__file__).resolve().parent / "guest/load.py").read_text()


class Load:
    def __init__(self, trial, run):
        self.trial, self.answered, self.refused, self.seen, self.strange = trial, {}, [], [], []
        trial.vm.put("/tmp/load.py", LOAD)
        self.watch = trial.vm.start("exec relay-cli --system --service org.eventrelay.Service1 --json watch BoxProvisioned --since 1",
                                   user="alice", line=self.watched)
        self.orders = trial.vm.start(f"exec python3 /tmp/load.py {run} 2 2", user="alice", line=self.heard)

    def heard(self, line):
        kind, label, rest = (line.split(" ", 2) + ["", ""])[:3]
        if kind == "a":
            self.answered[label] = int(rest)
        elif kind == "b":
            self.refused.append(line)

    def watched(self, line):
        event = json.loads(line) if line else {}
        if "sequence" in event:
            self.seen.append(event["sequence"])
        elif line:
            self.strange.append(line)

    def await_more(self, count):
        """Waits until as many more were answered."""
        enough = len(self.answered) + count
        self.trial.until(lambda: len(self.answered) >= enough,
                        lambda: f"{count} more answers; {len(self.answered)} came, refused: {self.refused[-3:]}")

    def end(self):
        """Ends the orders, and compares what was answered, what is kept and what was seen. Returns the history."""
        trial = self.trial
        trial.run("pkill -f /tmp/load.py; while pgrep -f /tmp/load.py; do sleep 0.1; done", code=None)
        history = trial.history()
        ids = {title: box for box, title in history.values()}
        trial.check(len(ids) == len(history), "an order is there twice")
        lost = [label for label, box in self.answered.items() if ids.get(label) != box]
        trial.check(not lost, f"{len(lost)} answered orders are lost: {lost[:10]}")
        head = max(history)
        trial.until(lambda: self.seen and self.seen[-1] >= head, lambda: f"the watch ends at {self.seen[-1:]}, the history at {head}")
        self.watch.kill()
        trial.check(not self.strange, f"the watch shows {self.strange[:3]}")
        trial.check(self.seen == list(range(1, len(self.seen) + 1)), f"the watch is not in order: {self.seen}")
        trial.say(f"{len(self.answered)} orders answered, {len(self.refused)} refused, {len(history)} events kept, "
                 f"{len(self.seen)} watched: none lost, none twice")
        return history
