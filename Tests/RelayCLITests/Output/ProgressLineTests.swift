import RelayTool
import Testing

@testable import relay_cli

@Suite("Progress on a terminal") struct ProgressLineTests {
    private final class Written {
        var text = ""
        /// As a terminal gets it.
        func append(_ bytes: ByteBuffer) { text += String(decoding: TerminalDoor.visible(bytes.bytes), as: UTF8.self) }
    }

    @Test("is told after a second, four times a second, and is gone at the end") func line() {
        let (written, start) = (Written(), ContinuousClock.now)
        var line = ProgressLine(at: start) { written.append($0) }
        line.show(events: 5, part: 0.5, at: start + .milliseconds(999))
        #expect(written.text.isEmpty)
        line.show(events: 12_345, part: 0.456, at: start + .milliseconds(1_000))
        line.show(events: 20_000, part: 0.5, at: start + .milliseconds(1_249))
        line.show(events: 30_000, part: nil, at: start + .milliseconds(1_250))
        line.show(events: 1, part: 7, at: start + .seconds(2))
        line.end()
        #expect(
            written.text == "\r\u{1B}[K12,345 events, 45 %\r\u{1B}[K30,000 events\r\u{1B}[K1 event, 100 %\r\u{1B}[K")
    }
    @Test("what is over soon says nothing") func short() {
        let (written, start) = (Written(), ContinuousClock.now)
        var line = ProgressLine(at: start) { written.append($0) }
        line.show(events: 5, part: 1, at: start + .milliseconds(900))
        line.end()
        #expect(written.text.isEmpty)
    }
}
