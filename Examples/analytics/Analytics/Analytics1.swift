public import RelayCore

/// What the service counts. No view knows of it.
public enum Analytics1: EventInterface {
    public static let name = "org.example.Analytics1"
    public static let durability = Volatile()
    public static var contract: Contract<Self> {
        UseCounted.self
        NoteUse.self
    }
}
/// Something was used once more.
public struct UseCounted: DomainEvent, Equatable {
    public typealias Interface = Analytics1
    public let what: String
    public let count: Int64
    public init(what: String, count: Int64) { (self.what, self.count) = (what, count) }
}
/// One use of something, without what it was used for: no text that somebody typed.
public struct NoteUse: Command {
    public typealias Interface = Analytics1
    public let what: String
    public init(what: String) { self.what = what }
}
