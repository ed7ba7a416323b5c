"""A client of a system bus that knows nothing of Relay: for scripts/test-packaging.

usage: bus_client.py own NAME           asks for a name; prints the error, or 'owned'
                     process|user|unique NAME   of the name's owner; 'none' where there is none
                     listen             prints who sends signals of Relay's, until 'last' comes
                     forge              sends signals of Relay's, and one that everybody may send
                     last               ends the listeners
                     manager ROOT       a stand-in for systemd: starts the units below ROOT when a bus asks for them
"""
import os
import shlex
import subprocess
import sys

import dbus
import dbus.lowlevel
from dbus.mainloop.glib import DBusGMainLoop
from gi.repository import GLib

CONTROL = ("/org/example/Control", "org.example.Control")
PATHS = ["/org/eventrelay/Relocation1", "/org/eventrelay/Inventory1", "/org/eventrelay/Telemetry1"]
FORGED = [(path, "org.eventrelay." + path.rsplit("/", 1)[1], "BoxProvisioned") for path in PATHS] + [
    (PATHS[0], "org.eventrelay.Stream1", "Head")
] + [(path, "org.freedesktop.DBus.Properties", "PropertiesChanged") for path in PATHS]

DBusGMainLoop(set_as_default=True)
bus = dbus.SystemBus()
loop = GLib.MainLoop()


def send(path, interface, member):
    bus.send_message(dbus.lowlevel.SignalMessage(path, interface, member))


def ask(method, name):
    daemon = dbus.Interface(bus.get_object("org.freedesktop.DBus", "/org/freedesktop/DBus"), "org.freedesktop.DBus")
    try:
        print(getattr(daemon, method)(name))
    except dbus.exceptions.DBusException as error:
        if error.get_dbus_name() != "org.freedesktop.DBus.Error.NameHasNoOwner":
            raise
        print("none")


def listen():
    def heard(connection, message):
        if message.get_type() == 4 and message.get_interface() not in (None, "org.freedesktop.DBus"):
            kind = "control" if message.get_interface() == CONTROL[1] else message.get_sender()
            if message.get_member() == "Last":
                loop.quit()
            else:
                print(kind, message.get_path(), message.get_interface(), message.get_member(), flush=True)
        return 1  # Not handled: others may look at it, too.

    bus.add_message_filter(heard)
    for interface in [CONTROL[1], "org.freedesktop.DBus.Properties"] + ["org.eventrelay." + path[16:] for path in PATHS] + [
        "org.eventrelay.Stream1"
    ]:
        bus.add_match_string(f"type='signal',interface='{interface}'")
    print("listening", flush=True)
    loop.run()


def manager(root):
    """What dbus-broker asks of systemd: Subscribe, LoadUnit, StartUnit, and properties of units."""
    children = []

    def unit_of(name):
        for line in open(f"{root}/lib/systemd/system/{name}", encoding="utf-8"):
            key, _, value = line.rstrip("\n").partition("=")
            if key == "ExecStart":
                return shlex.split(value)
        raise ValueError(name)

    def called(connection, message):
        if message.get_type() != 1 or message.get_destination() is None:
            return 1
        member, arguments = message.get_member(), message.get_args_list()
        reply = dbus.lowlevel.MethodReturnMessage(message)
        if member in ("LoadUnit", "GetUnit"):
            reply.append("/org/freedesktop/systemd1/unit/some", signature="o")
        elif member == "StartUnit":
            words = ["chroot", "--userspec=eventrelay", root, *unit_of(str(arguments[0]))]
            children.append(subprocess.Popen(words, stdin=subprocess.DEVNULL, env={"PATH": os.environ["PATH"]}))
            reply.append("/org/freedesktop/systemd1/job/1", signature="o")
        elif member == "Get":
            reply.append(dbus.String("activating", variant_level=1), signature="v")
        elif member == "GetAll":
            reply.append(dbus.Dictionary({}, signature="sv"), signature="a{sv}")
        connection.send_message(reply)
        return 0

    bus.add_message_filter(called)
    bus.request_name("org.freedesktop.systemd1")
    print("ready", flush=True)
    loop.run()


command, rest = sys.argv[1], sys.argv[2:]
if command == "own":
    try:
        bus.request_name(rest[0])
        print("owned")
    except dbus.exceptions.DBusException as error:
        print(error.get_dbus_name())
elif command in ("process", "user", "unique"):
    ask({"process": "GetConnectionUnixProcessID", "user": "GetConnectionUnixUser", "unique": "GetNameOwner"}[command], rest[0])
elif command == "listen":
    listen()
elif command == "forge":
    for signal in FORGED:
        send(*signal)
    send(*CONTROL, "Control")
    bus.flush()
elif command == "last":
    send(*CONTROL, "Last")
    bus.flush()
elif command == "manager":
    manager(rest[0])
else:
    sys.exit(f"bus_client: no command '{command}'")
