#!/usr/bin/python3
"""Follows a document as a GDBusProxy does: prints its cached value, then each change, until there were COUNT of them.

usage: property_watcher.py ADDRESS NAME PATH INTERFACE PROPERTY COUNT
"""
import sys

from gi.repository import Gio, GLib

address, name, path, interface, prop, count = sys.argv[1:]
flags = Gio.DBusConnectionFlags.AUTHENTICATION_CLIENT | Gio.DBusConnectionFlags.MESSAGE_BUS_CONNECTION
connection = Gio.DBusConnection.new_for_address_sync(address, flags, None, None)
proxy = Gio.DBusProxy.new_sync(connection, Gio.DBusProxyFlags.NONE, None, name, path, interface, None)
loop = GLib.MainLoop()
left = int(count)


def changed(proxy, properties, invalidated):
    global left
    print("changed", properties.lookup_value(prop, None).print_(False), proxy.get_cached_property(prop).print_(False))
    sys.stdout.flush()
    left -= 1
    if left == 0:
        loop.quit()


proxy.connect("g-properties-changed", changed)
print("cached", proxy.get_cached_property(prop).print_(False))
sys.stdout.flush()
loop.run()
