# Reads and sends enums with payloads: dbus-python, then GLib with the values of Examples/python; nothing else of Relay's.
# usage: dbus_python_enums.py ADDRESS FOLDER     FOLDER has relay_values.py. Prints a JSON object a line.
import json
import sys

import dbus
import dbus.bus
from dbus.mainloop.glib import DBusGMainLoop
from gi.repository import Gio, GLib

NAME, PATH, INTERFACE = "org.example.Jobs", "/org/example/Jobs1", "org.example.Jobs1"
address, folder = sys.argv[1:]
sys.path.insert(0, folder)
from relay_values import named, parse_shape, signature, unnamed


def tell(**entries):
    print(json.dumps(entries), flush=True)


def on_event(job, state, *_):
    tell(event=[int(job), [str(state[0]), state[1]]])
    if state[0] == "failed":
        loop.quit()


def talk():
    jobs = dbus.Interface(bus.get_object(NAME, PATH), INTERFACE)
    # A plain 0 is an int32 for dbus-python: any integer will do for a case without a payload.
    jobs.SetState(1, ("idle", 0))
    reply = jobs.SetState(2, ("printing", (dbus.Int32(3), dbus.Array([4], signature="i"))))
    tell(reply=[str(reply[0]), reply[1]])
    try:
        jobs.SetState(3, ("jammed", 0))
    except dbus.DBusException as error:
        tell(error=error.get_dbus_name(), message=error.get_dbus_message())
    by_name()
    return False


def by_name():
    node = Gio.DBusNodeInfo.new_for_xml(
        dbus.Interface(bus.get_object(NAME, PATH), "org.freedesktop.DBus.Introspectable").Introspect())
    method = node.lookup_interface(INTERFACE).lookup_method("SetState")
    shape = next(Gio.DBusAnnotationInfo.lookup(arg.annotations, "org.eventrelay.Fields") or arg.signature
                 for arg in method.in_args if arg.name == "state")
    kind, _ = parse_shape(shape)
    tell(shape=shape)
    sent = {"failed": {"_0": {"code": 7, "text": "paper"}}}
    connection = Gio.DBusConnection.new_for_address_sync(
        address, Gio.DBusConnectionFlags.AUTHENTICATION_CLIENT | Gio.DBusConnectionFlags.MESSAGE_BUS_CONNECTION)
    arguments = GLib.Variant(f"(x{signature(kind)})", (4, unnamed(sent, kind, GLib.Variant)))
    answer = connection.call_sync(NAME, PATH, INTERFACE, "SetState", arguments, None, 0, -1, None)
    tell(same=named(answer.unpack()[0], kind) == sent)


DBusGMainLoop(set_as_default=True)
bus = dbus.bus.BusConnection(address)
bus.add_signal_receiver(on_event, "StateChanged", INTERFACE)
loop = GLib.MainLoop()
GLib.idle_add(talk)
GLib.timeout_add_seconds(300, loop.quit)
loop.run()
