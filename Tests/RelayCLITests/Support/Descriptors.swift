import Glibc

func isReadable(_ descriptor: Int32) -> Bool {
    var poll = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return Glibc.poll(&poll, 1, 0) == 1
}

/// A pipe whose ends are closed when it goes, or before.
final class TestPipe {
    private(set) var reading: Int32
    private(set) var writing: Int32

    init() {
        var ends: [Int32] = [-1, -1]
        pipe(&ends)
        (reading, writing) = (ends[0], ends[1])
    }
    deinit {
        closeReading()
        closeWriting()
    }
    func closeReading() {
        if reading >= 0 { close(reading) }
        reading = -1
    }
    func closeWriting() {
        if writing >= 0 { close(writing) }
        writing = -1
    }
    /// What is there now; waits for something if there is nothing.
    func readSome(_ most: Int = 65_536) async -> [UInt8] {
        let descriptor = reading
        return await WaitingThread.run {
            var buffer = [UInt8](repeating: 0, count: most)
            let count = read(descriptor, &buffer, buffer.count)
            return Array(buffer.prefix(max(0, count)))
        }.value
    }
    func readAll() async -> [UInt8] {
        var all: [UInt8] = []
        while true {
            let some = await readSome()
            if some.isEmpty { return all }
            all += some
        }
    }
}
