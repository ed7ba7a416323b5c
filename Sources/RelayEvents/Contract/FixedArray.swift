/// An array whose length is part of its type: samples, a histogram or a frame, as a field of a ``FixedLayoutEvent``.
///
/// In memory, and therefore in a ring, it consists of its elements only, one after the other. In signals, journals and
/// JSON it is an ordinary array: a program that declares `[UInt64]` can read it, and so can any D-Bus tool. An array of
/// another length cannot be decoded.
///
/// A value takes space on the stack of the code that uses it. Registration refuses more than 64 KiB.
public struct FixedArray<let count: Int, Element: FixedLayoutNumber>: BitwiseCopyable, Sendable {
    /// The elements in place. Its `span` and `mutableSpan` give access without a copy.
    public var elements: InlineArray<count, Element>

    /// The elements of an inline array.
    ///
    /// - Parameter elements: the elements.
    @inlinable public init(_ elements: InlineArray<count, Element>) { self.elements = elements }
    /// An array that holds one element at every index.
    ///
    /// - Parameter element: the element to repeat.
    @inlinable public init(repeating element: Element) { elements = InlineArray(repeating: element) }
    /// Computes each element from its index, in order.
    ///
    /// - Parameter element: returns the element at an index.
    /// - Throws: what `element` throws.
    @inlinable public init<Failure: Error>(_ element: (Int) throws(Failure) -> Element) throws(Failure) {
        elements = try InlineArray(element)
    }
    /// Copies a sequence.
    ///
    /// - Parameter sequence: has exactly as many elements as the type requires.
    /// - Throws: `.invalidArgument` for a sequence of another length.
    public init(copying sequence: some Sequence<Element>) throws(RelayError) {
        var rest = sequence.makeIterator()
        self = try Self { index throws(RelayError) in
            guard let element = rest.next() else { throw Self.mismatch("\(index)") }
            return element
        }
        if rest.next() != nil { throw Self.mismatch("more") }
    }
    private static func mismatch(_ found: String) -> RelayError {
        RelayError(.invalidArgument, "\(found) elements for a \(Self.self), which has \(count)")
    }
}

extension FixedArray: RandomAccessCollection, MutableCollection {
    @inlinable public var startIndex: Int { 0 }
    @inlinable public var endIndex: Int { count }
    @inlinable public var count: Int { Self.count }
    @inlinable public var indices: Range<Int> { 0..<count }
    /// - Precondition: the index is one of `indices`.
    public subscript(index: Int) -> Element {
        @inlinable get { elements[index] }
        @inlinable set { elements[index] = newValue }
    }
}

/// Element by element, as numbers compare: a NaN is equal to none.
extension FixedArray: Hashable {
    @inlinable public static func == (a: Self, b: Self) -> Bool { zip(a, b).allSatisfy { $0 == $1 } }
    @inlinable public func hash(into hasher: inout Hasher) { for element in self { hasher.combine(element) } }
}

extension FixedArray: CustomStringConvertible {
    public var description: String { Array(self).description }
}

/// A number that a fixed layout is made of: an integer of 8 to 64 bits, `Float` or `Double`.
///
/// Only the library can add conformances, because no other code can make its seal.
public protocol FixedLayoutNumber: BitwiseCopyable, Codable, Hashable, Sendable {
    /// Only the library can make one.
    static var _seal: FixedLayoutSeal { get }
}
/// Limits the conformances of ``FixedLayoutNumber`` to those of the library.
public struct FixedLayoutSeal: Sendable { package init() {} }
extension FixedLayoutNumber {
    /// For the types below, and for tests of the library's own.
    package static var sealed: FixedLayoutSeal { FixedLayoutSeal() }
}

extension Int8: FixedLayoutNumber { public static var _seal: FixedLayoutSeal { sealed } }
extension Int16: FixedLayoutNumber { public static var _seal: FixedLayoutSeal { sealed } }
extension Int32: FixedLayoutNumber { public static var _seal: FixedLayoutSeal { sealed } }
extension Int64: FixedLayoutNumber { public static var _seal: FixedLayoutSeal { sealed } }
extension Int: FixedLayoutNumber { public static var _seal: FixedLayoutSeal { sealed } }
extension UInt8: FixedLayoutNumber { public static var _seal: FixedLayoutSeal { sealed } }
extension UInt16: FixedLayoutNumber { public static var _seal: FixedLayoutSeal { sealed } }
extension UInt32: FixedLayoutNumber { public static var _seal: FixedLayoutSeal { sealed } }
extension UInt64: FixedLayoutNumber { public static var _seal: FixedLayoutSeal { sealed } }
extension UInt: FixedLayoutNumber { public static var _seal: FixedLayoutSeal { sealed } }
extension Float: FixedLayoutNumber { public static var _seal: FixedLayoutSeal { sealed } }
extension Double: FixedLayoutNumber { public static var _seal: FixedLayoutSeal { sealed } }
