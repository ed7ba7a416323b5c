public import RelayJournal
public import Relocation

/// Keeps boxes and items in the journal's file: state and events are committed together.
///
/// Units of work run one at a time; `stock` reads beside them.
public struct JournalStore: RelocationStore {
    private let journal: EventJournal
    private let keepsInventory: Bool

    /// Makes the tables, or brings those of an older version up to date. Before a service is opened on the journal, or
    /// after.
    ///
    /// Throws `RelayError` `.schemaMismatch` for tables of a newer version, and what the journal throws.
    ///
    /// - Parameter keepsInventory: whether each unit of work also sets the document `Inventory`. The journal's service
    ///   then exports `Inventory1`.
    public init(_ journal: EventJournal, keepsInventory: Bool = false) async throws {
        (self.journal, self.keepsInventory) = (journal, keepsInventory)
        try await journal.migrate(RelocationSchema.name, by: RelocationSchema.migrations)
    }

    /// Brings the inventory up to what the boxes hold. When the service is there: the boxes may have changed while no
    /// inventory was kept.
    public func refreshInventory() async throws {
        if keepsInventory { try await journal.unitOfWork { unit in try unit.set(unit.inventory()) } }
    }
    public func stock(after place: Contents.Place, count: Int) async throws -> Stock {
        try await journal.read { snapshot in
            let position = try snapshot.position(of: Relocation1.self)
            let boxes = try snapshot.query(
                """
                SELECT id, title, capacity FROM relocation_boxes WHERE id > \(place.boxID) ORDER BY id
                LIMIT \(max(0, count))
                """, row: Box.init(row:))
            let items = try snapshot.query(
                """
                SELECT id, title, box_id FROM relocation_items WHERE id > \(place.itemID) ORDER BY id
                LIMIT \(max(0, count - boxes.count))
                """, row: Item.init(row:))
            return Stock(epoch: position.epoch, sequence: position.sequence, boxes: boxes, items: items)
        }
    }
    public func perform<Work: RelocationWork>(_ work: Work) async throws -> Work.Outcome {
        try await journal.unitOfWork { unit in
            let outcome = try work.perform(in: &unit)
            if keepsInventory { try unit.set(unit.inventory()) }
            return outcome
        } onRefusal: { (failure: Work.Refusal, events) in
            for event in work.events(reporting: failure) { try events.publish(event) }
        }
    }
}
