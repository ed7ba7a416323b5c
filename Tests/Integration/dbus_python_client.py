# A client of Relocation1 as anybody may write one: dbus-python, and nothing of Relay's.
# usage: dbus_python_client.py ADDRESS     Prints a JSON object a line; exit code 0 if all went as it should.
import json
import sys

import dbus
import dbus.bus
from dbus.mainloop.glib import DBusGMainLoop
from gi.repository import GLib

NAME = "org.eventrelay.Service1"
PATH = "/org/eventrelay/Relocation1"
INTERFACE = "org.eventrelay.Relocation1"


def tell(**entries):
    print(json.dumps(entries), flush=True)


def typed(value):
    return [type(value).__name__, value]


def on_event(*arguments, member=None):
    tell(event=member, arguments=[typed(argument) for argument in arguments])
    if member == "ItemProvisioned":
        loop.quit()


def talk():
    boxes = dbus.Interface(bus.get_object(NAME, PATH), INTERFACE)
    # The types come from introspection: 10 is an int32 because the service says so.
    tell(boxID=typed(boxes.OrderBox("Küche", 10)))
    try:
        boxes.OrderBox("Küche", 7)
    except dbus.DBusException as error:
        tell(error=error.get_dbus_name(), message=error.get_dbus_message())
    tell(reply=[typed(value) for value in boxes.DistributeItem("Kettle")])
    return False


loop = GLib.MainLoop()
bus = dbus.bus.BusConnection(sys.argv[1], mainloop=DBusGMainLoop())
bus.add_signal_receiver(on_event, dbus_interface=INTERFACE, bus_name=NAME, path=PATH, member_keyword="member")
GLib.idle_add(talk)
GLib.timeout_add_seconds(20, lambda: sys.exit("no ItemProvisioned within 20 s"))
loop.run()
