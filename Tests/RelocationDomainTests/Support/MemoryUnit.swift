import RelayCore
import Relocation
import RelocationDomain

/// One transaction of a `MemoryStore`: a copy of the state, and the events so far. Cannot be copied: it ends with its closure.
struct MemoryUnit: ~Copyable, BoxRepository, ItemRepository, EventSink {
    private(set) var state: MemoryState
    private(set) var events: [any RelocationEvent] = []
    init(_ state: MemoryState) { self.state = state }

    mutating func addBox(title: Title, capacity: BoxCapacity) throws -> Box {
        try state.addBox(title: title, capacity: capacity)
    }
    func box(_ id: Int64) -> Box? { state.box(id) }
    func leastLoaded(_ count: Int, except boxID: Int64?) -> [BoxLoad] {
        state.leastLoaded(count, except: boxID)
    }
    mutating func removeBox(_ id: Int64) throws { try state.removeBox(id) }

    mutating func addItem(title: Title, boxID: Int64) throws -> Item {
        try state.addItem(title: title, boxID: boxID)
    }
    func item(_ id: Int64) -> Item? { state.item(id) }
    func items(inBox boxID: Int64) -> [Item] { state.items(inBox: boxID) }
    mutating func moveItem(_ id: Int64, toBox boxID: Int64) throws { try state.moveItem(id, toBox: boxID) }
    mutating func removeItem(_ id: Int64) throws { try state.removeItem(id) }

    /// Collects an event for after the commit. Throws `RelayError` `.notFound` for one of another interface.
    mutating func publish<E: DomainEvent>(_ event: E) throws {
        guard let event = event as? any RelocationEvent else {
            throw RelayError(
                .notFound,
                "\(E.self) belongs to \(E.Interface.name); this store publishes \(Relocation1.name) only")
        }
        events.append(event)
    }
}
