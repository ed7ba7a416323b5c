public import RelayCore

/// A match, as one document: everybody has the present score, and anybody may change it.
public enum Scores1: EventInterface {
    public static let name = "org.example.Scores1"
    public static let durability = Volatile()
    public static var contract: Contract<Self> { Score.self }
}
public struct Score: EditableDocument {
    public typealias Interface = Scores1
    public var home: Int32, away: Int32
    public static let initial = Self(home: 0, away: 0)

    public init(home: Int32, away: Int32) { (self.home, self.away) = (home, away) }
}
