import BenchSupport
import RelayTestKit

/// Runs pairs over one bus, one after the other.
struct PairRunner {
    let bus: PrivateBus

    func run(_ pair: Pair, _ load: Load) throws -> Measurement {
        let path = Peer.path(of: pair.executable)
        let arguments = ["--bus", bus.address, "--count", "\(load.events)", "--rate", "\(load.rate)"]
        let expected = load.rate == 0 ? Double(load.events) / 1_000 : Double(load.events) / Double(load.rate)
        let receiver = try Peer(path, ["receive"] + arguments, timeout: expected + 30)
        let sender = try Peer(path, ["send"] + arguments, timeout: expected + 30)
        try receiver.waitUntilReady()
        try sender.waitUntilReady()
        let daemonBefore = try ProcessorTime.seconds(of: bus.processID)
        try sender.go()
        let sent = try sender.report(SenderLine.self)
        let received = try receiver.report(ReceiverLine.self)
        let daemonSeconds = try ProcessorTime.seconds(of: bus.processID) - daemonBefore
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
}
