import Glibc
import Testing

@testable import relay_cli

@Suite("Output")
struct OutputChannelTests {
    @Test("lines are not parted where they fit a pipe's atomic write")
    func wholeLines() async {
        let pipe = TestPipe()
        var channel = OutputChannel(descriptor: pipe.writing)
        let line = String(repeating: "x", count: 1_499) + "\n"
        for _ in 0..<6 { channel.pending.append(line) }
        #expect(channel.write() == .drained)
        #expect(channel.isEmpty)
        #expect(await pipe.readSome().count == 9_000)
    }

    @Test("a full pipe blocks nobody; the rest goes when there is room, and nothing is lost or doubled")
    func fullPipe() async {
        let pipe = TestPipe()
        var channel = OutputChannel(descriptor: pipe.writing)
        var expected: [UInt8] = []
        for number in 0..<20_000 {
            let line = "line \(number)\n"
            channel.pending.append(line)
            expected += Array(line.utf8)
        }
        #expect(channel.write() == .blocked)
        #expect(channel.waitingBytes > 0)
        #expect(channel.takenLines == expected.prefix(Int(channel.taken)).count { $0 == UInt8(ascii: "\n") })
        #expect(channel.takenLines > 0 && channel.takenLines < 20_000)
        var received: [UInt8] = []
        while received.count < expected.count {
            received += await pipe.readSome(3_000)
            _ = channel.write()
        }
        #expect(channel.isEmpty && channel.takenLines == 20_000)
        #expect(received == expected)
    }

    @Test("a reader that went away, and a descriptor that is none, are an end, not an error")
    func closed() {
        let pipe = TestPipe()
        var channel = OutputChannel(descriptor: pipe.writing)
        pipe.closeReading()
        channel.pending.append("x\n")
        #expect(channel.write() == .closed)
        var none = OutputChannel(descriptor: 987_654)
        none.pending.append("x\n")
        #expect(none.write() == .closed)
        let readOnly = open("/dev/null", O_RDONLY | O_CLOEXEC)
        defer { close(readOnly) }
        var wrong = OutputChannel(descriptor: readOnly)
        wrong.pending.append("x\n")
        #expect(wrong.write() == .closed)
    }
}
