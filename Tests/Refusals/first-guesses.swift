// expect: nothing
// flags: -warnings-as-errors
// What one writes first. Each compiles, and does what it looks like: the tests of its room try that.
import RelayCore
import RelayJournal
import Relocation

struct Row: Codable, Equatable, Sendable { var boxID: Int64, title: String }
func store(_ event: BoxRemoved, at stamp: Stamp) async throws {}

@MainActor final class Window {
    var count = 0
    var kept: [Subscription] = []
    func save(_ event: BoxRemoved) async throws { count += 1 }
    func start(_ relay: EventRelay) throws {
        // An event: at once, with a handler that waits, with its stamp, with several keys at a time.
        kept.append(
            try relay.subscribe(to: BoxRemoved.self) {
                print($0.boxID)
            } onGap: {
                print($0)
            })
        kept.append(
            try relay.subscribe(to: BoxRemoved.self) {
                try await self.save($0)
            } onGap: {
                print($0)
            })
        kept.append(
            try relay.subscribe(to: BoxRemoved.self, from: .resuming("mails")) { event, stamp in
                try await store(event, at: stamp)
            } onGap: { gap in
                print(gap)
            })
        kept.append(
            try relay.subscribe(to: ItemMoved.self, from: .beginning, inOrderOf: \.itemID) { event in
                print(event.toBoxID)
            } onGap: { _ in
            })
        // An interface.
        kept.append(
            try relay.subscribe(to: Relocation1.self) { event in
                if case .boxRemoved(let box) = event { print(box.boxID) }
            } onGap: { _ in
            })
        // An object, weakly.
        try relay.subscribe(self, to: BoxRemoved.self) { me, _ in
            me.count += 1
        } onGap: { me, _ in
            me.count = 0
        }
        relay.publisher.subscribe(self, to: BoxProvisioned.self) { me, _ in
            me.count += 1
        } onGap: { _, _ in
        }
        // The publisher: a closure, one that waits, the connection's state.
        kept.append(
            relay.publisher.subscribe(to: BoxRemoved.self) {
                print($0)
            } onGap: { _ in
            })
        kept.append(
            relay.publisher.subscribe(to: BoxRemoved.self) { _ in
                await Task.yield()
            } onGap: { _ in
            })
        kept.append(
            relay.publisher.subscribe(to: EventRelay.State.self) {
                print($0)
            } onGap: { _ in
            })
    }
    func order(_ relay: EventRelay) async {
        do {
            let reply = try await relay.call(OrderBox(label: "Attic", capacity: 20))
            print(reply.boxID)
        } catch OrderBox.Refusal.invalidLabel {
            print("label")
        } catch .unavailable {
            print("nobody is there")
        } catch {
            print(error)
        }
    }
}
actor Counter {
    var count = 0
    func start(_ relay: EventRelay) throws {
        try relay.subscribe(self, to: BoxRemoved.self) { me, _ in
            me.count += 1
        } onGap: { me, _ in
            me.count = 0
        }
        try relay.subscribe(self, to: ItemMoved.self) { me, event in
            try await Task.sleep(for: .seconds(1))
            me.count += 1
        } onGap: { _, _ in
        }
    }
}
func front() async throws {
    let interfaces: [any EventInterface.Type] = [Relocation1.self]
    let relay = try EventRelay(following: "org.example.Move", interfaces: interfaces)
    let noted = try EventRelay(following: "org.example.Move", interfaces: Relocation1.self) { notice in print(notice) }
    noted.invalidate()
    for await batch in try relay.events(of: ItemMoved.self, from: .beginning).batches {
        print(batch.events.count, batch.stamps.count, batch.gap?.count ?? 0)
    }
    try await relay.run()
}
func back(_ journal: EventJournal, _ relay: EventRelay) async throws {
    let service = try EventService(name: "org.example.Move", exporting: Relocation1.self, journal: journal)
    service.handle(RemoveBox.self) { command, context in try await context.publish(BoxRemoved(boxID: command.boxID)) }
    service.handle(RemoveBox.self) { command, _, unit in
        let titles = try unit.query("SELECT title FROM boxes WHERE id = \(command.boxID)", as: String.self)
        guard !titles.isEmpty else { throw RemoveBox.Refusal.unknownBox }
        try unit.execute("DELETE FROM boxes WHERE id = \(command.boxID)")
        try unit.publish(BoxRemoved(boxID: command.boxID))
    }
    try await service.unitOfWork { unit in try unit.publish(BoxRemoved(boxID: 1)) }
    try await service.publish(BoxRemoved(boxID: 1))
    let rows = try await journal.read { try $0.query("SELECT boxID, title FROM boxes", as: Row.self) }
    let chain = try await journal.consume(BoxRemoved.self, of: relay, as: "chain") { event, unit in
        try unit.execute("INSERT INTO removed VALUES (\(event.boxID), \(rows.first?.title))")
    } onGap: { gap, unit in
        if let place = StreamPosition.after(gap) { try unit.execute("UPDATE place SET at = \(place)") }
    }
    try await service.run()
    chain.cancel()
}
