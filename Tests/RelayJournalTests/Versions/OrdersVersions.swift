import RelayCore

/// A contract of which a service serves two versions.
enum Orders1: EventInterface {
    static let name = "org.example.Orders1"
    static var contract: Contract<Self> {
        Placed.self
        Place.self
        Cancel.self
        Desk.self
        Rack.self
    }
    struct Placed: DomainEvent, Equatable {
        typealias Interface = Orders1
        let orderID: Int64, total: Double
    }
    struct Place: IdempotentCommand {
        typealias Interface = Orders1
        let title: String, idempotencyKey: String?
        struct Reply: Codable, Equatable, Sendable { let orderID: Int64 }
        struct Progress: Codable, Equatable, Sendable { let percent: Int32 }
        enum Refusal: String, CommandRefusal, CaseIterable { case tooLong = "TooLong" }
    }
    struct Cancel: Command {
        typealias Interface = Orders1
        let orderID: Int64
    }
    struct Desk: DomainDocument {
        typealias Interface = Orders1
        var open: Int32
        static let initial = Self(open: 0)
    }
    struct Rack: EditableDocument {
        typealias Interface = Orders1
        var labels: String
        static let initial = Self(labels: "?")
        enum Refusal: String, CommandRefusal, CaseIterable { case full = "Full", empty = "Empty" }
    }
}
enum Orders2: EventInterface {
    static let name = "org.example.Orders2"
    static var contract: Contract<Self> {
        Placed.self
        Split.self
        Audited.self
        Place.self
        Desk.self
        Rack.self
    }
    struct Placed: DomainEvent, Equatable {
        typealias Interface = Orders2
        let id: String, totals: [Double]
    }
    struct Split: DomainEvent, Equatable {
        typealias Interface = Orders2
        let ids: [String]
    }
    struct Audited: DomainEvent, Equatable {
        typealias Interface = Orders2
        let by: String
    }
    struct Place: IdempotentCommand {
        typealias Interface = Orders2
        let title: String, urgent: Bool, idempotencyKey: String?
        struct Reply: Codable, Equatable, Sendable { let id: String }
        struct Progress: Codable, Equatable, Sendable { let done: Double }
        enum Refusal: String, CommandRefusal, CaseIterable { case tooLong = "TooLong", closed = "Closed" }
    }
    struct Desk: DomainDocument {
        typealias Interface = Orders2
        var open: [String]
        static let initial = Self(open: [])
    }
    struct Rack: EditableDocument {
        typealias Interface = Orders2
        var labels: [String], size: Int32
        static let initial = Self(labels: ["new"], size: 3)
        enum Refusal: String, CommandRefusal, CaseIterable { case full = "Full", broken = "Broken" }
    }

    static let servingFirst = serving(Orders1.self) { older in
        older.event(Placed.self) { placed in
            Orders1.Placed(orderID: Int64(placed.id) ?? 0, total: placed.totals.reduce(0, +))
        }
        older.event(Split.self) { split, older in
            for id in split.ids { try older.publish(Orders1.Placed(orderID: Int64(id) ?? 0, total: 0)) }
        }
        older.nothing(for: Audited.self)
        older.document(Desk.self) { Orders1.Desk(open: Int32($0.open.count)) }
        older.document(Rack.self) { rack in
            Orders1.Rack(labels: rack.labels.joined(separator: " "))
        } submitting: { old, present in
            if old.labels.isEmpty { throw Orders1.Rack.Refusal.empty }
            return Rack(labels: old.labels.split(separator: " ").map(String.init), size: present.size)
        }
        older.command(Orders1.Place.self) { old in
            Place(title: old.title, urgent: false, idempotencyKey: old.idempotencyKey)
        } reply: { reply in
            Orders1.Place.Reply(orderID: Int64(reply.id) ?? 0)
        } progress: { progress in
            Orders1.Place.Progress(percent: Int32(progress.done * 100))
        }
        older.ownHandler(for: Orders1.Cancel.self)
    }
}
