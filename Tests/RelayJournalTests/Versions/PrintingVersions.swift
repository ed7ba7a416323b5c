import RelayCore

/// The versions of one contract, as docs/EVOLUTION.md shows them. Each would be a release of its own.
enum FirstRelease {
    enum Printing1: EventInterface {
        static let name = "org.example.Printing1"
        static var contract: Contract<Self> { JobPrinted.self }
    }
    struct JobPrinted: DomainEvent, Equatable {
        typealias Interface = Printing1
        let jobID: Int64, label: String, color: Bool
    }
}
enum SecondRelease {
    enum Printing1: EventInterface {
        static let name = "org.example.Printing1"
        static var contract: Contract<Self> { JobPrinted.self }
    }
    // A field that is added is optional: events without it are still read.
    struct JobPrinted: DomainEvent, Equatable {
        typealias Interface = Printing1
        let jobID: Int64, label: String, color: Bool
        let pages: Int32?
    }
}
enum ThirdRelease {
    enum Printing1: EventInterface {
        static let name = "org.example.Printing1"
        static var contract: Contract<Self> { JobPrinted.self }
    }
    // A field that is renamed is read under both names, and written under the new one alone.
    struct JobPrinted: DomainEvent, RenamedFields, Equatable {
        typealias Interface = Printing1
        static let formerNames = ["label": "title"]
        let jobID: Int64, title: String, color: Bool
        let pages: Int32?
    }
}
/// Subscribers do without a field before the service drops it.
enum FourthRelease {
    enum Printing1: EventInterface {
        static let name = "org.example.Printing1"
        static var contract: Contract<Self> { JobPrinted.self }
    }
    struct JobPrinted: DomainEvent, RenamedFields, Equatable {
        typealias Interface = Printing1
        static let formerNames = ["label": "title"]
        let jobID: Int64, title: String
        let pages: Int32?
    }
    // What changes in any other way is a new version of the interface, beside the old one.
    enum Printing2: EventInterface {
        static let name = "org.example.Printing2"
        static var contract: Contract<Self> { JobPrinted2.self }
    }
    struct JobPrinted2: DomainEvent, Equatable {
        typealias Interface = Printing2
        static let name = "JobPrinted"
        let jobID: String, titles: [String]
    }
}
