#!/usr/bin/python3
"""A service of Relay that puts what it can into every text that it supplies: escape sequences, characters that turn a text around,
what shells expand. It has the name that its argument says, on the bus of DBUS_SESSION_BUS_ADDRESS.
"""
import json
import sys
from xml.sax.saxutils import quoteattr

import dbus
import dbus.lowlevel
import dbus.mainloop.glib
import dbus.service
from gi.repository import GLib

EVIL = sys.argv[2]
# XML has no control characters of ASCII but blanks; JSON within it has all of them, escaped.
MARKUP = "".join(c for c in EVIL if c >= " " or c in "\t\n\r")
INTERFACE = "org.example.Hostile1"
PATH = "/org/example/Hostile1"
STAMP = "".join(f'<arg name="{name}" type="t"/>' for name in ("sequence", "previous", "publishedAt"))
TIME = 1_795_166_104_000_000


def note(name, value):
    return f"<annotation name={quoteattr('org.eventrelay.' + name)} value={quoteattr(value)}/>"


ABOUT = note("Description", MARKUP) + note("Unit", MARKUP) + note("Description." + MARKUP, MARKUP)
CASES = note("Cases", json.dumps({EVIL: EVIL, "plain": "plain"}))
ROOT = f'<node><node name="{PATH[1:]}"/></node>'
OBJECT = f"""<node>
<interface name="org.eventrelay.Stream1"/>
<interface name="{INTERFACE}">{note("Description", MARKUP)}
  <signal name="Happened"><arg name="text" type="s">{ABOUT}</arg><arg name={quoteattr(MARKUP)} type="s">{CASES}</arg>{STAMP}
    {note("Description", MARKUP)}</signal>
  <signal name="Paper"><arg name="text" type="s"/><arg name={quoteattr(MARKUP)} type="s"/>{STAMP}</signal>
  <method name="Echo"><arg name="plain" type="s" direction="in">{ABOUT}</arg>
    <arg name={quoteattr(MARKUP)} type="s" direction="in">{ABOUT}{CASES}</arg>
    <arg name={quoteattr(MARKUP)} type="s" direction="out">{CASES}</arg>
    {note("Description", MARKUP)}{note("Failures", json.dumps({EVIL: EVIL, "Evil": EVIL}))}</method>
  <method name="Fail">{note("Failures", json.dumps({"Evil": EVIL}))}</method>
  <method name="Break"/>
  <method name="SubmitPaper"><arg name="state" type="(ss)" direction="in"/><arg name="epoch" type="t" direction="in"/>
    <arg name="sequence" type="t" direction="in"/><arg name="operation" type="as" direction="in"/></method>
  <property name="Paper" type="(ss)" access="read">{note("Fields", f"(text:s,note:s)")}{ABOUT}</property>
</interface></node>"""

FIGURES = [(name, {"transport": EVIL, EVIL: EVIL}, 3) for name in ("subscribers", "brand_new", EVIL)]
FIGURES.append(("subscribers", {"transport": EVIL}, 4))
STATUS = {
    "Version": EVIL, "Epoch": dbus.UInt64(7), "Head": dbus.UInt64(2), "Oldest": dbus.UInt64(1), "Events": dbus.UInt64(2),
    "Subscribers": dbus.Array([(EVIL, [EVIL], EVIL, dbus.UInt64(1))], signature="(sasst)"), EVIL: EVIL,
    "Figures": dbus.Array(
        [(a, dbus.Dictionary(b, signature="ss"), dbus.UInt64(c)) for a, b, c in FIGURES], signature="(sa{ss}t)"),
}


def page(after):
    events = [
        (1, dbus.Struct((EVIL, EVIL, dbus.UInt64(n), dbus.UInt64(n - 1), dbus.UInt64(TIME + n)), signature="ssttt",
                        variant_level=1))
        for n in (1, 2) if n > after
    ]
    rows = dbus.Array([dbus.Struct(("Happened", dbus.UInt32(k), v), signature="suv") for k, v in events], signature="(suv)")
    return (7, rows, dbus.Array([], signature="(tt)"), 1, 2, 2), "ta(suv)a(tt)ttt"


def answer(member, arguments, path):
    if member == "Introspect":
        return (ROOT if path == "/" else OBJECT,), "s"
    if member == "Get":
        value = {"Durability": "durable", "Epoch": dbus.UInt64(7), "Sequence": dbus.UInt64(2)}.get(arguments[1])
        if value is not None:
            return (value,), "v"
    if member == "Schemas":
        return ({1: ("Happened", ["text:s", "arg1:s"]), 2: ("Paper", ["text:s", "arg1:s"])},), "a{u(sas)}"
    if member == "Status":
        return (STATUS,), "a{sv}"
    if member == "Attach":
        return (7, 3, 1, 2, {}, {}), "tttta{st}a{sv}"
    if member == "Barrier":
        return (7, 2, {}), "tta{st}"
    if member == "Read":
        return page(arguments[1])
    if member == "GetDocument":
        return (7, 2, 1, dbus.Struct((EVIL, EVIL), signature="ss", variant_level=1)), "ttuv"
    if member == "Echo":
        return (EVIL,), "s"
    return None


def handle(connection, message):
    if not isinstance(message, dbus.lowlevel.MethodCallMessage):
        return dbus.lowlevel.HANDLER_RESULT_NOT_YET_HANDLED
    found = answer(message.get_member(), message.get_args_list(), message.get_path())
    if found is None:
        name = INTERFACE + ".Error.Evil" if message.get_member() in ("Fail", "SubmitPaper") else "org.example.Evil"
        reply = dbus.lowlevel.ErrorMessage(message, name, EVIL)
    else:
        reply = dbus.lowlevel.MethodReturnMessage(message)
        reply.append(*found[0], signature=found[1])
    connection.send_message(reply)
    return dbus.lowlevel.HANDLER_RESULT_HANDLED


dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
bus = dbus.SessionBus()
bus.add_message_filter(handle)
name = dbus.service.BusName(sys.argv[1], bus)
print("ready", flush=True)
GLib.MainLoop().run()
