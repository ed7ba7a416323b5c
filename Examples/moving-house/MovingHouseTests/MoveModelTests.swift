import MovingHouse
import RelayCore
import RelayJournal
import RelayTestKit
import Relocation
import RelocationDomain
import TestTraits
import Testing

/// What a window would show.
@MainActor private final class Shown {
    private(set) var view = MoveView()
    func show(_ view: MoveView) { self.view = view }
    /// Of each box: its label, its load, and what is in it.
    var boxes: [String]? {
        view.boxes?.map { "\($0.title) \($0.load): " + $0.items.map(\.title).joined(separator: ", ") }
    }
}

/// The service, and models of its windows, without a bus.
@MainActor private final class Storehouse {
    static let name = "org.example.Storehouse"
    let harness = TestHarness()
    let folder: TestFolder

    init() throws { folder = try TestFolder() }
    /// Starts a run of the service.
    func start() async throws -> (service: EventService, journal: EventJournal) {
        let journal = try EventJournal(directory: folder.path, synchronous: .normal)
        let commands = RelocationCommands(store: try await JournalStore(journal))
        let service = try EventService(name: Self.name, on: harness.bus, exporting: Relocation1.self, journal: journal)
        service.handle(OrderBox.self) { command, _ in try await commands.handle(command) }
        service.handle(DistributeItem.self) { command, _ in try await commands.handle(command) }
        service.handle(RemoveBox.self) { command, _ in try await commands.handle(command) }
        service.handle(RemoveItem.self) { command, _ in try await commands.handle(command) }
        service.handle(Contents.self) { command, _ in try await commands.handle(command) }
        try await harness.start(service)
        return (service, journal)
    }
    func relay() throws -> EventRelay {
        try EventRelay(following: Self.name, on: harness.bus, interfaces: Relocation1.self)
    }
    func open() throws -> (model: MoveModel, shown: Shown) {
        let (relay, shown) = (try relay(), Shown())
        let model = MoveModel(relay)
        try model.start { shown.show($0) }
        relay.activate()
        return (model, shown)
    }
}

/// The view model, as a window uses it, against the real service's domain.
@MainActor @Suite("Moving house: the view model", .heavy) struct MoveModelTests {
    @Test("every command is sent and shown, and every refusal of one stands in its place")
    func commands() async throws {
        let storehouse = try Storehouse()
        let run = try await storehouse.start()
        let (model, shown) = try storehouse.open()
        #expect(await eventually { shown.view.boxes == [] && shown.view.status.level == .connected })

        model.perform(.pack(title: "Lamp"))
        #expect(await eventually { shown.view.pack.note == Note(.refused, "No box has room; order a box first.") })
        model.perform(.order(label: "Kitchen", capacity: 7))
        #expect(await eventually { shown.view.order.note == Note(.refused, "A box has a capacity of 5, 10 or 20.") })
        model.perform(.order(label: " ", capacity: 5))
        #expect(await eventually { shown.view.order.note?.text.hasPrefix("A label has 1 to 200") == true })
        model.perform(.order(label: "Kitchen", capacity: 5))
        #expect(await eventually { shown.view.order.note == Note(.done, "Box 1 is ordered.") })
        #expect(await eventually { shown.boxes == ["Kitchen 0 of 5: "] })
        model.perform(.pack(title: "\n"))
        #expect(await eventually { shown.view.pack.note?.text.hasPrefix("A title has 1 to 200") == true })
        for (count, title) in ["Lamp", "Kettle"].enumerated() {
            model.perform(.pack(title: title))
            #expect(await eventually { shown.view.pack.completed == count + 1 && !shown.view.pack.isBusy })
        }
        #expect(await eventually { shown.boxes == ["Kitchen 2 of 5: Lamp, Kettle"] })
        model.perform(.dissolve(boxID: 1))
        #expect(await eventually { shown.view.boxes?.first?.note?.text.hasPrefix("The other boxes lack") == true })
        // A stale window asks for what is in no such box.
        model.perform(.takeOut(itemID: 9, boxID: 1))
        #expect(await eventually { shown.view.boxes?.first?.note == Note(.refused, "There is no item with this id.") })
        model.perform(.takeOut(itemID: 1, boxID: 1))
        #expect(await eventually { shown.boxes == ["Kitchen 1 of 5: Kettle"] && shown.view.boxes?[0].note == nil })
        model.perform(.order(label: "Hall", capacity: 20))
        #expect(await eventually { shown.view.boxes?.count == 2 })
        model.perform(.dissolve(boxID: 1))
        #expect(await eventually { shown.boxes == ["Hall 1 of 20: Kettle"] })
        #expect(await eventually { shown.view.log.first?.text == "“Kitchen” is dissolved" })
        let kinds = shown.view.log.reversed().map(\.kind)
        #expect(
            kinds == [
                .refused, .added, .added, .added, .refused, .refused, .refused, .removed, .added, .moved, .removed,
            ])
        try await storehouse.harness.stop(run.service)
    }
    @Test(
        "a restart is shown as an interruption, after which state and log are whole; commands meanwhile fail in place")
    func restart() async throws {
        let storehouse = try Storehouse()
        var run = try await storehouse.start()
        let (model, shown) = try storehouse.open()
        #expect(await eventually { shown.view.status.level == .connected && shown.view.boxes == [] })
        model.perform(.order(label: "Kitchen", capacity: 5))
        #expect(await eventually { shown.boxes == ["Kitchen 0 of 5: "] })
        try await storehouse.harness.stop(run.service)
        run.journal.close()
        #expect(await eventually { shown.view.status.level == .interrupted })
        #expect(shown.boxes == ["Kitchen 0 of 5: "])
        model.perform(.pack(title: "Lamp"))
        #expect(
            await eventually { shown.view.pack.note == Note(.failed, "The service is away. Nothing was done.") },
            "\(String(describing: shown.view.pack.note))")
        #expect(shown.view.pack.completed == 0)

        run = try await storehouse.start()
        #expect(await eventually { shown.view.status.level == .connected })
        model.perform(.pack(title: "Lamp"))
        #expect(await eventually { shown.boxes == ["Kitchen 1 of 5: Lamp"] })
        #expect(await eventually { shown.view.log.map(\.kind) == [.added, .added] })
        #expect(shown.view.status.gap == nil)
        try await storehouse.harness.stop(run.service)
    }
    @Test("two windows show the same, whichever of them does something")
    func windows() async throws {
        let storehouse = try Storehouse()
        let run = try await storehouse.start()
        let (first, firstShown) = try storehouse.open()
        let (second, secondShown) = try storehouse.open()
        #expect(await eventually { firstShown.view.boxes == [] && secondShown.view.boxes == [] })
        first.perform(.order(label: "Kitchen", capacity: 5))
        #expect(await eventually { secondShown.view.boxes?.count == 1 })
        second.perform(.pack(title: "Lamp"))
        #expect(await eventually { firstShown.boxes == ["Kitchen 1 of 5: Lamp"] })
        #expect(await eventually { secondShown.boxes == firstShown.boxes })
        #expect(await eventually { firstShown.view.log == secondShown.view.log && firstShown.view.log.count == 2 })
        // What one was told is nobody else's.
        #expect(firstShown.view.pack.note == nil && secondShown.view.order.note == nil)
        try await storehouse.harness.stop(run.service)
    }
    @Test("a model that is released holds nothing: neither the relay's subscriptions nor its log keep it")
    func release() async throws {
        let storehouse = try Storehouse()
        let run = try await storehouse.start()
        let relay = try storehouse.relay()
        weak var released: MoveModel?
        func use() async throws {
            let (model, shown) = (MoveModel(relay), Shown())
            released = model
            try model.start { shown.show($0) }
            relay.activate()
            #expect(await eventually { shown.view.boxes == [] })
            model.perform(.order(label: "Kitchen", capacity: 5))
            #expect(await eventually { shown.view.log.count == 1 && shown.view.order.completed == 1 })
        }
        try await use()
        #expect(await eventually { released == nil })
        try await storehouse.harness.stop(run.service)
    }
}
