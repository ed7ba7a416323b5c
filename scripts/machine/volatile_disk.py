"""A disk with a volatile cache: what was not flushed may be lost, in any order and by halves, when its power is cut.

Serves FILE over NBD on a Unix socket. Writes go to memory; a flush brings them into FILE. SIGTERM is the power cut: right after one of
the next writes, so that there is something to lose, or after a second without any. Then it brings a random part of the rest into FILE,
also parts of blocks, and ends without an answer.

usage: volatile_disk.py FILE SOCKET [SEED]
"""
import os
import random
import signal
import socket
import struct
import sys

BLOCK, SECTOR = 4096, 512


class Cut(Exception):
    pass


class Disk:
    def __init__(self, path):
        self.file = os.open(path, os.O_RDWR)
        self.size = os.fstat(self.file).st_size
        self.dirty = {}
        self.flushes = self.most = 0
        self.writes_left = None  # until the power is cut

    def block(self, number):
        return self.dirty.get(number) or os.pread(self.file, BLOCK, number * BLOCK).ljust(BLOCK, b"\0")

    def read(self, offset, length):
        first, last = offset // BLOCK, (offset + length - 1) // BLOCK
        if self.dirty.keys().isdisjoint(range(first, last + 1)):
            return os.pread(self.file, length, offset)
        data = bytearray(os.pread(self.file, (last - first + 1) * BLOCK, first * BLOCK))
        for number in range(first, last + 1):
            if number in self.dirty:
                data[(number - first) * BLOCK:(number - first + 1) * BLOCK] = self.dirty[number]
        return bytes(data[offset - first * BLOCK:offset - first * BLOCK + length])

    def write(self, offset, data):
        while data:
            number, start = divmod(offset, BLOCK)
            part = data[:BLOCK - start]
            if len(part) < BLOCK:
                old = self.block(number)
                self.dirty[number] = old[:start] + part + old[start + len(part):]
            else:
                self.dirty[number] = bytes(part)
            offset, data = offset + len(part), data[len(part):]
        self.most = max(self.most, len(self.dirty))

    def flush(self):
        for number, block in sorted(self.dirty.items()):
            os.pwrite(self.file, block, number * BLOCK)
        self.dirty.clear()
        self.flushes += 1

    def lose(self, chance):
        """Keeps some of what was not flushed: of each block all, nothing, or some of its sectors."""
        share = chance.choice([0, 0.1, 0.5, 0.9])
        kept = torn = 0
        for number, block in self.dirty.items():
            if chance.random() >= share:
                continue
            if chance.random() < 0.3:
                torn += 1
                for sector in range(0, BLOCK, SECTOR):
                    if chance.random() < 0.5:
                        os.pwrite(self.file, block[sector:sector + SECTOR], number * BLOCK + sector)
            else:
                kept += 1
                os.pwrite(self.file, block, number * BLOCK)
        return f"{self.flushes} flushes; at the cut {len(self.dirty)} blocks not flushed (at most {self.most}): {kept} kept, {torn} torn"


def receive(connection, length):
    data = bytearray()
    while len(data) < length:
        part = connection.recv(length - len(data))
        if not part:
            raise EOFError
        data += part
    return data


def negotiate(connection, size):
    flags = 1 | 4 | 8  # HAS_FLAGS, SEND_FLUSH, SEND_FUA
    connection.sendall(b"NBDMAGICIHAVEOPT" + struct.pack(">H", 3))
    receive(connection, 4)
    while True:
        _, option, length = struct.unpack(">8sII", receive(connection, 16))
        body = receive(connection, length)

        def answer(kind, data=b""):
            connection.sendall(struct.pack(">QIII", 0x3E889045565A9, option, kind, len(data)) + data)
        if option == 1:  # EXPORT_NAME
            connection.sendall(struct.pack(">QH", size, flags) + bytes(124))
            return
        if option in (6, 7):  # INFO, GO
            answer(3, struct.pack(">HQH", 0, size, flags))
            answer(3, struct.pack(">HIII", 3, SECTOR, BLOCK, 32 << 20))
            answer(1)
            if option == 7:
                return
        elif option == 2:  # ABORT
            answer(1)
            raise EOFError
        else:
            answer((1 << 31) + 1)


def serve(connection, disk):
    while True:
        _, flags, kind, handle, offset, length = struct.unpack(">IHHQQI", receive(connection, 28))
        answer, error = b"", 0
        if kind == 0:
            answer = disk.read(offset, length)
        elif kind == 1:
            disk.write(offset, receive(connection, length))
            if disk.writes_left is not None:
                disk.writes_left -= 1
                if disk.writes_left <= 0:
                    raise Cut
            if flags & 1:
                disk.flush()
        elif kind == 2:
            return
        elif kind == 3:
            disk.flush()
        else:
            error = 22
        connection.sendall(struct.pack(">IIQ", 0x67446698, error, handle) + answer)


def main():
    path, name = sys.argv[1:3]
    chance = random.Random(sys.argv[3] if len(sys.argv) > 3 else None)
    disk = Disk(path)

    def begin(*_):
        disk.writes_left = chance.randint(1, 20)
        signal.alarm(1)

    def cut(*_):
        raise Cut
    signal.signal(signal.SIGTERM, begin)
    signal.signal(signal.SIGALRM, cut)
    if os.path.exists(name):
        os.unlink(name)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(name)
    listener.listen()
    try:
        while True:
            connection, _ = listener.accept()
            try:
                negotiate(connection, disk.size)
                serve(connection, disk)
            except (EOFError, ConnectionError):
                pass
    except Cut:
        print(disk.lose(chance), flush=True)


if __name__ == "__main__":
    main()
