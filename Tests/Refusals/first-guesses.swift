// expect: nothing
// flags: -warnings-as-errors
// What one writes first, numbered. Each compiles, and does what it looks like: the tests of its room try that. What is refused
// is in a file of its own, whose message names the right form; the list of them is at the end.
import RelayCore
import RelayJournal
import Relocation

struct Row: Codable, Equatable, Sendable { var boxID: Int64, title: String }
enum Side: String, Codable, SQLStorable { case left, right }
func store(_ event: BoxRemoved, at stamp: Stamp) async throws {}
enum Lamp1: EventInterface {
    static let name = "org.example.Lamp1"
    static var contract: Contract<Self> { Lamp.self }
}
struct Lamp: EditableDocument {
    typealias Interface = Lamp1
    var brightness: Int32
    static let initial = Self(brightness: 0)
    enum Refusal: String, CommandRefusal { case broken = "Broken" }
}

@MainActor final class Window {
    var count = 0
    var kept: [Subscription] = []
    func save(_ event: BoxRemoved) async throws { count += 1 }
    func keep(_ relay: EventRelay) throws {
        // 1. An event.
        kept.append(
            try relay.subscribe(to: BoxRemoved.self) {
                print($0.boxID)
            } onGap: {
                print($0)
            })
        // 2. With a handler that waits, and may throw.
        kept.append(
            try relay.subscribe(to: BoxRemoved.self) {
                try await self.save($0)
            } onGap: {
                print($0)
            })
        // 3. With the event's place and time, from where the last run stopped.
        kept.append(
            try relay.subscribe(to: BoxRemoved.self, from: .resuming("mails")) { event, stamp in
                try await store(event, at: stamp)
            } onGap: { gap in
                print(gap)
            })
        // 4. Several at a time.
        kept.append(
            try relay.subscribe(to: ItemMoved.self, from: .beginning, inOrderOf: \.itemID) { event in
                print(event.toBoxID)
            } onGap: { _ in
            })
        // 5. All events of an interface.
        kept.append(
            try relay.subscribe(to: Relocation1.self) { event in
                if case .boxRemoved(let box) = event { print(box.boxID) }
            } onGap: { _ in
            })
        // 6. An object, weakly.
        try relay.subscribe(self, to: BoxRemoved.self) { me, _ in
            me.count += 1
        } onGap: { me, _ in
            me.count = 0
        }
        // 7. At the publisher, which the window's other code has.
        relay.publisher.subscribe(self, to: BoxProvisioned.self) { me, _ in
            me.count += 1
        } onGap: { _, _ in
        }
        // 8. A closure there, and one that waits.
        kept.append(
            relay.publisher.subscribe(to: BoxRemoved.self) { _ in
                await Task.yield()
            } onGap: { _ in
            })
        // 9. The state of the connection.
        kept.append(
            relay.publisher.subscribe(to: EventRelay.State.self) {
                print($0)
            } onGap: { _ in
            })
    }
    func order(_ relay: EventRelay) async {
        // 10. A command, whose refusal is caught as itself.
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
        // 11. The same, by cases.
        switch await relay.outcome(of: RemoveBox(boxID: 7)) {
        case .success: print("removed")
        case .refused(.unknownBox): print("no such box")
        case .refused(let other): print(other.message)
        case .failed(.notPermitted): print("not by you")
        case .failed(let error): print(error.mayHaveRun)
        }
    }
    func show(_ relay: EventRelay) throws {
        // 12. A state, then what changes it.
        kept.append(
            try relay.follow(Relocation1.self, asking: Contents()) {
                print($0.boxes.count)
            } then: {
                print($0)
            } onFailure: {
                print($0)
            })
        // 13. A list of any length, kept in step.
        try relay.follow(self, Relocation1.self, pages: Contents(), rows: \.boxes, by: \.boxID) { event, rows in
            if case .boxRemoved(let box) = event { rows[id: box.boxID] = nil }
        } show: { me, list in
            me.count = list.rows.count
        } onFailure: { _, error in
            print(error)
        }
        // 14. A document.
        kept.append(
            try relay.follow(Inventory.self) { present in
                self.count = present.state.boxes.count
            } onFailure: {
                print($0)
            })
        // 15. Into one with views.
        let inventory = LocalDocument(Inventory.initial)
        inventory.addView(key: "count") { print($0.boxes.count) }
        kept.append(try relay.follow(Inventory.self, into: inventory) { print($0) })
    }
}
actor Counter {
    var count = 0
    func start(_ relay: EventRelay) throws {
        // 16. An actor.
        try relay.subscribe(self, to: BoxRemoved.self) { me, _ in
            me.count += 1
        } onGap: { me, _ in
            me.count = 0
        }
        // 17. One whose handler waits.
        try relay.subscribe(self, to: ItemMoved.self) { me, event in
            try await Task.sleep(for: .seconds(1))
            me.count += 1
        } onGap: { _, _ in
        }
    }
}
func front() async throws {
    // 18. Interfaces that are chosen at run time.
    let interfaces: [any EventInterface.Type] = [Relocation1.self]
    let relay = try EventRelay(following: "org.example.Move", interfaces: interfaces)
    // 19. What goes wrong, elsewhere than in stderr.
    let noted = try EventRelay(following: "org.example.Move", interfaces: Relocation1.self) { notice in print(notice) }
    noted.invalidate()
    // 20. A loop over events.
    for await delivery in try relay.events(of: BoxRemoved.self) {
        switch delivery {
        case .event(let box, let stamp): print(box.boxID, stamp.publishedAt)
        case .gap(let gap): print(gap)
        }
    }
    // 21. Over all that is there.
    for await batch in try relay.events(of: ItemMoved.self, from: .beginning).batches {
        print(batch.events.count, batch.stamps.count, batch.gap?.count ?? 0)
    }
    // 22. Over the states of a document.
    for try await present in try relay.snapshots(of: Inventory.self) { print(present.state, present.version) }
    // 23. A change of a document, with a refusal.
    do { try await relay.update(Lamp.self) { $0.brightness += 1 } } catch Lamp.Refusal.broken { print("broken") }
    // 24. One that is based on what was seen.
    let seen = try await relay.snapshot(of: Lamp.self)
    do { try await relay.submit(Lamp(brightness: 7), basedOn: seen.version) } catch .conflict { print("too late") }
    // 25. Until it is told to end.
    try await relay.run()
}
func back(_ journal: EventJournal, _ relay: EventRelay) async throws {
    // 26. The tables.
    try await journal.migrate("boxes", by: [Migration("boxes", "CREATE TABLE boxes (boxID INTEGER PRIMARY KEY)")])
    let service = try EventService(name: "org.example.Move", exporting: Relocation1.self, journal: journal)
    // 27. A handler that publishes.
    service.handle(RemoveBox.self) { command, context in try await context.publish(BoxRemoved(boxID: command.boxID)) }
    // 28. One whose state and events are one transaction.
    service.handle(RemoveBox.self) { command, _, unit in
        let titles = try unit.query("SELECT title FROM boxes WHERE id = \(command.boxID)", as: String.self)
        guard !titles.isEmpty else { throw RemoveBox.Refusal.unknownBox }
        try unit.execute("DELETE FROM boxes WHERE id = \(command.boxID)")
        try unit.publish(BoxRemoved(boxID: command.boxID))
    }
    // 29. The service's own work.
    try await service.unitOfWork { unit in try unit.publish(BoxRemoved(boxID: 1)) }
    // 30. An event alone, and several.
    try await service.publish(BoxRemoved(boxID: 1))
    try await service.publish(contentsOf: [BoxRemoved(boxID: 2), BoxRemoved(boxID: 3)])
    // 31. A document, by itself and in a unit.
    try await service.document(Lamp.self).set(Lamp(brightness: 1))
    try await service.unitOfWork { unit in try unit.update(Lamp.self) { $0.brightness += 1 } }
    // 32. Rows by the names of their columns.
    let rows = try await journal.read { try $0.query("SELECT boxID, title FROM boxes", as: Row.self) }
    // 33. A part that statements share, and values of one's own types.
    let isLeft: SQL = "side = \(Side.left)"
    try await service.unitOfWork { unit in try unit.execute("DELETE FROM boxes WHERE \(isLeft)") }
    // 34. Another service's events, each once.
    let chain = try await journal.consume(BoxRemoved.self, of: relay, as: "chain") { event, unit in
        try unit.execute("INSERT INTO removed VALUES (\(event.boxID), \(rows.first?.title))")
    } onGap: { gap, unit in
        // 35. A place, as a value of a column.
        if let place = StreamPosition.after(gap) { try unit.execute("UPDATE place SET at = \(place)") }
    }
    // 36. With the time of each.
    let times = try await journal.consume(BoxRemoved.self, of: relay, as: "times") { event, stamp, unit in
        try unit.execute("INSERT INTO times VALUES (\(event.boxID), \(stamp.publishedAt))")
    } onGap: { _, _ in
    }
    // 37. A backup while all goes on.
    try EventJournal.copy(directory: "/var/lib/move", to: "/var/backups/move.sqlite")
    // The consumers last as long as the service.
    try await service.run(following: relay, keeping: chain, times)
}
// 38. relay.subscribe(to: EventRelay.State.self): subscribe-to-state.swift
// 39. relay.subscribe(to: Plain1.self), which is no enum: subscribe-to-plain-interface.swift
// 40. relay.subscribe(to: Inventory.self), a document: subscribe-to-document.swift
// 41. relay.subscribe(to:) without onGap: closure-without-gaps.swift
// 42. service.handle(OrderBox.self) { command in … }: handler-without-context.swift
// 43. service.publish(document): document-published.swift
// 44. service.publish(event) of a durable interface without await: sync-publish-of-durable.swift
// 45. "INSERT … VALUES ('" + title + "')": sql-by-plus.swift
// 46. "… \(Side.left)", where Side is not SQLStorable: sql-of-enum.swift
// 47. Migration("doors", text): migration-of-text.swift
// 48. enum Failure in a command: refusal-named-failure.swift
// 49. catch .refused(.tooLong), catch .refused: refusal-as-a-code.swift, refusal-by-code-alone.swift
// 50. a subscription that nobody keeps: dropped-subscription.swift
// 51. unit.publish(document): document-published-in-unit.swift
