import Foundation
import RelayTestKit

/// Runs pairs over one bus, one after the other.
struct PairRunner {
    let bus: PrivateBus

    /// Where a pair's program is: beside this one.
    static func path(of pair: Pair) -> String {
        let own =
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? CommandLine.arguments[0]
        return URL(fileURLWithPath: own).deletingLastPathComponent().appendingPathComponent(pair.executable).path
    }

    func run(_ pair: Pair, _ load: Load) throws -> Measurement {
        let path = Self.path(of: pair)
        let arguments = ["--bus", bus.address, "--count", "\(load.events)", "--rate", "\(load.rate)"]
        let expected = load.rate == 0 ? Double(load.events) / 1_000 : Double(load.events) / Double(load.rate)
        let receiver = try Peer(path, ["receive"] + arguments, timeout: expected + 30)
        let sender = try Peer(path, ["send"] + arguments, timeout: expected + 30)
        try receiver.waitUntilReady()
        try sender.waitUntilReady()
        let daemonBefore = try daemonSeconds()
        try sender.go()
        let sent = try sender.report(SenderLine.self)
        let received = try receiver.report(ReceiverLine.self)
        let daemonSeconds = try daemonSeconds() - daemonBefore
        try sender.finish()
        try receiver.finish()
        let events = Double(load.events)
        return Measurement(
            deliveredPerSecond: received.elapsed > 0 ? Double(received.received) / received.elapsed : 0,
            deliveredPercent: Double(received.received) / events * 100, duplicates: received.duplicates,
            reordered: received.reordered, p50Microseconds: received.p50 / 1e3, p99Microseconds: received.p99 / 1e3,
            p999Microseconds: received.p999 / 1e3, senderMicroseconds: sent.cpu / events * 1e6,
            receiverMicroseconds: received.cpu / events * 1e6, daemonMicroseconds: daemonSeconds / events * 1e6)
    }

    /// The CPU time of the bus so far.
    private func daemonSeconds() throws -> Double {
        let stat = try String(contentsOfFile: "/proc/\(bus.processID)/stat", encoding: .utf8)
        // After the name in parentheses: state is field 0, utime 11, stime 12.
        let fields = stat[(stat.lastIndex(of: ")") ?? stat.startIndex)...].split(separator: " ").dropFirst()
        guard let user = fields.dropFirst(11).first.flatMap({ Double($0) }),
            let system = fields.dropFirst(12).first.flatMap({ Double($0) })
        else { throw BenchError(message: "cannot read the CPU time of the bus from '\(stat)'") }
        return (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
    }
}
