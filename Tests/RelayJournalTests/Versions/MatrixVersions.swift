import RelayCore

/// A contract before and after each change that docs/EVOLUTION.md lists: each member is named for its change.
enum Before {
    enum Matrix1: EventInterface {
        static let name = "org.example.Matrix1"
        static var contract: Contract<Self> {
            Reordered.self
            OptionalAdded.self
            OptionalRemoved.self
            RequiredAdded.self
            RequiredRemoved.self
            Renamed.self
            RenamedSilently.self
            Retyped.self
            CaseAdded.self
            CaseRemoved.self
            VariantAdded.self
            Nested.self
            Removed.self
            ReorderedArguments.self
            OptionalArgument.self
            RequiredArgument.self
            RenamedArgument.self
            RequiredReply.self
            OptionalReply.self
            ReplyVariant.self
            RemovedCommand.self
        }
    }
    enum State: String, Codable, CaseIterable { case open, paid }
    enum FirstState: String, Codable, CaseIterable { case open }
    enum Job: TaggedEnum, Equatable { case idle }
    struct Box: Codable, Equatable { let boxID: Int64 }

    struct Reordered: DomainEvent { typealias Interface = Matrix1; let a: Int64, b: Int64 }
    struct OptionalAdded: DomainEvent { typealias Interface = Matrix1; let a: Int64 }
    struct OptionalRemoved: DomainEvent { typealias Interface = Matrix1; let a: Int64, b: String? }
    struct RequiredAdded: DomainEvent { typealias Interface = Matrix1; let a: Int64 }
    struct RequiredRemoved: DomainEvent { typealias Interface = Matrix1; let a: Int64, b: String }
    struct Renamed: DomainEvent { typealias Interface = Matrix1; let a: Int64 }
    struct RenamedSilently: DomainEvent { typealias Interface = Matrix1; let a: Int64 }
    struct Retyped: DomainEvent { typealias Interface = Matrix1; let a: Int64 }
    struct CaseAdded: DomainEvent { typealias Interface = Matrix1; let a: FirstState }
    struct CaseRemoved: DomainEvent { typealias Interface = Matrix1; let a: State }
    struct VariantAdded: DomainEvent { typealias Interface = Matrix1; let a: Job }
    struct Nested: DomainEvent { typealias Interface = Matrix1; let boxes: [Box] }
    struct Removed: DomainEvent { typealias Interface = Matrix1; let a: Int64 }

    struct Number: Codable, Sendable { let a: Int64 }
    struct ReorderedArguments: Command {
        typealias Interface = Matrix1
        typealias Reply = Number
        let a: Int64, b: Int64
    }
    struct OptionalArgument: Command {
        typealias Interface = Matrix1
        typealias Reply = Number
        let a: Int64
    }
    struct RequiredArgument: Command {
        typealias Interface = Matrix1
        typealias Reply = Number
        let a: Int64
    }
    struct RenamedArgument: Command {
        typealias Interface = Matrix1
        typealias Reply = Number
        let a: Int64
    }
    struct RequiredReply: Command {
        typealias Interface = Matrix1
        typealias Reply = Number
        let a: Int64
    }
    struct OptionalReply: Command {
        typealias Interface = Matrix1
        typealias Reply = Number
        let a: Int64
    }
    struct ReplyVariant: Command {
        typealias Interface = Matrix1
        struct Reply: Codable, Sendable { let job: Job }
    }
    struct RemovedCommand: Command { typealias Interface = Matrix1 }
}

enum After {
    enum Matrix1: EventInterface {
        static let name = "org.example.Matrix1"
        static var contract: Contract<Self> {
            Reordered.self
            OptionalAdded.self
            OptionalRemoved.self
            RequiredAdded.self
            RequiredRemoved.self
            Renamed.self
            RenamedSilently.self
            Retyped.self
            CaseAdded.self
            CaseRemoved.self
            VariantAdded.self
            Nested.self
            Added.self
            ReorderedArguments.self
            OptionalArgument.self
            RequiredArgument.self
            RenamedArgument.self
            RequiredReply.self
            OptionalReply.self
            ReplyVariant.self
            AddedCommand.self
        }
    }
    typealias State = Before.FirstState
    typealias FirstState = Before.State
    enum Job: TaggedEnum, Equatable { case idle, printing(page: Int32) }
    struct Box: Codable, Equatable { let label: String?, boxID: Int64 }

    struct Reordered: DomainEvent { typealias Interface = Matrix1; let b: Int64, a: Int64 }
    struct OptionalAdded: DomainEvent { typealias Interface = Matrix1; let a: Int64, b: String? }
    struct OptionalRemoved: DomainEvent { typealias Interface = Matrix1; let a: Int64 }
    struct RequiredAdded: DomainEvent { typealias Interface = Matrix1; let a: Int64, b: String }
    struct RequiredRemoved: DomainEvent { typealias Interface = Matrix1; let a: Int64 }
    struct Renamed: DomainEvent, RenamedFields {
        typealias Interface = Matrix1
        static let formerNames = ["a": "b"]
        let b: Int64
    }
    struct RenamedSilently: DomainEvent { typealias Interface = Matrix1; let b: Int64 }
    struct Retyped: DomainEvent { typealias Interface = Matrix1; let a: String }
    struct CaseAdded: DomainEvent { typealias Interface = Matrix1; let a: FirstState }
    struct CaseRemoved: DomainEvent { typealias Interface = Matrix1; let a: State }
    struct VariantAdded: DomainEvent { typealias Interface = Matrix1; let a: Job }
    struct Nested: DomainEvent { typealias Interface = Matrix1; let boxes: [Box] }
    struct Added: DomainEvent { typealias Interface = Matrix1; let a: Int64 }

    typealias Number = Before.Number
    struct ReorderedArguments: Command {
        typealias Interface = Matrix1
        typealias Reply = Number
        let b: Int64, a: Int64
    }
    struct OptionalArgument: Command {
        typealias Interface = Matrix1
        typealias Reply = Number
        let b: String?, a: Int64
    }
    struct RequiredArgument: Command {
        typealias Interface = Matrix1
        typealias Reply = Number
        let b: String, a: Int64
    }
    struct RenamedArgument: Command, RenamedFields {
        typealias Interface = Matrix1
        typealias Reply = Number
        static let formerNames = ["a": "b"]
        let b: Int64
    }
    struct RequiredReply: Command {
        typealias Interface = Matrix1
        let a: Int64
        struct Reply: Codable, Sendable { let b: String, a: Int64 }
    }
    struct OptionalReply: Command {
        typealias Interface = Matrix1
        let a: Int64
        struct Reply: Codable, Sendable { let b: String?, a: Int64 }
    }
    struct ReplyVariant: Command {
        typealias Interface = Matrix1
        struct Reply: Codable, Sendable { let job: Job }
    }
    struct AddedCommand: Command { typealias Interface = Matrix1 }
}
