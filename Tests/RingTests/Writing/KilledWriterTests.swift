import BusProcess
import Glibc
import RelayCore
import RingSupport
import TestTraits
import Testing

/// A writer that dies between any two of its stores leaves a ring that only tells the truth.
@Suite("A killed writer", .heavy, .tags(.g2, .g8)) struct KilledWriterTests {
    @Test("leaves no torn and no invented event", arguments: RecordWriter.Moment.allCases)
    func killed(at moment: RecordWriter.Moment) async throws {
        let peer = try PeerProcess(["die", "\(moment.rawValue)"])
        let number = try #require(Int32(try await peer.line("ring ").split(separator: " ").last ?? ""))
        let descriptor = open("/proc/\(peer.processID)/fd/\(number)", O_RDONLY | O_CLOEXEC)
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        let area = try RingArea(receiving: descriptor)
        var current = RingReader(area, after: 0)
        var halfway = RingReader(area, after: 0)
        var fresh = RingReader(area, after: 0)
        let before = UInt64(KillPayload.before)
        #expect(try check(&current) == before)
        // One record of the oldest is in its private memory already, with others behind it.
        _ = try halfway.next()
        _ = try halfway.next()
        peer.push()
        #expect(await peer.waitForExit() == .signal(SIGKILL))
        let last = before + (moment == .published ? 1 : 0)
        #expect(try check(&current) == last)
        #expect(try check(&halfway) == last)
        #expect(try check(&fresh) == last)
        var late = RingReader(try RingArea(receiving: descriptor), after: before - 3)
        #expect(try check(&late) == last)
    }
    /// Reads what there is; returns the last sequence.
    private func check(_ reader: inout RingReader) throws -> UInt64 {
        while true {
            switch try reader.next() {
            case .record(let kind, let stamp):
                #expect(kind == 0 && stamp == KillPayload.stamp(stamp.sequence, epoch: reader.header.epoch))
                #expect(Array(reader.payload) == KillPayload.bytes(stamp.sequence))
            case .lapped(let range): #expect(range.lowerBound <= range.upperBound)
            case .empty: return reader.sequence
            case let step: Issue.record("\(step)")
            }
        }
    }
}
