# A reader of Relocation1's ring, written from docs/RING.md alone: Gio and the standard library, and nothing of Relay's.
# usage: ring_client.py ADDRESS     Prints 'ready', 'record SEQUENCE NAME PAYLOAD' a line each, and 'end'.
import fcntl
import mmap
import os
import struct
import sys
import time

from gi.repository import Gio, GLib

NAME = "org.eventrelay.Service1"
PATH = "/org/eventrelay/Relocation1"
STREAM = "org.eventrelay.Stream1"
F_GET_SEALS = 1034
SEALS = 0x01 | 0x02 | 0x04 | 0x10
PAGE = os.sysconf("SC_PAGESIZE")
INTENT, TAIL, END, INDEX, EVENTS = 128, 256, 384, 512, 1024


def fingerprint(data):
    value = 0xCBF29CE484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return value


def padded(count):
    return (count + 7) & ~7


class Ring:
    def __init__(self, descriptor):
        # The receipt, whatever becomes of the ring.
        fcntl.fcntl(descriptor, fcntl.F_SETFL, fcntl.fcntl(descriptor, fcntl.F_GETFL) | os.O_NONBLOCK)
        assert fcntl.fcntl(descriptor, F_GET_SEALS) & SEALS == SEALS
        status = os.fstat(descriptor)
        assert 2 * PAGE <= status.st_size <= 2**30 + 2**20 + PAGE and status.st_blocks * 512 >= status.st_size
        self.memory = mmap.mmap(descriptor, status.st_size, mmap.MAP_SHARED, mmap.PROT_READ)
        os.close(descriptor)
        magic, version, self.start, self.capacity, _, base, expected, size, entries, _ = struct.unpack_from(
            "<8sIIQQQQIII", self.memory)
        assert magic == b"RELAYRNG" and version == 2 and entries == 64
        assert self.start + self.capacity == status.st_size
        directory = self.memory[EVENTS:EVENTS + size]
        assert fingerprint(directory) == expected
        self.names, self.position, self.sequence, offset = [], 0, base, 0
        while offset < size:
            _, length, _, layout = struct.unpack_from("<IIQQ", directory, offset)
            offset += 24
            self.names.append(directory[offset:offset + length].decode())
            offset += padded(length) + padded(layout)

    def word(self, offset):
        return struct.unpack_from("<Q", self.memory, offset)[0]

    def copy(self, count):
        # One mapping: what crosses the end comes in two parts.
        place = self.position % self.capacity
        first = self.memory[self.start + place:self.start + min(place + count, self.capacity)]
        return first + self.memory[self.start:self.start + count - len(first)]

    def jump(self):
        tail, intent = self.word(TAIL), self.word(INTENT)
        lower = max(0, intent - self.capacity)
        entries = struct.unpack_from("<64Q", self.memory, INDEX)
        self.position = min((e for e in entries if e >= lower and self.position < e < tail), default=tail)

    def read(self):
        """Prints the next record; false if there is none."""
        tail = self.word(TAIL)
        if tail == self.position:
            return False
        if tail - self.position > self.capacity:
            self.jump()
            return True
        header = self.copy(32)
        length, kind, sequence, previous, _ = struct.unpack("<IIQQQ", header)
        record = self.copy(padded(32 + min(length, self.capacity // 4)))
        if self.word(INTENT) - self.position > self.capacity:
            self.jump()
            return True
        # Only from here on does the copy count.
        assert record[:32] == header and length <= self.capacity // 4
        assert sequence > self.sequence and previous < sequence
        if sequence > self.sequence + 1:
            print("gap", self.sequence + 1, sequence - 1, flush=True)
        self.sequence = sequence
        self.position += padded(32 + length)
        name = self.names[kind & 0x7FFFFFFF]
        print("skipped" if kind >> 31 else "record", sequence, name, record[32:32 + length].hex(), flush=True)
        return True

    def follow(self):
        while True:
            if self.read():
                continue
            if self.word(END) != 0 and self.word(TAIL) == self.position:
                print("end", flush=True)
                return
            time.sleep(0.001)


flags = Gio.DBusConnectionFlags.AUTHENTICATION_CLIENT | Gio.DBusConnectionFlags.MESSAGE_BUS_CONNECTION
bus = Gio.DBusConnection.new_for_address_sync(sys.argv[1], flags, None, None)
answer, descriptors = bus.call_with_unix_fd_list_sync(
    NAME, PATH, STREAM, "OpenRing", None, None, Gio.DBusCallFlags.NONE, 30000, None, None)
ring = Ring(descriptors.get(answer.unpack()[0]))
request = GLib.Variant("(ttasa{sv})", (0, 0, ["*"], {}))
bus.call_sync(NAME, PATH, STREAM, "Attach", request, None, Gio.DBusCallFlags.NONE, 30000, None)
print("ready", flush=True)
ring.follow()
