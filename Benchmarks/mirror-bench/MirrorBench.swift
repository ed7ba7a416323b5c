import Foundation
import RelayCore
import RelayJournal
import RelayMirrors
import RelayWire

/// How fast a mirror follows a channel of files, and what its live events cost a subscriber: prints a line for each round.
///
/// usage: mirror-bench [EVENTS [BYTES]]
///        mirror-bench live [EVENTS A SECOND [SECONDS]]
@main struct MirrorBench {
    static let schema = EventSchema(
        event: "Sampled", fields: [WireField(name: "number", type: .int64), WireField(name: "text", type: .string)])
    static let contract = ContractText(
        name: "org.example.Bench1", isDurable: true, requirement: .sameUser,
        events: [ContractEvent(name: "Sampled", fields: schema.fields)])

    static func main() async throws {
        let words = CommandLine.arguments.dropFirst()
        let arguments = words.compactMap { Int($0) }
        if words.first == "subscribe" {
            let words = Array(words)
            return try await Subscriber.run(words[1], words[2], arguments[0])
        }
        var template = Array("/tmp/mirror-bench-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw SystemError(errno) }
        let folder = String(decoding: template.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        if words.first == "live" {
            let (rate, seconds) = (arguments.first ?? 1_000, arguments.dropFirst().first ?? 10)
            return try await LiveBench(events: rate * seconds, rate: rate, size: 40, folder: folder).run()
        }
        let (count, size) = (arguments.first ?? 1_000_000, arguments.dropFirst().first ?? 40)
        let carrier = try FileCarrier(directory: "\(folder)/carrier")
        let channel = try await BenchChannel(carrier, String(repeating: "x", count: size))
        try await channel.append(1...UInt64(count))
        for round in 1...3 {
            let began = MonotonicClock.now
            try await follow(carrier, to: UInt64(count), in: "\(folder)/mirror\(round)")
            let followed = MonotonicClock.now - began
            let rate = Double(count) / (Double(followed) / 1e9)
            print("\(count) events of \(size + 48) bytes in \(channel.last) messages: \(Int(rate)) events/s")
        }
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
