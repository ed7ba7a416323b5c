import RelayCore
/// A contract as the first release has it: each member changes in one way. `After` has the next release.
enum Before {
    enum Shop1: EventInterface {
        static let name = "org.example.Changes1"
        static var contract: Contract<Self> {
            Reordered.self
            Grown.self
            Needy.self
            Shrunk.self
            Lost.self
            Renamed.self
            Replaced.self
            Retyped.self
            Loosened.self
            Nested.self
            NestedNeedy.self
            Chosen.self
            OpenChosen.self
            Dropped.self
            Paid.self
            Raw.self
            Gone.self
            Move.self
            GrownArgument.self
            NeedyArgument.self
            ShrunkArgument.self
            LostArgument.self
            RenamedArgument.self
            RetypedArgument.self
            NestedArgument.self
            ChosenArgument.self
            GrownReply.self
            NeedyReply.self
            LostReply.self
            ChosenReply.self
            Refusing.self
            DroppedArgument.self
            Lenient.self
            Withdrawn.self
            Forgot.self
            Guarded.self
            Unkeyed.self
            Board.self
        }
    }
    enum Hall1: EventInterface {
        static let name = "org.example.Hall1"
        static var contract: Contract<Self> { Rang.self }
    }
    struct Reordered: DomainEvent, Equatable {
        typealias Interface = Shop1
        var a: Int64, b: String
    }
    struct Grown: DomainEvent, Equatable {
        typealias Interface = Shop1
        var a: Int64
    }
    struct Needy: DomainEvent, Equatable {
        typealias Interface = Shop1
        var a: Int64
    }
    struct Shrunk: DomainEvent, Equatable {
        typealias Interface = Shop1
        var a: Int64
        var b: String?
    }
    struct Lost: DomainEvent, Equatable {
        typealias Interface = Shop1
        var a: Int64, b: String
    }
    struct Renamed: DomainEvent, Equatable {
        typealias Interface = Shop1
        var a: Int64, b: String
    }
    struct Replaced: DomainEvent, Equatable {
        typealias Interface = Shop1
        var a: Int64, b: String
    }
    struct Retyped: DomainEvent, Equatable {
        typealias Interface = Shop1
        var a: Int64
    }
    struct Loosened: DomainEvent, Equatable {
        typealias Interface = Shop1
        var a: Int64
    }
    struct Part: Codable, Sendable, Equatable { var a: Int64 }
    struct Nested: DomainEvent, Equatable {
        typealias Interface = Shop1
        var list: [Part], byName: [String: Part], one: Part?
    }
    struct NeedyPart: Codable, Sendable, Equatable { var a: Int64 }
    struct NestedNeedy: DomainEvent, Equatable {
        typealias Interface = Shop1
        var part: NeedyPart
    }
    enum State: TaggedEnum, Equatable { case idle, printing(page: Int32) }
    struct Chosen: DomainEvent, Equatable {
        typealias Interface = Shop1
        var state: State
    }
    enum OpenState: OpenTaggedEnum, Equatable { case idle, unknown(UnknownCase) }
    struct OpenChosen: DomainEvent, Equatable {
        typealias Interface = Shop1
        var state: OpenState
    }
    enum DroppedState: TaggedEnum, Equatable { case idle, asleep }
    struct Dropped: DomainEvent, Equatable {
        typealias Interface = Shop1
        var state: DroppedState
    }
    struct Paid: DomainEvent, Equatable {
        typealias Interface = Shop1
        var by: Means
        enum Means: TaggedEnum, Equatable { case card(number: Int64) }
    }
    struct Raw: DomainEvent, Equatable {
        typealias Interface = Shop1
        var level: Level
        enum Level: String, Codable, CaseIterable, Sendable { case low, high }
    }
    struct Gone: DomainEvent, Equatable {
        typealias Interface = Shop1
        var a: Int64
    }

    struct Done: Codable, Sendable, Equatable { var number: Int64 }
    struct Move: IdempotentCommand, Equatable {
        typealias Interface = Shop1
        typealias Reply = Done
        var from: Int64
        var to: Int64
        var idempotencyKey: String?
    }
    struct GrownArgument: IdempotentCommand, Equatable {
        typealias Interface = Shop1
        typealias Reply = Done
        var a: Int64
        var idempotencyKey: String?
    }
    struct NeedyArgument: IdempotentCommand, Equatable {
        typealias Interface = Shop1
        typealias Reply = Done
        var a: Int64
        var idempotencyKey: String?
    }
    struct ShrunkArgument: IdempotentCommand, Equatable {
        typealias Interface = Shop1
        typealias Reply = Done
        var a: Int64
        var b: String?
        var idempotencyKey: String?
    }
    struct LostArgument: IdempotentCommand, Equatable {
        typealias Interface = Shop1
        typealias Reply = Done
        var a: Int64
        var b: String
        var idempotencyKey: String?
    }
    struct RenamedArgument: IdempotentCommand, Equatable {
        typealias Interface = Shop1
        typealias Reply = Done
        var a: Int64
        var idempotencyKey: String?
    }
    struct RetypedArgument: IdempotentCommand, Equatable {
        typealias Interface = Shop1
        typealias Reply = Done
        var a: Int64
        var idempotencyKey: String?
    }
    struct NestedArgument: IdempotentCommand, Equatable {
        typealias Interface = Shop1
        typealias Reply = Done
        var parts: [Part]
        var idempotencyKey: String?
    }
    struct ChosenArgument: IdempotentCommand, Equatable {
        typealias Interface = Shop1
        typealias Reply = Done
        var state: State
        var idempotencyKey: String?
    }
    struct GrownReply: IdempotentCommand, Equatable {
        typealias Interface = Shop1
        typealias Reply = Done
        var idempotencyKey: String?
    }
    struct NeedyReply: IdempotentCommand, Equatable {
        typealias Interface = Shop1
        typealias Reply = Done
        var idempotencyKey: String?
    }
    struct LostReply: IdempotentCommand, Equatable {
        typealias Interface = Shop1
        struct Reply: Codable, Sendable, Equatable { var number: Int64, name: String }
        var idempotencyKey: String?
    }
    struct ChosenReply: IdempotentCommand, Equatable {
        typealias Interface = Shop1
        struct Reply: Codable, Sendable, Equatable { var state: State }
        var idempotencyKey: String?
    }
    struct Refusing: IdempotentCommand, Equatable {
        typealias Interface = Shop1
        typealias Reply = Done
        enum Refusal: String, CommandRefusal { case closed = "Closed" }
        var idempotencyKey: String?
    }
    struct Withdrawn: IdempotentCommand, Equatable {
        typealias Interface = Shop1
        typealias Reply = Done
        var idempotencyKey: String?
    }
    struct DroppedArgument: IdempotentCommand, Equatable {
        typealias Interface = Shop1
        typealias Reply = Done
        var state: DroppedState
        var idempotencyKey: String?
    }
    struct Lenient: IdempotentCommand, Equatable {
        typealias Interface = Shop1
        typealias Reply = Done
        enum Refusal: String, CommandRefusal { case closed = "Closed", full = "Full" }
        var idempotencyKey: String?
    }
    struct Forgot: DomainEvent, RenamedFields, Equatable {
        typealias Interface = Shop1
        static let formerNames = ["b": "c"]
        var a: Int64, c: String
    }
    struct Guarded: IdempotentCommand, Equatable {
        typealias Interface = Shop1
        typealias Reply = Done
        var idempotencyKey: String?
    }
    struct Unkeyed: IdempotentCommand, Equatable {
        typealias Interface = Shop1
        typealias Reply = Done
        var a: Int64
        var idempotencyKey: String?
    }
    struct Board: EditableDocument {
        typealias Interface = Shop1
        var title: String
        static let initial = Self(title: "")
    }
    struct Rang: DomainEvent, Equatable {
        typealias Interface = Hall1
        var number: Int64
    }
}
