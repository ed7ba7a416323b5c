import Glibc
import RelayCore
import RelayMirrors
import RelayWire

/// A channel of a carrier, as an exporter would fill it.
final class BenchChannel {
    private let sink: any MirrorSink
    private let text: String
    /// Of the last message.
    private(set) var last: UInt64 = 0

    init(_ carrier: FileCarrier, _ text: String) async throws {
        let contract = MirrorBench.contract
        let channel = try ChannelName(host: "kitchen", service: "org.example.Bench", interface: contract.name)
        (sink, self.text) = (try carrier.sink(of: channel), text)
        var snapshot = MirrorSnapshot(RunTable([StreamRun(epoch: 7, first: 1)]))
        (snapshot.schemas, snapshot.contract) = ([1: MirrorBench.schema], contract.text)
        for message in try snapshot.messages(.snapshot(at: 0, epoch: 7, journal: 7, writer: 1)) {
            try await append(message)
        }
    }
    /// Events that follow each other, in as few pages as hold them.
    func append(_ events: ClosedRange<UInt64>) async throws {
        var pages = MirrorPageWriter(epoch: 7, journal: 7, writer: 1)
        for sequence in events {
            var body = WireWriter(capacity: text.utf8.count + 64)
            body.int64(Int64(sequence))
            try body.string(text)
            body.align(8)
            Stamp(epoch: 7, sequence: sequence, previous: sequence - 1, publishedAt: .now).write(into: &body)
            if body.withUnsafeBytes({ pages.append(sequence, schema: 1, body: $0) }) { continue }
            try await send(&pages)
            _ = body.withUnsafeBytes { pages.append(sequence, schema: 1, body: $0) }
        }
        try await send(&pages)
    }
    private func send(_ pages: inout MirrorPageWriter) async throws {
        if let message = try pages.take([1: MirrorBench.schema]) { try await append(message) }
    }
    private func append(_ message: MirrorMessage) async throws {
        guard try await sink.append(message.bytes, expecting: last) else { throw SystemError(EIO) }
        last += 1
    }
}
