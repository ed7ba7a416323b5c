import RelayWire

/// One event of a followed interface, as it was seen on the bus, in the journal or in an inlet's list.
package final class StreamEvent: @unchecked Sendable {  // In a turn of the loop only.
    fileprivate static let (unwantedIndex, excessIndex) = (-1, -2)
    /// Below 0: it is in no table.
    let index: Int
    package let name: String
    fileprivate let utf8: [UInt8]
    /// The sink's number for it.
    let token: Int
    /// By the publisher's subscriptions.
    @exclusivity(unchecked) fileprivate(set) var isWanted: Bool
    /// Of its signals.
    fileprivate(set) var format: EventFormat?

    /// It is one of too many.
    var isExcess: Bool { index == Self.excessIndex }

    fileprivate init(_ index: Int, _ name: String, token: Int, isWanted: Bool, format: EventFormat?) {
        (self.index, self.name, utf8, self.token) = (index, name, Array(name.utf8), token)
        (self.isWanted, self.format) = (isWanted, format)
    }
}

/// What is known of the events that an interface has at its present owner: their schemas, and a place for each that
/// came or is wanted by name.
struct StreamEvents {
    private let interface: String
    private let sink: any SessionSink
    /// The fields that the owner's events have, once it has reported them.
    private(set) var schemas: StreamSchemas?
    /// What the last owner reported, which is mostly the same: what was made of it can be used again.
    private var lastSchemas: StreamSchemas?
    /// Few: looked through by comparing bytes, which is faster than making a `String` and hashing it.
    private var events: [StreamEvent] = []
    /// All names that are wanted by name are among them.
    private var hasWanted = false
    /// Stands for every event that nobody wants.
    private let unwanted = StreamEvent(StreamEvent.unwantedIndex, "", token: -1, isWanted: false, format: nil)
    /// Stands for every event past the limit.
    private let excess = StreamEvent(StreamEvent.excessIndex, "", token: -1, isWanted: false, format: nil)
    /// A service that sends ever new names does not make this grow without end. A sound one has no more than half of
    /// that; what it lacks may be wanted besides.
    private static let limit = 2 * ContractLimits.events

    init(_ interface: String, _ sink: any SessionSink) { (self.interface, self.sink) = (interface, sink) }

    mutating func forgetOwner() { (schemas, events, hasWanted) = (nil, [], false) }
    /// The owner has reported its schemas.
    mutating func adopt(_ reported: [UInt32: EventSchema]) -> StreamSchemas {
        let adopted = lastSchemas.flatMap { $0.byNumber == reported ? $0 : nil } ?? StreamSchemas(reported)
        (schemas, lastSchemas) = (adopted, adopted)
        for event in events { event.format = adopted.present(of: event.name) }
        return adopted
    }

    // MARK: What is wanted

    /// Other names are wanted.
    mutating func wantsChanged() { hasWanted = false }
    /// The publisher's subscriptions want other names.
    mutating func wantsChanged(of shared: StreamSubscriber) {
        hasWanted = false
        for event in events { event.isWanted = shared.wants(event.name) }
    }
    /// Which of these names the owner does not have, as far as it has reported.
    func missing(of names: Set<String>?) -> [String] {
        guard let known = schemas?.names, let names else { return [] }
        return names.subtracting(known).sorted()
    }
    /// The names to ask for. A service refuses a name that it does not have.
    func asked(_ names: Set<String>?) -> [String] {
        guard let names else { return [Stream1.allNames] }
        let present = schemas.map { names.intersection($0.names) } ?? names
        return present.isEmpty && !names.isEmpty ? [Stream1.allNames] : present.sorted()
    }

    // MARK: Look-up

    /// The event that a message is.
    mutating func event(of message: borrowing ReceivedMessage, for members: [StreamSubscriber]) -> StreamEvent {
        addWanted(members)
        for event in events where message.hasMember(event.name) { return event }
        guard Self.isEverythingWanted(members) else { return unwanted }
        return message.member.flatMap { add($0, members[0]) } ?? excess
    }
    /// The event of a name.
    mutating func event(named name: UnsafeRawBufferPointer, for members: [StreamSubscriber]) -> StreamEvent {
        addWanted(members)
        for event in events where PageReader.isEqual(name, event.utf8) { return event }
        guard Self.isEverythingWanted(members) else { return unwanted }
        return add(String(decoding: name, as: UTF8.self), members[0]) ?? excess
    }
    /// The event of a name that the owner has listed; nil when there are too many.
    mutating func listed(_ name: String, for members: [StreamSubscriber]) -> StreamEvent? {
        events.first(where: { $0.name == name }) ?? add(name, members[0])
    }
    private static func isEverythingWanted(_ members: [StreamSubscriber]) -> Bool {
        members.contains { $0.names == nil }
    }
    /// So that what is wanted by name has its place, whatever else comes.
    private mutating func addWanted(_ members: [StreamSubscriber]) {
        if hasWanted { return }
        hasWanted = true
        let wanted = members.reduce(into: Set<String>()) { $0.formUnion($1.names ?? []) }
        for name in wanted.sorted() where !events.contains(where: { $0.name == name }) { append(name, members[0]) }
    }
    private mutating func add(_ name: String, _ shared: StreamSubscriber) -> StreamEvent? {
        events.count < Self.limit ? append(name, shared) : nil
    }
    @discardableResult private mutating func append(_ name: String, _ shared: StreamSubscriber) -> StreamEvent {
        let event = StreamEvent(
            events.count, name, token: sink.token(for: name, of: interface), isWanted: shared.wants(name),
            format: schemas?.present(of: name))
        events.append(event)
        return event
    }
}
