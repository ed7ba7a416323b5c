"""A ring: the shared memory that holds the last events of an interface. Written from docs/internals/RING.md.

Python has no fences. On x86-64 ordinary loads keep their order, and so do the steps of this program.
"""
import fcntl
import mmap
import os
import struct

from relay_values import parse_layout

class Damaged(Exception):
    """A ring that no well-behaved service writes."""


class Ring:
    INTENT, TAIL, END, INDEX = 16, 32, 48, 64  # Words of eight bytes.

    def __init__(self, descriptor):
        page, status = mmap.PAGESIZE, os.fstat(descriptor)
        self.check(fcntl.fcntl(descriptor, 1034) & 0x17 == 0x17, "the seals")  # F_GET_SEALS
        self.check(2 * page <= status.st_size <= 2**30 + 2**20 + page, "the size")
        with mmap.mmap(descriptor, page, mmap.MAP_SHARED, mmap.PROT_READ) as header:
            magic, version, self.start, self.capacity, _, self.last, expected, size, entries, _ = struct.unpack_from(
                "<8sIIQQQQIII", header)
        self.check(magic == b"RELAYRNG" and version == 2 and entries == 64, "the header")
        self.check(page <= self.capacity <= 2**30 and self.capacity & (self.capacity - 1) == 0, "the capacity")
        self.check(self.start % page == 0 and self.start + self.capacity == status.st_size, "the offsets")
        self.check(size <= 2**20 and 1024 + size <= self.start, "the event list")
        self.memory = mmap.mmap(descriptor, status.st_size, mmap.MAP_SHARED, mmap.PROT_READ)
        # An element of this view is read by one load of eight bytes, that of an unpacked buffer maybe not.
        self.words = memoryview(self.memory).cast("Q")
        self.position = 0
        self.events = list(self.parse_list(self.memory[1024:1024 + size], expected))

    @staticmethod
    def check(is_right, what):
        if not is_right:
            raise Damaged(what)

    def parse_list(self, data, expected):
        fingerprint, offset = 0xCBF29CE484222325, 0
        for byte in data:
            fingerprint = (fingerprint ^ byte) * 0x100000001B3 % 2**64
        self.check(fingerprint == expected, "the fingerprint")
        while offset < len(data):
            raw, name, _, layout = struct.unpack_from("<IIQQ", data, offset)
            start, offset = offset + 24, offset + 24 + (name + 7) // 8 * 8
            text = data[offset:offset + layout].decode()
            form = make = None
            if raw != 0xFFFFFFFF:
                form, make, _ = parse_layout(text)
                self.check(struct.calcsize("<" + form) == raw, "a layout")
            yield data[start:start + name].decode(), form, make
            offset += (layout + 7) // 8 * 8

    def copy(self, count):
        place = self.position % self.capacity  # One mapping: what crosses the end comes in two parts.
        first = self.memory[self.start + place:self.start + min(place + count, self.capacity)]
        return first + self.memory[self.start:self.start + count - len(first)]

    def jump(self, attempt):
        tail = self.words[self.TAIL]
        lower = max(0, self.words[self.INTENT] - self.capacity) + attempt * self.capacity // 16
        entries = self.words[self.INDEX:self.INDEX + 64].tolist()
        self.position = min((e for e in entries if e >= lower and self.position < e < tail), default=tail)

    def next(self):
        """The event's entry of the list, its sequence, when it was published, its payload (None: it was left out); or None."""
        for attempt in range(8):
            tail = self.words[self.TAIL]
            if tail == self.position:
                return None
            if tail - self.position <= self.capacity:
                header = self.copy(32)
                length, number, sequence, previous, published = struct.unpack("<IIQQQ", header)
                record = self.copy(32 + min(length, self.capacity // 4))
                if self.words[self.INTENT] - self.position <= self.capacity:
                    break
            self.jump(attempt)
        else:
            return None
        # Only from here on does the copy count.
        self.check(length <= min(self.capacity // 4 - 32, 2**20), "a length")
        self.check(self.last < sequence and previous < sequence, "a sequence")
        self.check(number & 0x7FFFFFFF < len(self.events), "an event's number")
        self.last, self.position = sequence, self.position + (32 + length + 7) // 8 * 8
        return self.events[number & 0x7FFFFFFF], sequence, published, None if number >> 31 else record[32:]

    def has_ended(self):
        return self.words[self.END] != 0 and self.words[self.TAIL] == self.position
