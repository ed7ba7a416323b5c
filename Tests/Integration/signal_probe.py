#!/usr/bin/python3
"""Broadcasts signals by one connection, and prints those that another one receives, which owns a name.

usage: signal_probe.py ADDRESS NAME PATH:INTERFACE:MEMBER...      NAME -: none
"""
import sys

from gi.repository import Gio, GLib

address, name, *signals = sys.argv[1:]
DRIVER = "org.freedesktop.DBus"
received = []


def connection():
    flags = Gio.DBusConnectionFlags.AUTHENTICATION_CLIENT | Gio.DBusConnectionFlags.MESSAGE_BUS_CONNECTION
    return Gio.DBusConnection.new_for_address_sync(address, flags, None, None)


def ask(connection, member, arguments=None):
    return connection.call_sync(DRIVER, "/org/freedesktop/DBus", DRIVER, member, arguments, None, 0, 60_000, None)


def seen(_, message, is_incoming):
    if is_incoming and message.get_sender() == sender.get_unique_name():
        received.append(f"{message.get_path()}:{message.get_interface()}:{message.get_member()}")
    return message


receiver, sender = connection(), connection()
receiver.add_filter(seen)
ask(receiver, "AddMatch", GLib.Variant("(s)", ("type='signal'",)))
if name != "-":
    ask(receiver, "RequestName", GLib.Variant("(su)", (name, 4)))
for signal in signals:
    path, interface, member = signal.split(":")
    sender.emit_signal(None, path, interface, member, None)
# What the bus has taken, it has passed on before it answers; and the receiver reads in order.
ask(sender, "GetId")
ask(receiver, "GetId")
print("\n".join(received))
