import Foundation
import RelayCore
import RelayJournal
import RelayMirrors
import RelayTestKit
import RelayWire

/// What live events cost a subscriber: of a service with a journal, and of a mirror, in turns in one run.
///
/// The subscriber is a process of its own, this program again, which counts its own processor time.
struct LiveBench {
    private static let service = "org.example.Bench"
    let events: Int
    /// Events a second.
    let rate: Int
    let size: Int
    let folder: String

    /// Prints a line for each round of each.
    func run() async throws {
        let bus = try PrivateBus()
        for round in 1...5 {
            print("service: \(try await ofService(bus, "\(folder)/service\(round)"))")
            print("mirror:  \(try await ofMirror(bus, "\(folder)/live\(round)"))")
        }
    }
    /// Calls `each` with the numbers of the events, at their pace.
    private func pace(_ each: (Int) async throws -> Void) async throws {
        let began = ContinuousClock.now
        for number in 1...events {
            let due = began + .seconds(1) * number / rate
            if due > .now { try await Task.sleep(until: due) }
            try await each(number)
        }
    }
    private var text: String { String(repeating: "x", count: size) }

    private func ofService(_ bus: PrivateBus, _ directory: String) async throws -> String {
        let service = try EventService(
            name: Self.service, on: bus.bus, exporting: UntypedInterface(MirrorBench.contract),
            journal: try EventJournal(directory: directory))
        try await service.start()
        let subscriber = try Subscriber(Self.service, bus.address, events)
        try await pace { number in
            try await service.commit(
                "Sampled", of: MirrorBench.contract.name, ["number": .int64(Int64(number)), "text": .string(text)])
        }
        let result = try subscriber.line()
        try await service.stop()
        return result
    }
    private func ofMirror(_ bus: PrivateBus, _ directory: String) async throws -> String {
        let carrier = try FileCarrier(directory: "\(directory).carrier")
        let channel = try await BenchChannel(carrier, text)
        let name = try MirrorName(of: Self.service, at: "kitchen")
        let mirror = MirrorService(
            MirrorConfiguration(name, on: bus.bus, directory: directory), carrier: carrier)
        let running = Task { try await mirror.run() }
        let subscriber = try Subscriber(name.description, bus.address, events)
        try await pace { number in try await channel.append(UInt64(number)...UInt64(number)) }
        let result = try subscriber.line()
        running.cancel()
        try await running.value
        return result
    }
}

/// Who hears of the events.
final class Subscriber {
    private let process = Process()
    private let output = Pipe()

    /// Returns when the subscriber is in step with the service.
    init(_ service: String, _ address: String, _ events: Int) throws {
        process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        process.arguments = ["subscribe", service, address, "\(events)"]
        process.standardOutput = output
        try process.run()
        _ = try line()
    }
    deinit {
        if process.isRunning { process.terminate() }
        process.waitUntilExit()
    }
    func line() throws -> String {
        var line: [UInt8] = []
        while let byte = try output.fileHandleForReading.read(upToCount: 1)?.first {
            if byte == UInt8(ascii: "\n") { return String(decoding: line, as: UTF8.self) }
            line.append(byte)
        }
        throw RelayError(.unavailable, "the subscriber has ended")
    }

    /// Its process: waits for all events, or says what is missing.
    static func run(_ service: String, _ address: String, _ events: Int) async throws {
        let relay = try EventRelay(following: service, on: .address(address))
        let stream = try relay.envelopes(of: MirrorBench.contract.name)
        relay.activate()
        try await relay.ready(within: .seconds(60))
        try await relay.barrier()
        say("ready")
        let began = processorTime
        var (delivered, missing) = (0, 0)
        var transports: [Envelope.Transport: Int] = [:]
        for await delivery in stream {
            switch delivery {
            case .event(let event, _):
                delivered += 1
                transports[event.transport, default: 0] += 1
            case .gap(let gap): missing += gap.count ?? 0
            }
            if delivered + missing >= events { break }
        }
        let each = Double(processorTime - began) / 1e3 / Double(events)
        let percent = Double(delivered) * 100 / Double(events)
        say(
            "\(String(format: "%.1f", each)) µs of the subscriber's processor an event, \(percent) % delivered, "
                + "\(transports.sorted { $0.value > $1.value }.map { "\($0.value) by \($0.key)" }.joined(separator: ", "))"
        )
    }
    private static func say(_ line: String) {
        try? FileHandle.standardOutput.write(contentsOf: Data((line + "\n").utf8))
    }
    /// In nanoseconds.
    private static var processorTime: UInt64 { nanoseconds(CLOCK_PROCESS_CPUTIME_ID) }
    private static func nanoseconds(_ clock: clockid_t) -> UInt64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}
