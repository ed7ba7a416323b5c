import BusProcess
import Glibc
import RelayCore
import RelayJournal
import RelayTestKit
import Relocation
import Testing

/// Several `relay-cli watch` processes and one service on a bus of their own. The first watcher is stopped in the middle.
struct WatchersRun {
    var watchers: Int
    var events: Int
    /// Events a second.
    var rate: Int
    /// The first watcher is stopped before the first of these is published, and continued before the last, when the others have
    /// shown all that came before it.
    var stopped: ClosedRange<Int>
    var limits = BusDaemon.Limits.session
    /// Is stopped as the first watcher is, and knows nothing of Relay: tells what the bus dropped. Returns when it listens.
    var plainClient: (@Sendable (PrivateBus) async throws -> RunningProgram)?

    /// A service that only publishes.
    private static func service(on bus: Bus, _ journal: EventJournal) throws -> EventService {
        let service = try EventService(
            name: LiveService.name, on: bus, exporting: Relocation1.self, journal: journal)
        service.handle(OrderBox.self) { _, _ in OrderBox.Reply(boxID: 0) }
        service.handle(DistributeItem.self) { _, _ in DistributeItem.Reply(itemID: 0, boxID: 0) }
        service.handle(RemoveBox.self) { _, _ in }
        service.handle(RemoveItem.self) { _, _ in }
        service.handle(Contents.self) { _, _ in Contents.Reply(epoch: 1, sequence: 0, boxes: [], items: [], next: nil) }
        return service
    }

    /// Publishes everything, waits until everybody accounts for it, and returns what they showed.
    func perform() async throws -> [WatcherRecord] {
        let bus = try PrivateBus(limits: limits)
        let state = try TestFolder()
        let service = try Self.service(on: bus.bus, try EventJournal(directory: state.path))
        let running = Task { try await service.run() }
        let records = (1...watchers).map { _ in WatcherRecord() }
        let programs = try records.map { record in
            try RunningProgram(
                Programs.cli, ["--bus", bus.address, "--json", "watch"], environment: Programs.environment(),
                onLine: record.take)
        }
        for program in programs { try await program.line(containing: "watching") }

        let plain = try await plainClient?(bus)
        let stoppable = [programs[0]] + [plain].compactMap(\.self)
        try await PacedPublishing.run(count: events, rate: rate) { [stopped] number in
            if number == stopped.lowerBound {
                for program in stoppable { program.signal(SIGSTOP) }
                #expect(await eventually { stoppable.allSatisfy { ProcessState.isStopped($0.processID) } })
            }
            if number == stopped.upperBound {
                // The others have all of it while the first one has none: so it was stopped, and nobody waited for it.
                let before = UInt64(number - 1)
                let others = records.dropFirst()
                #expect(await eventually { others.allSatisfy { $0.position >= before } }, "\(others.map(\.position))")
                #expect(records[0].position < stopped.lowerBound, "the first watcher was not stopped")
                for program in stoppable { program.signal(SIGCONT) }
            }
            try await service.publish(
                BoxProvisioned(boxID: Int64(number), capacity: 10, title: "Kitchen, second shelf"))
        }
        let last = UInt64(events)
        let isDone = await eventually { records.allSatisfy { $0.position >= last } }
        #expect(isDone, "\(records.map(\.position))")
        for program in programs { program.signal(SIGINT) }
        for program in programs {
            let outcome = await program.outcome()
            #expect(outcome.code == 0, "\(outcome)")
        }
        if let plain {
            // The last ones may have been dropped, too, until it has caught up. The watchers have ended.
            var number = Int64(events)
            #expect(
                try await eventually {
                    number += 1
                    try await service.publish(BoxProvisioned(boxID: number, capacity: 10, title: "the end"))
                    return plain.output.contains { $0.contains("the end") }
                })
        }
        running.cancel()
        try await running.value
        return records
    }
}
