#!/usr/bin/python3
"""Follows an interface of a Relay service: every event once and in order, or a gap that says which are missing.

Written from docs/internals/PROTOCOL.md alone; the numbers of steps are those of its section "Following a stream". Needs Debian's
packages python3-gi and gir1.2-glib-2.0.
"""
import argparse
import json
import os
import signal
import struct
import sys


def fail(code, message):
    """Ends the program: 64 for wrong usage, 65 for a file that is damaged, 69 for what is not there."""
    if __name__ != "__main__":
        raise  # A program that imports this decides by itself.
    print(f"relay_client.py: {message}", file=sys.stderr)
    sys.exit(code)


try:
    from gi.repository import Gio, GLib
except ImportError as missing:  # Also without the descriptions of its libraries, which are a package of their own.
    fail(69, f"{missing}: install Debian's packages python3-gi and gir1.2-glib-2.0, and run it by /usr/bin/python3")
try:
    from relay_ring import Damaged, Ring
    from relay_values import WireReader, named, parse_shape
except ImportError as missing:
    fail(69, f"{missing}: copy relay_ring.py and relay_values.py beside it")

BUS, STREAM, ERROR = "org.freedesktop.DBus", "org.eventrelay.Stream1", "org.eventrelay.Error."
NOTHING_KEPT = 2**64 - 1  # `oldest` of a volatile interface.
CONFIRMED = {"Read", "Replay", "Runs", "OpenRing"}  # Their every reply is confirmed, be it an error.
HELD = 1024  # So many events wait until what precedes them is known.
PROMPT, LEISURELY = 5000, 30000  # After so many milliseconds the bus is asked again who owns the service's name.


class Follower:
    """Calls on_event(sequence, name, fields), and on_gap(first, last, reason): the last is None if it is not known."""

    def __init__(self, address, service, interface, on_event, on_gap, ring=False, only_new=False, position=None):
        self.address, self.service, self.interface = address, service, interface
        self.path = "/" + interface.replace(".", "/")
        self.on_event, self.on_gap, self.wants_ring, self.only_new = on_event, on_gap, ring, only_new
        self.epoch, self.position, self.runs = position or (0, 0, [])
        self.bus = self.owner = self.ring = None
        self.generation = 0  # Counts owners: what a former one answers counts for nothing.
        self.is_volatile = self.is_told = False  # Told: a volatile run's tail was accounted for, or reported.
        self.unasked, self.is_in_doubt = 0, False  # In doubt: the bus may have dropped messages.
        self.forget()
        GLib.timeout_add(5, self.poll)
        self.connect()

    def forget(self):
        self.ring, self.held, self.target, self.quiet = None, [], 0, None
        self.is_live = self.is_reading = self.has_ended = self.is_ahead = False
        self.waiting = 0  # Calls of the owner that have no answer yet.
        self.generation += 1

    # The bus and the owner.

    def connect(self):  # Steps 1 and 2, and 12.
        flags = Gio.DBusConnectionFlags.AUTHENTICATION_CLIENT | Gio.DBusConnectionFlags.MESSAGE_BUS_CONNECTION
        try:
            self.bus = Gio.DBusConnection.new_for_address_sync(self.address, flags, None, None)
        except GLib.Error:
            GLib.timeout_add_seconds(1, self.connect)
            return False
        self.bus.connect("closed", self.on_closed)
        self.bus.signal_subscribe(None, None, None, None, None, Gio.DBusSignalFlags.NO_MATCH_RULE, self.on_signal)
        self.has_rules = False
        self.add_rule(f"sender='{BUS}',interface='{BUS}',member='NameOwnerChanged',arg0='{self.service}'")
        if self.wants_ring:
            self.add_rule(f"sender='{self.service}',path='{self.path}',interface='{STREAM}',member='End'")
        else:
            self.add_signal_rules()
        self.ask_owner()
        return False

    def call_bus(self, member, text, done):
        """Calls the bus. `done` gets its answer, or the name of its error, or None if there was no answer."""
        bus = self.bus

        def finished(_, result):
            try:
                answer = bus.call_finish(result).unpack()
            except GLib.Error as error:
                answer = Gio.DBusError.get_remote_error(error)
            if bus is self.bus and not bus.is_closed():
                done(answer)

        arguments = GLib.Variant("(s)", (text,))
        bus.call(BUS, "/org/freedesktop/DBus", BUS, member, arguments, None, 0, PROMPT, None, finished)

    def ask_owner(self):
        self.unasked = 0

        def answered(answer):
            if isinstance(answer, tuple):
                owner, = answer
            elif answer == BUS + ".Error.NameHasNoOwner":
                owner = None
            else:
                self.is_in_doubt = True  # Asked again soon.
                return
            was_in_doubt, self.is_in_doubt = self.is_in_doubt, False
            if owner != self.owner:
                self.set_owner(owner)
            elif was_in_doubt and self.is_live:
                self.attach()

        self.call_bus("GetNameOwner", self.service, answered)

    def add_rule(self, rule):
        rule = "type='signal'," + rule

        def added(answer):
            if answer is None:  # The bus may have the rule or not: with both calls it has it once.
                self.call_bus("RemoveMatch", rule, lambda _: None)
                self.call_bus("AddMatch", rule, added)

        self.call_bus("AddMatch", rule, added)

    def add_signal_rules(self):
        if not self.has_rules:
            self.has_rules = True
            for interface in (self.interface, STREAM):
                self.add_rule(f"sender='{self.service}',path='{self.path}',interface='{interface}'")

    def on_closed(self, *_):
        # The run may go on, and so may its epoch: the next Attach shows whether anything is missing.
        self.owner = None
        self.forget()
        GLib.timeout_add_seconds(1, self.connect)

    def set_owner(self, name):  # Step 11.
        self.drain()
        if self.owner and self.is_volatile and self.epoch and not self.is_told:
            self.is_told = True
            if not self.has_ended:
                self.on_gap(self.position + 1, None, "the service is gone")
        self.forget()
        self.owner = name
        if name:
            self.open_ring() if self.wants_ring else self.attach()

    def call(self, member, arguments, done):
        """Calls Stream1 at the owner. `done` gets the answer, or None after an error."""
        generation = self.generation
        self.waiting += 1

        def finished(bus, result):
            try:
                reply = bus.send_message_with_reply_finish(result)
            except GLib.Error:
                reply = None  # There was no answer in time, or the bus is gone.
            if reply and (member in CONFIRMED or reply.get_unix_fd_list()) and reply.get_sender().startswith(":"):
                self.confirm(bus, reply)
            is_error = reply and reply.get_message_type() == Gio.DBusMessageType.ERROR
            if is_error and generation == self.generation and reply.get_error_name() == ERROR + "NotPermitted":
                sys.exit(reply.get_body().unpack()[0])
            if generation == self.generation:
                self.waiting -= 1
                self.drain()
                body = reply and reply.get_body()
                values = body.unpack() if body else ()
                done(None if reply is None or is_error else values, reply and reply.get_unix_fd_list())

        call = self.message(member, arguments)
        self.bus.send_message_with_reply(call, Gio.DBusSendMessageFlags.NONE, 30000, None, finished)

    def message(self, member, arguments=None, flags=Gio.DBusMessageFlags.NO_AUTO_START):
        message = Gio.DBusMessage.new_method_call(self.owner, self.path, STREAM, member)
        message.set_flags(flags)
        if arguments is not None:
            message.set_body(arguments)
        return message

    def send(self, member, arguments=None):
        flags = Gio.DBusMessageFlags.NO_AUTO_START | Gio.DBusMessageFlags.NO_REPLY_EXPECTED
        self.bus.send_message(self.message(member, arguments, flags), Gio.DBusSendMessageFlags.NONE)

    def confirm(self, bus, reply):
        """Reports that a reply was read: its sender counts it until then, and all that it sent before."""
        message = Gio.DBusMessage.new_method_call(reply.get_sender(), "/", STREAM, "Received")
        message.set_flags(Gio.DBusMessageFlags.NO_AUTO_START | Gio.DBusMessageFlags.NO_REPLY_EXPECTED)
        message.set_body(GLib.Variant("(u)", (reply.get_serial(),)))
        bus.send_message(message, Gio.DBusSendMessageFlags.NONE)

    def again(self, do):
        generation = self.generation
        GLib.timeout_add(200, lambda: generation == self.generation and do() and False)

    def on_signal(self, _, sender, __, interface, member, arguments):
        values = arguments.unpack()
        if sender == BUS and member == "NameOwnerChanged" and values[0] == self.service:
            self.set_owner(values[2] or None)
        elif sender == self.owner:
            self.drain()
            if interface == self.interface and not self.ring:
                self.quiet = 0
                self.accept(values[-3], member, lambda: named(values, self.schemas[member]))
            elif interface == STREAM and member in ("Head", "End"):
                self.quiet = None
                self.on_head(values[0], values[1])
                self.has_ended = self.has_ended or member == "End"
        elif sender != BUS:
            self.is_in_doubt = True  # A stranger's, whose messages may have taken the room of others.

    def poll(self):  # The ring; the owner; and step 10: after two quiet seconds the Head may have been lost, too.
        self.drain()
        self.unasked += 5
        is_waiting = self.owner is None or self.waiting or self.is_in_doubt or not self.is_live
        if self.unasked >= (PROMPT if is_waiting else LEISURELY) and self.bus and not self.bus.is_closed():
            self.ask_owner()
        if self.quiet is not None:
            self.quiet += 5
            if self.quiet >= 2000 and self.is_live:
                self.attach()
        return True

    # Attaching.

    def open_ring(self):
        def done(answer, descriptors):
            try:
                self.ring = answer and Ring(descriptors.get(answer[0]))
            except (Damaged, ValueError, KeyError, IndexError, struct.error):
                self.ring = None
            if not self.ring:
                # It may have been given, in a reply that was lost.
                self.return_ring()
                self.add_signal_rules()
            self.attach()

        self.call("OpenRing", None, done)

    def return_ring(self, is_repeated=False):
        """Repeated until it is answered: a restricted interface sends nothing to whom it takes for a reader."""
        def done(answer, _):
            if answer is None:
                self.again(lambda: self.return_ring(True))
            elif is_repeated:
                self.is_in_doubt = True

        self.call("CloseRing", None, done)

    def attach(self):  # Steps 4 and 5.
        self.is_live, self.quiet = False, None

        def described(answer, _):
            if answer is None:
                return self.again(self.attach)
            self.schemas = {}
            for number, (name, fields) in sorted(answer[0].items()):
                # The last of a name is the present one.
                fields = [parse_shape(f"({field})")[0][1][0] for field in fields]
                self.schemas[number] = self.schemas[name] = ("(", fields)
            options = {"features": GLib.Variant("as", ["runs"])}
            if self.runs:
                options["runs"] = GLib.Variant("a(tt)", self.runs)
            after = self.position
            self.call(
                "Attach", GLib.Variant("(ttasa{sv})", (self.epoch, after, ["*"], options)),
                lambda answer, _: self.attached(answer, after))

        self.call("Schemas", None, described)

    def attached(self, answer, after):
        if answer is None:
            return self.again(self.attach)
        epoch, start, oldest, head, _, details = answer
        self.is_ahead = False
        self.is_volatile = oldest == NOTHING_KEPT
        if self.epoch == 0:
            self.position = head if self.only_new else 0
        elif self.is_volatile and epoch != self.epoch:
            if not self.is_told:
                self.on_gap(self.position + 1, None, "of another run")
            self.position = 0
        elif not self.is_volatile and details.get("open") and start < after and (
                head <= start or start == 0 and head <= after and not self.runs):
            self.is_ahead = epoch != self.epoch  # A mirror that may still come to this place.
        elif not self.is_volatile and start < after:
            self.on_gap(start + 1, after, "of another history")
            self.position = start
        self.run, self.is_told = epoch, False
        if self.is_ahead:  # The position stays one of its own run.
            return self.go_live()
        self.epoch, self.runs = epoch, details.get("runs", [])
        if self.is_volatile:
            self.go_live()
            self.on_head(epoch, head)
        else:
            self.target = max([head] + [sequence for sequence, _, _ in self.held])
            self.read()

    # Reading a hole of a durable interface.

    def read(self):  # Step 6.
        self.is_live = False
        if self.is_reading:
            return
        self.is_reading = True
        self.call("Read", GLib.Variant("(astu)", (["*"], self.position, 0)), self.on_page)

    def on_page(self, answer, _):
        self.is_reading = False
        if answer is None:
            return self.again(self.read)
        self.epoch, events, gaps, oldest, through, head = answer
        if oldest - 1 > self.position:
            self.on_gap(self.position + 1, oldest - 1, "no longer kept")
            self.position = oldest - 1
        for name, schema, values in events:
            self.pass_gaps(gaps, values[-3])
            if values[-3] > self.position:
                self.deliver(values[-3], name, named(values, self.schemas[schema]))
        self.pass_gaps(gaps, through + 1)
        self.position = max(self.position, through)
        if through < max(head, self.target):
            return self.read()
        self.epoch = self.run
        self.go_live()

    def pass_gaps(self, gaps, before):
        """What the journal never had: any event may have been there."""
        while gaps and gaps[0][1] < before:
            first, last = gaps.pop(0)
            if last > self.position:
                self.on_gap(max(first, self.position + 1), last, "never in the journal")
                self.position = last

    # Events.

    def go_live(self):  # Step 7.
        self.is_live, held, self.held = True, self.held, []
        for event in held:
            self.accept(*event)
        self.drain()

    def accept(self, sequence, name, fields):
        """Step 8. `fields` returns them; without a name it is a head, and says that there were events up to it."""
        if sequence <= self.position:
            return
        if self.is_live and self.is_ahead:
            # In another run than this position's: the answer shows from where the histories differ.
            self.is_live = self.is_ahead = False
            return self.attach()
        if not self.is_live:
            # What does not fit can be read, or is a hole: how far the run has come is kept.
            self.target = max(self.target, sequence)
            if name and len(self.held) < HELD:
                self.held.append((sequence, name, fields))
        elif self.is_volatile:
            last = sequence - 1 if name else sequence
            if last > self.position:
                self.on_gap(self.position + 1, last, "lost")
                self.position = last
            if name:
                self.deliver(sequence, name, fields())
        elif name and sequence == self.position + 1:
            self.deliver(sequence, name, fields())
        else:
            self.target, self.held = sequence, [(sequence, name, fields)] if name else []
            self.read()

    def on_head(self, epoch, sequence):  # Step 9.
        if self.is_live and epoch == self.run or not self.is_live:
            self.accept(sequence, None, None)

    def deliver(self, sequence, name, fields):
        self.position = sequence
        self.on_event(sequence, name, fields)

    def drain(self):
        """Takes what the ring has, to its tail: before anything else that its owner sends counts."""
        try:
            while self.ring and len(self.held) < HELD and (record := self.ring.next()):
                (name, form, make), sequence, _, payload = record
                self.accept(sequence, name if payload is not None else None, self.reader(name, form, make, payload))
            if self.ring and self.is_live and self.ring.has_ended():
                self.has_ended = True
        except Damaged:
            self.ring = None
            self.return_ring()
            self.add_signal_rules()
            self.attach()

    def reader(self, name, form, make, payload):
        if form is not None:
            return lambda: make(iter(struct.unpack("<" + form, payload)))
        return lambda: named(WireReader(payload).value(self.schemas[name]), self.schemas[name])


def main():
    options = argparse.ArgumentParser(description="Follows an interface of a Relay service.")
    options.add_argument("--bus", metavar="ADDRESS", help="the bus; without it the session bus")
    options.add_argument("--service", default="org.eventrelay.Service1", help="the bus name of the service")
    options.add_argument("--ring", action="store_true", help="read the shared memory instead of signals")
    options.add_argument("--new", action="store_true", help="only what happens from now on")
    options.add_argument("--position", metavar="FILE", help="go on where the run that used this file stopped")
    options.add_argument("interface", help="such as org.eventrelay.Relocation1")
    chosen = options.parse_args()
    for name, is_right in [(chosen.service, Gio.dbus_is_name), (chosen.interface, Gio.dbus_is_interface_name)]:
        if not is_right(name):
            fail(64, f"'{name}' is no D-Bus name: give one such as org.eventrelay.Relocation1")
    try:
        address = chosen.bus or Gio.dbus_address_get_for_bus_sync(Gio.BusType.SESSION, None)
    except GLib.Error as error:
        fail(69, f"no session bus: {error.message}: give one by --bus, or begin with dbus-run-session")
    kept = None
    if chosen.position and os.path.exists(chosen.position):
        try:
            with open(chosen.position) as file:
                epoch, sequence, runs = json.load(file)
                kept = epoch, sequence, [tuple(run) for run in runs]
        except (OSError, ValueError, TypeError) as error:
            fail(65, f"cannot read the position in '{chosen.position}': {error}: name another file, or remove it")
    follower = Follower(
        address, chosen.service, chosen.interface,
        lambda *event: print("event", *event[:2], json.dumps(event[2], ensure_ascii=False), flush=True),
        lambda first, last, reason: print("gap", first, "?" if last is None else last, reason, flush=True),
        chosen.ring, chosen.new, kept)
    loop = GLib.MainLoop()

    def keep():
        # Behind what was printed: a crash between the two brings an event again, and loses none.
        if chosen.position and follower.epoch:
            with open(chosen.position + ".new", "w") as file:
                json.dump((follower.epoch, follower.position, follower.runs), file)
            os.replace(chosen.position + ".new", chosen.position)
        return True

    GLib.timeout_add(200, keep)
    GLib.unix_signal_add(GLib.PRIORITY_DEFAULT, signal.SIGTERM, loop.quit)
    GLib.unix_signal_add(GLib.PRIORITY_DEFAULT, signal.SIGINT, loop.quit)
    loop.run()
    keep()


if __name__ == "__main__":
    main()
