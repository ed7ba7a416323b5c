import BenchSupport
import CTransportSupport
import Foundation
import TransportReport
import RelayTestKit

/// Runs cells, each in processes of its own.
final class CellRunner {
    private let plan: Plan
    private let folder: String
    private let bus: PrivateBus
    private let iceoryx: IceoryxDaemon?
    private var runs = 0

    /// - Parameter folder: for sockets and shared memory; a short path.
    init(_ plan: Plan, folder: String) throws {
        (self.plan, self.folder) = (plan, folder)
        bus = try PrivateBus()
        guard plan.cells.contains(where: { $0.contender == .iceoryx }) else {
            iceoryx = nil
            return
        }
        let configuration = "\(folder)/roudi.toml"
        try Self.iceoryxConfiguration.write(toFile: configuration, atomically: true, encoding: .utf8)
        iceoryx = try IceoryxDaemon(configuration: configuration, folder: folder)
    }
    private static let ownFolder = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        .deletingLastPathComponent().path
    /// Chunks of the four sizes, as many as full queues can hold.
    private static let iceoryxConfiguration =
        "[general]\nversion = 1\n[[segment]]\n"
        + [(64, 20_000), (256, 5_000), (1_024, 5_000), (4_096, 5_000)]
        .map { "[[segment.mempool]]\nsize = \($0.0)\ncount = \($0.1)\n" }.joined()

    private func program(_ contender: Contender) -> (name: String, variant: String) {
        switch contender {
        case .machine: ("transport-bare", "")
        case .bareWords: ("transport-bare", "words")
        case .barePayload: ("transport-bare", "payload")
        case .ring: ("transport-ring", "")
        case .ours: ("transport-relay", "quiet")
        case .oursCoded: ("transport-relay", "quiet-coded")
        case .oursWithSignals: ("transport-relay", "ring")
        case .signal: ("transport-relay", "signal")
        case .datagram: ("transport-datagram", "")
        case .zeromq: ("transport-zeromq", "")
        case .iceoryx: ("transport-iceoryx", "")
        }
    }
    private func load(_ section: Cell.Section) -> transport_load {
        switch section {
        case .senderStops, .receiverStops: TRANSPORT_STOPS
        case .latency, .fanOut: TRANSPORT_PACED
        case .lossless: TRANSPORT_LOSSLESS
        case .fullSpeed: TRANSPORT_FULL
        case .publish: TRANSPORT_TIGHT
        case .wake: TRANSPORT_WAKE
        }
    }
    /// Sender on the first processor, receiver on the second; many receivers go where they like.
    private func processors(_ cell: Cell) -> (sender: Int?, receiver: Int?) {
        switch cell.section {
        case .senderStops, .receiverStops, .latency, .lossless, .fullSpeed:
            (0, ProcessInfo.processInfo.activeProcessorCount > 1 ? 1 : 0)
        case .publish, .wake: (0, nil)
        case .fanOut: (nil, nil)
        }
    }

    /// Throws with what the peers said, when one fails.
    func run(_ cell: Cell) throws -> [Metric: Double] {
        unlink(log)
        do { return try figures(of: cell) } catch let failure as BenchError {
            let words = (try? String(contentsOfFile: log, encoding: .utf8)) ?? ""
            throw BenchError(message: "\(cell): \(failure.message)\n\(words)", exitCode: failure.exitCode)
        }
    }
    private var log: String { "\(folder)/log" }
    private func figures(of cell: Cell) throws -> [Metric: Double] {
        if cell.contender == .iceoryx { try iceoryx?.resume() }
        defer { if cell.contender == .iceoryx { iceoryx?.pause() } }
        let page = try SharedPage(in: folder, count: max(1, plan.count(of: cell)), receivers: cell.receivers)
        let (receivers, sender) = try start(cell, page)
        try wait(receivers + [sender], 60) { page.isPrepared }
        if cell.section == .publish {
            // All asleep, then stopped in their sleep.
            usleep(50_000)
            for receiver in receivers { receiver.signal(SIGSTOP) }
            usleep(10_000)
        }
        let daemon = try daemon(of: cell).map(ProcessorTime.nanoseconds)
        page.go()
        // Without a look in between, which would take the sender's processor. A receiver that dies is missed by the sender.
        guard page.waitUntilDone(60) else { throw BenchError(message: "not over within 60 s") }
        let daemonCPU = try self.daemon(of: cell).map { try ProcessorTime.nanoseconds(of: $0) - (daemon ?? 0) } ?? 0
        if cell.section == .publish { for receiver in receivers { receiver.end(SIGKILL) } }
        try finish(cell.section == .publish ? [sender] : receivers + [sender])
        guard page.isDone else { throw BenchError(message: "\(sender.name) ended before it was done") }
        return try figures(cell, page, daemonCPU)
    }
    private func start(_ cell: Cell, _ page: SharedPage) throws -> ([PeerProcess], PeerProcess) {
        runs += 1
        let (name, variant) = program(cell.contender)
        let isOurs = name == "transport-relay"
        let channel = isOurs ? "org.eventrelay.Bench\(runs)@\(bus.address)" : "\(folder)/\(runs)"
        let (senderPlace, receiverPlace) = processors(cell)
        func start(_ role: String, _ place: Int?, _ index: Int) throws -> PeerProcess {
            let values: [(String, Any)] = [
                ("page", page.path), ("channel", channel), ("variant", variant),
                ("spin", cell.waiting == .spin ? 1 : 0), ("load", load(cell.section).rawValue),
                ("size", cell.size), ("receivers", cell.receivers), ("index", index),
                ("count", max(1, plan.count(of: cell))), ("interval", Plan.interval(of: cell)),
                ("milliseconds", plan.milliseconds(of: cell)), ("window", Plan.window(of: cell)),
            ]
            var arguments = [role] + values.flatMap { ["--\($0.0)", "\($0.1)"] }
            if let place { arguments += ["--processor", "\(place)"] }
            return try PeerProcess("\(Self.ownFolder)/\(name)", arguments, log: log)
        }
        let receivers = try (0..<cell.receivers).map { try start("receive", receiverPlace, $0) }
        return (receivers, try start("send", senderPlace, 0))
    }
    /// The process between the peers.
    private func daemon(of cell: Cell) -> pid_t? {
        switch cell.contender {
        case .iceoryx: iceoryx?.processID
        case .ours, .oursCoded, .oursWithSignals, .signal: bus.processID
        default: nil
        }
    }
    private func wait(_ peers: [PeerProcess], _ seconds: Double, _ isOver: () -> Bool) throws {
        let limit = Date().addingTimeInterval(seconds)
        while !isOver() {
            for peer in peers {
                if let code = peer.exitCode, code != 0 {
                    throw BenchError(message: "\(peer.name) ended with \(code)")
                }
            }
            if Date() > limit { throw BenchError(message: "not over within \(seconds) s") }
            usleep(10_000)
        }
    }
    private func finish(_ peers: [PeerProcess]) throws {
        try wait(peers, 20) { peers.allSatisfy { $0.exitCode != nil } }
    }
    private func figures(_ cell: Cell, _ page: SharedPage, _ daemonCPU: UInt64) throws -> [Metric: Double] {
        func median(_ values: [UInt64]) -> Double { Statistics.median(values.map { Double($0) }) ?? 0 }
        switch cell.section {
        case .senderStops, .receiverStops:
            let time = Double(plan.milliseconds(of: cell)) * 1e6
            return page.stops(ofSender: cell.section == .senderStops, in: time).figures
        case .publish: return [.caller: page.tightTime]
        case .wake:
            return [
                .caller: median(page.callers), .wakeCPU: median(page.cpuTimes), .wakeTime: median(page.wallTimes),
            ]
        case .latency, .fanOut: return try page.sample(daemonCPU: daemonCPU).paced
        case .lossless, .fullSpeed: return try page.sample(daemonCPU: daemonCPU).fast
        }
    }
}
