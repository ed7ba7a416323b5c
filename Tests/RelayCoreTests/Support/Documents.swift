import RelayCore

/// A volatile interface with documents.
enum Office1: EventInterface {
    static let name = "org.example.Office1"
    static let durability = Volatile()
    static var contract: Contract<Self> {
        Rang.self
        Board.self
        Lamp.self
        Echoing.self
    }
}
struct Rang: DomainEvent, Equatable {
    typealias Interface = Office1
    var number: Int64
}
struct Echoing: Command {
    typealias Interface = Office1
    var text: String
}
/// Is read only.
struct Board: DomainDocument {
    typealias Interface = Office1
    var title: String
    var lines: [String]
    static let initial = Self(title: "", lines: [])
}
/// Can be changed by others.
struct Lamp: EditableDocument {
    typealias Interface = Office1
    var brightness: Int32
    var colour: String?
    static let initial = Self(brightness: 1, colour: nil)
    enum Refusal: String, CommandRefusal, CaseIterable { case tooBright = "TooBright" }
}

/// A durable interface with documents, whose values are its events alone.
enum Archive1: EnumInterface, Equatable {
    case filed(Filed)
    static let name = "org.example.Archive1"
    static let durability = Durable(retention: Retention(count: 4))
    static var contract: Contract<Self> {
        filed
        Index.self
        Rules.self
    }
}
struct Filed: DomainEvent, Equatable {
    typealias Interface = Archive1
    var number: Int64
}
struct Index: DomainDocument {
    typealias Interface = Archive1
    var count: Int64
    var title: String
    static let initial = Self(count: 0, title: "")
}
struct Rules: EditableDocument {
    typealias Interface = Archive1
    var numbers: [String: Int64]
    static let initial = Self(numbers: [:])
}
