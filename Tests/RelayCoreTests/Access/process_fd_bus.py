"""A bus that reports a descriptor of each peer's process, as dbus-daemon 1.16 and dbus-broker 34 do.

Debian 12 has neither. It routes messages between its connections, and knows what a service and its callers ask of a bus.
It has no room for the first REFUSALS questions about its own credentials, and for as many about its figures.
usage: process_fd_bus.py SOCKET [REFUSALS]
"""
import array
import os
import select
import socket
import struct
import sys

from gi.repository import Gio, GLib

DRIVER = "org.freedesktop.DBus"
SO_PEERPIDFD = 77
PASSES = Gio.DBusCapabilityFlags.UNIX_FD_PASSING


class Connection:
    def __init__(self, stream):
        self.stream, self.name, self.bytes, self.files, self.is_in = stream, None, b"", [], False

    def process(self):
        try:
            number = struct.unpack("i", self.stream.getsockopt(socket.SOL_SOCKET, SO_PEERPIDFD, 4))[0]
        except OSError:
            # Linux before 6.5.
            pid = struct.unpack("3i", self.stream.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[0]
            number = os.pidfd_open(pid)
        return number

    def user(self):
        return struct.unpack("3i", self.stream.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[1]

    def send(self, message, files=()):
        if files:
            numbers = Gio.UnixFDList()
            for number in files:
                numbers.append(number)
            message.set_unix_fd_list(numbers)
        blob = message.to_blob(PASSES)
        extra = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", files))] if files else []
        sent = self.stream.sendmsg([blob], extra)
        if sent < len(blob):
            self.stream.sendall(blob[sent:])


class Bus:
    def __init__(self):
        self.connections, self.owners, self.count, self.serial = [], {}, 0, 0
        self.refusals = dict.fromkeys(["GetConnectionCredentials", "GetConnectionStats"], int((sys.argv + ["0"])[2]))

    def read(self, connection):
        data, extra, _, _ = connection.stream.recvmsg(65536, socket.CMSG_SPACE(64))
        for _, kind, numbers in extra:
            if kind == socket.SCM_RIGHTS:
                connection.files += array.array("i", numbers[: len(numbers) // 4 * 4]).tolist()
        if not data:
            return self.leave(connection)
        connection.bytes += data
        while not connection.is_in and b"\r\n" in connection.bytes:
            line, connection.bytes = connection.bytes.split(b"\r\n", 1)
            if line.lstrip(b"\0").startswith(b"AUTH EXTERNAL"):
                connection.stream.sendall(b"OK " + b"0" * 31 + b"1\r\n")
            elif line.lstrip(b"\0").startswith(b"AUTH"):
                connection.stream.sendall(b"REJECTED EXTERNAL\r\n")
            elif line.startswith(b"DATA"):
                connection.stream.sendall(b"OK " + b"0" * 31 + b"1\r\n")
            elif line == b"NEGOTIATE_UNIX_FD":
                connection.stream.sendall(b"AGREE_UNIX_FD\r\n")
            elif line == b"BEGIN":
                connection.is_in = True
            else:
                connection.stream.sendall(b"ERROR\r\n")
        while connection.is_in and len(connection.bytes) >= 16:
            size = Gio.DBusMessage.bytes_needed(connection.bytes)
            if len(connection.bytes) < size:
                return
            blob, connection.bytes = connection.bytes[:size], connection.bytes[size:]
            message = Gio.DBusMessage.new_from_blob(blob, PASSES)
            files, connection.files = connection.files, []
            self.route(message, connection, files)
            for number in files:
                os.close(number)

    def route(self, message, sender, files):
        destination = message.get_destination()
        if destination == DRIVER:
            return self.ask(message, sender)
        message.set_sender(sender.name)
        receiver = self.find(destination)
        if receiver:
            receiver.send(message, files)
        elif destination is None:
            for other in self.connections:
                if other is not sender and other.name:
                    other.send(message)
        elif message.get_message_type() == Gio.DBusMessageType.METHOD_CALL:
            self.fail(message, sender, "ServiceUnknown")

    def find(self, name):
        name = self.owners.get(name, name)
        return next((one for one in self.connections if one.name == name), None)

    def own(self, message, receiver, body, files=()):
        self.serial += 1
        message.set_serial(self.serial)
        message.set_sender(DRIVER)
        message.set_destination(receiver.name)
        if body:
            message.set_body(body)
        receiver.send(message, files)

    def fail(self, message, sender, name):
        self.own(message.new_method_error_literal(f"{DRIVER}.Error.{name}", name), sender, None)

    def ask(self, message, sender):
        member, body = message.get_member(), message.get_body()
        first = body.get_child_value(0).unpack() if body and body.n_children() else None
        files = []
        if self.refusals.get(member) and (first == DRIVER or member == "GetConnectionStats"):
            self.refusals[member] -= 1
            return self.fail(message, sender, "LimitsExceeded")
        if member == "Hello":
            self.count += 1
            sender.name = f":1.{self.count}"
            answer = GLib.Variant("(s)", (sender.name,))
        elif member in ("AddMatch", "RemoveMatch"):
            answer = None
        elif member == "RequestName":
            self.owners[first] = sender.name
            answer = GLib.Variant("(u)", (1,))
        elif member == "ReleaseName":
            self.owners.pop(first, None)
            answer = GLib.Variant("(u)", (1,))
        elif member == "GetConnectionStats":
            # It keeps nothing for anybody.
            figures = {"IncomingBytes": GLib.Variant("u", 0), "OutgoingBytes": GLib.Variant("u", 0)}
            answer = GLib.Variant("(a{sv})", (figures,))
        elif member == "GetNameOwner" and self.find(first):
            answer = GLib.Variant("(s)", (self.find(first).name,))
        elif member == "GetConnectionCredentials" and (first == DRIVER or self.find(first)):
            values = {"UnixUserID": GLib.Variant("u", os.getuid())}
            if first != DRIVER:
                peer = self.find(first)
                values = {"UnixUserID": GLib.Variant("u", peer.user()), "ProcessFD": GLib.Variant("h", 0)}
                files = [peer.process()]
            answer = GLib.Variant("(a{sv})", (values,))
        else:
            return self.fail(message, sender, "NameHasNoOwner" if member.startswith("Get") else "UnknownMethod")
        self.own(message.new_method_reply(), sender, answer, files)
        for number in files:
            os.close(number)

    def leave(self, connection):
        self.connections.remove(connection)
        connection.stream.close()
        for name in [one for one, owner in self.owners.items() if owner == connection.name]:
            del self.owners[name]
        if connection.name:
            for other in self.connections:
                if other.name:
                    gone = Gio.DBusMessage.new_signal("/org/freedesktop/DBus", DRIVER, "NameOwnerChanged")
                    self.own(gone, other, GLib.Variant("(sss)", (connection.name, connection.name, "")))


listener = socket.socket(socket.AF_UNIX)
listener.bind(sys.argv[1])
os.chmod(sys.argv[1], 0o666)
listener.listen()
print("ready", flush=True)
bus = Bus()
while True:
    ready, _, _ = select.select([listener] + [one.stream for one in bus.connections], [], [])
    for stream in ready:
        if stream is listener:
            bus.connections.append(Connection(listener.accept()[0]))
            continue
        for connection in [one for one in bus.connections if one.stream is stream]:
            try:
                bus.read(connection)
            except ConnectionError:
                bus.leave(connection)
