# A subscriber to all events of Relocation1, written from docs/PROTOCOL.md alone ("With signals"): Gio, and nothing of
# Relay's.
# usage: stream_client.py ADDRESS     Prints 'event SEQUENCE NAME', 'gap FIRST LAST' or 'replaced AFTER FROM' a line each.
import sys

from gi.repository import Gio, GLib

NAME = "org.eventrelay.Service1"
INTERFACE = "org.eventrelay.Relocation1"
PATH = "/org/eventrelay/Relocation1"
STREAM = "org.eventrelay.Stream1"
BUS = "org.freedesktop.DBus"
LIMIT = 1024


class Follower:
    def __init__(self, address):
        flags = Gio.DBusConnectionFlags.AUTHENTICATION_CLIENT | Gio.DBusConnectionFlags.MESSAGE_BUS_CONNECTION
        self.bus = Gio.DBusConnection.new_for_address_sync(address, flags, None, None)
        self.epoch = self.position = self.token = self.target = 0
        self.runs = []
        self.owner = None
        # Counts owners: an answer to a former one counts for nothing.
        self.generation = 0
        self.held = []
        self.is_live = False
        self.bus.signal_subscribe(
            None, None, None, None, None, Gio.DBusSignalFlags.NO_MATCH_RULE, self.on_signal)
        for rule in (
            f"type='signal',sender='{BUS}',interface='{BUS}',member='NameOwnerChanged',arg0='{NAME}'",
            f"type='signal',sender='{NAME}',path='{PATH}',interface='{INTERFACE}'",
            f"type='signal',sender='{NAME}',path='{PATH}',interface='{STREAM}'",
        ):
            self.bus.call_sync(
                BUS, "/org/freedesktop/DBus", BUS, "AddMatch", GLib.Variant("(s)", (rule,)), None, 0, -1, None)
        self.call(BUS, BUS, "GetNameOwner", GLib.Variant("(s)", (NAME,)), self.on_first_owner)

    def call(self, to, interface, member, arguments, done):
        def finished(bus, result):
            try:
                answer = bus.call_finish(result).unpack()
            except GLib.Error as error:
                answer = error
            done(answer)

        path = "/org/freedesktop/DBus" if to == BUS else PATH
        self.bus.call(
            to, path, interface, member, arguments, None, Gio.DBusCallFlags.NO_AUTO_START, 30000, None, finished)

    def on_first_owner(self, answer):
        if not isinstance(answer, GLib.Error) and self.generation == 0:
            self.on_owner(answer[0])

    def on_owner(self, name):
        self.generation += 1
        self.owner = name or None
        self.held, self.is_live, self.token = [], False, 0
        if self.owner:
            self.attach()

    def attach(self):
        generation, after = self.generation, self.position
        options = {"features": GLib.Variant("as", ["runs"])}
        if self.runs:
            options["runs"] = GLib.Variant("a(tt)", self.runs)

        def done(answer):
            if generation != self.generation:
                return
            if isinstance(answer, GLib.Error):
                sys.exit(answer.message)
            epoch, start, _, head, _, details = answer
            if self.epoch != 0 and start < after:
                print("replaced", after, start, flush=True)
                self.position = start
            self.epoch, self.runs = epoch, details.get("runs", [])
            self.target = max([head] + [sequence for sequence, _ in self.held])
            self.read()

        request = GLib.Variant("(ttasa{sv})", (self.epoch, after, ["*"], options))
        self.call(self.owner, STREAM, "Attach", request, done)

    def read(self):
        generation, self.is_live = self.generation, False

        def done(answer):
            if generation != self.generation:
                return
            if isinstance(answer, GLib.Error):
                if "LimitsExceeded" not in Gio.DBusError.get_remote_error(answer):
                    sys.exit(answer.message)
                GLib.timeout_add(100, lambda: generation == self.generation and self.read())
                return
            _, events, oldest, through, head, self.token = answer
            if oldest - 1 > self.position:
                print("gap", self.position + 1, oldest - 1, flush=True)
                self.position = oldest - 1
            for name, _, body in events:
                # The stamp is the end of the body: sequence, previous, publishedAt.
                if body[-3] > self.position:
                    self.deliver(body[-3], name)
            self.position = max(self.position, through)
            self.target = max([self.target] + [sequence for sequence, _ in self.held])
            if through < self.target or through < head:
                self.read()
                return
            self.is_live, held, self.held = True, self.held, []
            for sequence, name in held:
                self.on_event(sequence, name)

        request = GLib.Variant("(astut)", (["*"], self.position, 0, self.token))
        self.call(self.owner, STREAM, "Read", request, done)

    def deliver(self, sequence, name):
        print("event", sequence, name, flush=True)
        self.position = sequence

    def on_event(self, sequence, name):
        if not self.is_live:
            # All of it can be read: past the bound only how far it goes is kept.
            self.target = max(self.target, sequence)
            if len(self.held) < LIMIT:
                self.held.append((sequence, name))
        elif sequence == self.position + 1:
            self.deliver(sequence, name)
        elif sequence > self.position:
            self.held.append((sequence, name))
            self.target = sequence
            self.read()

    def on_signal(self, _, sender, __, interface, member, arguments):
        values = arguments.unpack()
        if sender == BUS:
            if member == "NameOwnerChanged" and values[0] == NAME:
                self.on_owner(values[2])
        elif sender != self.owner:
            return
        elif interface == INTERFACE:
            self.on_event(values[-3], member)
        elif member in ("Head", "End") and self.is_live and values[0] == self.epoch and values[1] > self.position:
            self.target = values[1]
            self.read()


follower = Follower(sys.argv[1])
GLib.MainLoop().run()
