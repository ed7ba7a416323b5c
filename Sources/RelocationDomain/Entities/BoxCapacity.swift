/// How many items a box holds. There are three kinds of boxes and no others.
public enum BoxCapacity: Int32, CaseIterable, Sendable {
    case small = 5
    case medium = 10
    case large = 20

    /// As a number of items.
    public var itemCount: Int { Int(rawValue) }
}
