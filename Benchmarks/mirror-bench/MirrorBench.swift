import Glibc
import RelayCore
import RelayJournal
import RelayMirrors

/// How fast a mirror follows a channel of files, beside how fast a journal of this machine commits as many events of its
/// own: prints a line for each round.
///
/// usage: mirror-bench [EVENTS [BYTES]]
@main struct MirrorBench {
    static let schema = EventSchema(
        event: "Sampled", fields: [WireField(name: "number", type: .int64), WireField(name: "text", type: .string)])
    static let contract = ContractText(
        name: "org.example.Bench1", isDurable: true, requirement: .sameUser,
        events: [ContractEvent(name: "Sampled", fields: schema.fields)])

    static func main() async throws {
        let arguments = CommandLine.arguments.dropFirst().compactMap { Int($0) }
        let (count, size) = (arguments.first ?? 1_000_000, arguments.dropFirst().first ?? 40)
        var template = Array("/tmp/mirror-bench-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw SystemError(errno) }
        let folder = String(decoding: template.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let carrier = try FileCarrier(directory: "\(folder)/carrier")
        let messages: UInt64 = try await fill(carrier, count, size)
        for round in 1...3 {
            let began = MonotonicClock.now
            try await follow(carrier, to: UInt64(count), in: "\(folder)/mirror\(round)")
            let followed = MonotonicClock.now - began
            let rate = Double(count) / (Double(followed) / 1e9)
            print("\(count) events of \(size + 48) bytes in \(messages) messages: \(Int(rate)) events/s")
        }
    }
    private static func fill(_ carrier: FileCarrier, _ count: Int, _ size: Int) async throws -> UInt64 {
        let channel = try ChannelName(host: "kitchen", service: "org.example.Bench", interface: contract.name)
        let sink = try carrier.sink(of: channel)
        var snapshot = MirrorSnapshot(RunTable([StreamRun(epoch: 7, first: 1)]))
        (snapshot.schemas, snapshot.contract) = ([1: schema], contract.text)
        var last: UInt64 = 0
        for message in try snapshot.messages(.snapshot(at: 0, epoch: 7, journal: 7, writer: 1)) {
            guard try await sink.append(message.bytes, expecting: last) else { throw SystemError(EIO) }
            last += 1
        }
        var pages = MirrorPageWriter(epoch: 7, journal: 7, writer: 1)
        let text = String(repeating: "x", count: size)
        func send() async throws {
            guard let message = try pages.take([1: schema]) else { return }
            guard try await sink.append(message.bytes, expecting: last) else { throw SystemError(EIO) }
            last += 1
        }
        for sequence in 1...UInt64(count) {
            var body = WireWriter(capacity: size + 64)
            body.int64(Int64(sequence))
            try body.string(text)
            body.align(8)
            Stamp(epoch: 7, sequence: sequence, previous: sequence - 1, publishedAt: .now).write(into: &body)
            let isTaken = body.withUnsafeBytes { pages.append(sequence, schema: 1, body: $0) }
            if isTaken { continue }
            try await send()
            _ = body.withUnsafeBytes { pages.append(sequence, schema: 1, body: $0) }
        }
        try await send()
        return last
    }
    private static func follow(_ carrier: FileCarrier, to last: UInt64, in directory: String) async throws {
        let name = try MirrorName(of: "org.example.Bench", at: "kitchen")
        // Nobody is there: the replica alone is measured.
        let configuration = MirrorConfiguration(name, on: .address("unix:path=/nonexistent"), directory: directory)
        let mirror = MirrorService(configuration, carrier: carrier)
        let running = Task { try await mirror.run() }
        while mirror.status.interfaces[contract.name]?.position != last {
            if let trouble = mirror.status.trouble, !trouble.contains("bus") { print(trouble) }
            try await Task.sleep(for: .milliseconds(5))
        }
        running.cancel()
        try await running.value
    }
}
