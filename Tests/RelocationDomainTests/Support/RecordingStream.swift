import RelayCore
import Relocation
import Testing

/// Where a journal's events leave, without a bus: decodes and keeps them.
final class RecordingStream: CommittedEventSink {
    private let log: EventLog
    init(_ log: EventLog) { self.log = log }

    func emit(_ events: [(event: LoggedEvent, stamp: Stamp)]) {
        for (event, stamp) in events {
            do {
                log.append(try RelocationEncoder.event(event.index, event.body))
            } catch {
                Issue.record(error, "#\(stamp.sequence) was emitted, and cannot be decoded")
            }
        }
    }
    func pruned(_ last: [String: UInt64]) {}
}
