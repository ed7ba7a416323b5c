#!/usr/bin/python3
"""A service that has the reference service's name, and describes itself by what is no description.

With the argument 'leaves' it ends when it is called, and answers nothing.
"""
import os
import sys

import dbus
import dbus.mainloop.glib
import dbus.service
from gi.repository import GLib

dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
bus = dbus.SessionBus()
name = dbus.service.BusName("org.eventrelay.Service1", bus)


def answer(connection, message):
    if isinstance(message, dbus.lowlevel.MethodCallMessage):
        if "leaves" in sys.argv:
            os._exit(0)
        reply = dbus.lowlevel.MethodReturnMessage(message)
        reply.append("<node", signature="s")
        connection.send_message(reply)
        return dbus.lowlevel.HANDLER_RESULT_HANDLED
    return dbus.lowlevel.HANDLER_RESULT_NOT_YET_HANDLED


import dbus.lowlevel  # noqa: E402

bus.add_message_filter(answer)
print("ready", file=sys.stderr, flush=True)
GLib.MainLoop().run()
