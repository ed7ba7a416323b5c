/// A type that provides an example value, because its `init(from:)` refuses the values that the library tries in order
/// to find its schema.
public protocol WireExample: Decodable {
    /// A value that its `init(from:)` accepts.
    static var wireExample: Self { get }
}
