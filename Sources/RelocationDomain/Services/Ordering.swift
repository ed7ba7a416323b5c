public import RelayCore
public import Relocation

/// Orders a box.
public struct Ordering: RelocationWork {
    public let request: OrderBox
    public init(_ request: OrderBox) { self.request = request }

    /// Publishes `BoxProvisioned`; throws `OrderBox.Refusal`.
    public func perform(in unit: inout some BoxRepository & ItemRepository & EventSink & ~Copyable) throws -> Box {
        guard let capacity = BoxCapacity(rawValue: request.capacity) else { throw OrderBox.Refusal.invalidCapacity }
        guard let title = Title(request.label) else { throw OrderBox.Refusal.invalidLabel }
        let box = try unit.addBox(title: title, capacity: capacity)
        try unit.publish(BoxProvisioned(boxID: box.id, capacity: capacity.rawValue, title: title.text))
        return box
    }
    /// None: nothing was attempted, and only the caller can mend it.
    public func events(reporting failure: OrderBox.Refusal) -> [any RelocationEvent] { [] }
}
