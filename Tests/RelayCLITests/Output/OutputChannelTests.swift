import RelayTool
import Glibc
import Testing

@testable import relay_cli

@Suite("Output")
struct OutputChannelTests {
    @Test("lines are not parted where they fit a pipe's atomic write")
    func wholeLines() async {
        let pipe = TestPipe()
        var channel = OutputChannel(descriptor: pipe.writing, isTerminal: false)
        let line = String(repeating: "x", count: 1_499) + "\n"
        for _ in 0..<6 { channel.pending.append(line) }
        #expect(channel.write() == .drained)
        #expect(channel.isEmpty)
        #expect(await pipe.readSome().count == 9_000)
    }

    @Test("a full pipe blocks nobody; the rest goes when there is room, and nothing is lost or doubled")
    func fullPipe() async {
        let pipe = TestPipe()
        var channel = OutputChannel(descriptor: pipe.writing, isTerminal: false)
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

    @Test("a reader that went away is an end, not an error; a descriptor that cannot be written to is one")
    func closed() {
        let pipe = TestPipe()
        var channel = OutputChannel(descriptor: pipe.writing, isTerminal: false)
        pipe.closeReading()
        channel.pending.append("x\n")
        #expect(channel.write() == .closed)
        var none = OutputChannel(descriptor: 987_654, isTerminal: false)
        none.pending.append("x\n")
        #expect(none.write() == .failed(errno: EBADF))
        let readOnly = open("/dev/null", O_RDONLY | O_CLOEXEC)
        defer { close(readOnly) }
        var wrong = OutputChannel(descriptor: readOnly, isTerminal: false)
        wrong.pending.append("x\n")
        #expect(wrong.write() == .failed(errno: EBADF))
    }

    @Test("what goes to a terminal passes its door, also in parts; it counts as it was composed")
    func terminal() async {
        let pipe = TestPipe()
        var channel = OutputChannel(descriptor: pipe.writing, isTerminal: true)
        channel.pending.append(Color.event)
        // Longer than what is written at once, with no end of a line to part it at; of characters of several bytes.
        let long = String(repeating: "é\u{1B}[2J\u{202E}", count: 1_000)
        channel.pending.append(long)
        channel.pending.append(Color.reset)
        channel.pending.append("\r\n")
        let composed = channel.composed
        #expect(channel.write() == .drained && channel.taken == composed && channel.takenLines == 1)
        pipe.closeWriting()
        let shown = String(repeating: #"é\u001b[2J\u202e"#, count: 1_000)
        #expect(String(decoding: await pipe.readAll(), as: UTF8.self) == "\u{1B}[1m\(shown)\u{1B}[0m\r\n")
    }
    @Test("a terminal that takes little at a time gets each byte once")
    func slowTerminal() async {
        let pipe = TestPipe()
        var channel = OutputChannel(descriptor: pipe.writing, isTerminal: true)
        for number in 0..<20_000 { channel.pending.append("line\u{7} \(number)\n") }
        #expect(channel.write() == .blocked)
        let expected = (0..<20_000).map { "line\\u0007 \($0)\n" }.joined()
        var received: [UInt8] = []
        while received.count < expected.utf8.count {
            received += await pipe.readSome(1_000)
            _ = channel.write()
        }
        #expect(channel.isEmpty && channel.takenLines == 20_000)
        #expect(String(decoding: received, as: UTF8.self) == expected)
    }
}
