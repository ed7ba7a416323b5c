import Glibc
import RelayCore
import RelayTestKit
import Relocation
import Testing

/// Several `relay-cli watch` processes and one service on a bus of their own. The first watcher is stopped for a while.
struct WatchersRun {
    var watchers: Int
    var events: Int
    /// Events a second.
    var rate: Int
    /// The first watcher is stopped before the first of these is published, and continued after the last.
    var stopped: ClosedRange<Int>
    var limits = BusDaemon.Limits.session

    /// A service that only publishes.
    private static func service(on bus: Bus) throws -> EventService {
        let service = try EventService(name: LiveService.name, on: bus, exporting: Relocation1.self)
        service.handle(OrderBox.self) { _, _ in OrderBox.Reply(boxID: 0) }
        service.handle(DistributeItem.self) { _, _ in DistributeItem.Reply(itemID: 0, boxID: 0) }
        service.handle(RemoveBox.self) { _, _ in }
        service.handle(RemoveItem.self) { _, _ in }
        service.handle(Contents.self) { _, _ in Contents.Reply(boxes: []) }
        return service
    }

    /// Publishes everything, waits until everybody accounts for it, and returns what they showed.
    func perform() async throws -> [WatcherRecord] {
        let bus = try PrivateBus(limits: limits)
        let service = try Self.service(on: bus.bus)
        let running = Task { try await service.run() }
        let records = (1...watchers).map { _ in WatcherRecord() }
        let programs = try records.map { record in
            try RunningProgram(
                Programs.cli, ["--bus", bus.address, "--json", "watch"], environment: Programs.environment(),
                onLine: record.take)
        }
        for program in programs { try await program.line(containing: "watching") }

        let first = programs[0]
        try await PacedPublishing.run(count: events, rate: rate) { [stopped] number in
            if number == stopped.lowerBound { first.signal(SIGSTOP) }
            if number == stopped.upperBound { first.signal(SIGCONT) }
            try service.publish(BoxProvisioned(boxID: Int64(number), capacity: 10, title: "Kitchen, second shelf"))
        }
        let last = UInt64(events)
        let isDone = await eventually { records.allSatisfy { $0.position >= last } }
        #expect(isDone, "\(records.map(\.position))")
        for program in programs { program.signal(SIGINT) }
        for program in programs {
            let outcome = await program.outcome()
            #expect(outcome.code == 0, "\(outcome)")
        }
        running.cancel()
        try await running.value
        return records
    }
}
