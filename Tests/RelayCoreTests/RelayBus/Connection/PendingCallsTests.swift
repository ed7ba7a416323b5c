import Synchronization
import Testing

@testable import RelayBus

@Suite("Waiting calls") struct PendingCallsTests {
    private static func entry(_ destination: String = ":1.5") -> PendingCalls.Entry {
        PendingCalls.Entry(title: "t", destination: destination, completion: { _ in })
    }

    @Test("serials stay in the upper half, wrap there, and pass over those in use") func serials() {
        var calls = PendingCalls(startingAt: UInt32.max - 2)
        #expect(calls.nextSerial() == UInt32.max - 1)
        #expect(calls.nextSerial() == .max)
        #expect(calls.add(Self.entry(), serial: 0x8000_0000) == true)
        #expect(calls.add(Self.entry(), serial: 0x8000_0001) == true)
        #expect(calls.nextSerial() == 0x8000_0002)
        for start in [0, 1, 0x7FFF_FFFF, 0x8000_0000, UInt32.max] {
            var calls = PendingCalls(startingAt: start)
            for _ in 0..<3 { #expect(calls.nextSerial() >= 0x8000_0000) }
        }
    }

    private enum Step: CaseIterable { case add, setTimer, answer, wrongAnswer, finish, close }

    /// Every sequence of six steps over one serial, against the plain rules.
    @Test("ends each call exactly once, in every order of events") func exhaustive() {
        var checked = 0
        func visit(_ calls: PendingCalls, waits: Bool, isClosed: Bool, timer: UInt64, depth: Int) {
            #expect(calls.count == (waits ? 1 : 0) && calls.isClosed == isClosed)
            checked += 1
            if depth == 0 { return }
            for step in Step.allCases {
                if step == .add && waits { continue }  // A serial is used once at a time: `nextSerial` sees to it.
                var (calls, waits, isClosed, timer) = (calls, waits, isClosed, timer)
                switch step {
                case .add:
                    #expect(calls.add(Self.entry(), serial: 9) == !isClosed)
                    (waits, timer) = (!isClosed, 0)
                case .setTimer:
                    #expect(calls.setTimer(3, of: 9) == waits)
                    if waits { timer = 3 }
                case .wrongAnswer:
                    #expect(calls.answered(by: ":1.6", serial: 9) == nil)
                    #expect(calls.answered(by: nil, serial: 9) == nil)
                    #expect(calls.answered(by: ":1.5", serial: 8) == nil)
                case .answer, .finish:
                    let ended = step == .answer ? calls.answered(by: ":1.5", serial: 9) : calls.remove(9)
                    #expect((ended != nil) == waits)
                    if waits { #expect(ended?.timer == timer) }
                    waits = false
                case .close:
                    #expect(calls.close().count == (waits ? 1 : 0))
                    (waits, isClosed) = (false, true)
                }
                visit(calls, waits: waits, isClosed: isClosed, timer: timer, depth: depth - 1)
            }
        }
        visit(PendingCalls(startingAt: 0), waits: false, isClosed: false, timer: 0, depth: 6)
        #expect(checked > 5_000)
    }

    @Test(
        "takes answers only from whom was asked, or from the bus in its place",
        arguments: [
            (":1.5", ":1.5", true), (":1.5", ":1.6", false), (":1.5", "org.freedesktop.DBus", true),
            ("org.freedesktop.DBus", "org.freedesktop.DBus", true), ("org.freedesktop.DBus", ":1.6", false),
            // Who owns a name, the bus knows: the caller pins whom it heard.
            ("org.example.A", ":1.6", true), ("org.example.A", "org.freedesktop.DBus", true),
        ])
    func answers(destination: String, sender: String, isTaken: Bool) {
        var calls = PendingCalls(startingAt: 0)
        _ = calls.add(Self.entry(destination), serial: 9)
        #expect((calls.answered(by: sender, serial: 9) != nil) == isTaken)
        #expect(calls.count == (isTaken ? 0 : 1))
    }
    @Test("all end in the order of their serials when the connection closes") func closing() {
        var calls = PendingCalls(startingAt: 0)
        for number: UInt64 in [5, 3, 9, 1] {
            _ = calls.add(Self.entry(), serial: UInt32(number))
            _ = calls.setTimer(number, of: UInt32(number))
        }
        #expect(calls.close().map(\.timer) == [1, 3, 5, 9])
        #expect(calls.close().count == 0)
    }
}
