import BenchSupport
import Foundation
import RelayTestKit

/// Runs loads over one bus, one after the other, each with processes of its own.
struct LoadRunner {
    let bus: PrivateBus
    let folder: TestFolder

    /// - Parameter seconds: for how long the callers call.
    func run(_ contender: Contender, _ load: Load, seconds: Double) throws -> Measurement {
        let state = load.kind == .durable ? try TestFolder() : nil
        let events = load.kind == .beside ? Int(Double(Load.eventsPerSecond) * seconds) : 0
        let limit = seconds + 60
        var words = ["answer", "--bus", bus.address]
        if let state { words += ["--directory", state.path] }
        if events > 0 { words += ["--count", "\(events)", "--rate", "\(Load.eventsPerSecond)"] }
        let service = try Peer(Peer.path(of: contender.service), words, timeout: limit)
        try service.waitUntilReady()
        let subscribers = try (0..<(events > 0 ? Load.subscribers : 0)).map { _ in
            try Peer(
                Peer.path(of: contender.caller), ["receive", "--bus", bus.address, "--count", "\(events)"],
                timeout: limit)
        }
        for subscriber in subscribers { try subscriber.waitUntilReady() }
        let callers = try (0..<load.callers).map { number in
            try Peer(
                Peer.path(of: contender.caller),
                ["call", "--bus", bus.address, "--seconds", "\(seconds)", "--flight", "\(load.flight)"]
                    + ["--latencies", latencies(number)] + (state == nil ? [] : ["--directory", "-"]), timeout: limit)
        }
        for caller in callers { try caller.waitUntilReady() }

        let serviceBefore = try ProcessorTime.seconds(of: service.processID)
        let daemonBefore = try ProcessorTime.seconds(of: bus.processID)
        if events > 0 { try service.go() }
        for caller in callers { try caller.go() }
        let lines = try callers.map { try $0.report(CallerLine.self) }
        let serviceCPU = try ProcessorTime.seconds(of: service.processID) - serviceBefore
        let daemonCPU = try ProcessorTime.seconds(of: bus.processID) - daemonBefore
        for caller in callers { try caller.finish() }
        let received = try subscribers.map { try $0.report(ReceiverLine.self).received }.reduce(0, +)
        for subscriber in subscribers { try subscriber.finish() }
        try service.end()

        let start = lines.map(\.start).min() ?? 0
        let end = lines.map(\.end).max() ?? 0
        return Measurement(
            sent: lines.map(\.sent).reduce(0, +), latencies: try (0..<load.callers).flatMap { try read(latencies($0)) },
            seconds: Double(end - start) / 1e9, callerCPU: lines.map(\.cpu).reduce(0, +), serviceCPU: serviceCPU,
            daemonCPU: daemonCPU,
            deliveredPercent: events > 0 ? 100 * Double(received) / Double(events * Load.subscribers) : nil)
    }
    /// Whether the service of a contender takes and returns what the others do: asked by sd-bus's caller, which checks it.
    func check(_ contender: Contender, durable: Bool) throws {
        let state = durable ? try TestFolder() : nil
        let service = try Peer(
            Peer.path(of: contender.service),
            ["answer", "--bus", bus.address] + (state.map { ["--directory", $0.path] } ?? []), timeout: 30)
        try service.waitUntilReady()
        let caller = try Peer(
            Peer.path(of: Contender.sdbus.caller),
            ["call", "--bus", bus.address, "--seconds", "0.01", "--flight", "1", "--latencies", latencies(0)]
                + (durable ? ["--directory", "-"] : []), timeout: 30)
        try caller.waitUntilReady()
        try caller.go()
        let line = try caller.report(CallerLine.self)
        guard line.sent > 0, line.answered == line.sent else {
            throw BenchError(message: "\(contender.service) answered \(line.answered) of \(line.sent) calls of sd-bus")
        }
        try caller.finish()
        try service.end()
    }

    private func latencies(_ caller: Int) -> String { "\(folder.path)/latencies-\(caller)" }
    private func read(_ path: String) throws -> [UInt64] {
        let data = try Data(contentsOf: URL(fileURLWithPath: path))
        return data.withUnsafeBytes { bytes in
            // Unaligned: a Data's bytes are anywhere.
            (0..<bytes.count / 8).map { bytes.loadUnaligned(fromByteOffset: $0 * 8, as: UInt64.self) }
        }
    }
}
