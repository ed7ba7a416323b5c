/// For a type whose `init(from:)` accepts no value that the probe knows: gives it one.
public protocol WireExample: Decodable {
    static var wireExample: Self { get }
}
