import RelayCore
import RelayJournal

/// The service, as a process of its own: fills its journal, then serves.
enum ServeRole {
    static func run(address: String, directory: String, events: Int) async throws {
        let journal = try EventJournal(directory: directory)
        let service = try EventService(
            name: Past1.service, on: .address(address), exporting: Past1.self, journal: journal)
        service.handle(Publish.self) { command, _ in
            let start = ContinuousClock.now
            try await withThrowingTaskGroup { group in
                for _ in 0..<command.publishers {
                    group.addTask {
                        for number in 0..<(command.count / command.publishers) {
                            try await service.publish(event(number))
                            guard command.perSecond > 0, number % 16 == 15 else { continue }
                            let due = (number + 1) * command.publishers * 1_000_000 / command.perSecond
                            try await Task.sleep(until: start + .microseconds(due), clock: .continuous)
                        }
                    }
                }
                try await group.waitForAll()
            }
            return Publish.Reply(microseconds: (ContinuousClock.now - start).microseconds)
        }
        let fill = 1_000
        for start in stride(from: 0, to: events, by: fill) {
            try await journal.unitOfWork { unit in
                for number in start..<min(start + fill, events) { try unit.publish(event(Int64(number))) }
            }
        }
        try await service.run { say("ready") }
    }
    static func event(_ number: Int64) -> Shelved {
        Shelved(itemID: number, boxID: number % 100, title: "Cast-iron frying pan")
    }
}

extension Duration {
    var microseconds: Int64 { components.seconds * 1_000_000 + components.attoseconds / 1_000_000_000_000 }
}
