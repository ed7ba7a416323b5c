/// A growable first-in, first-out queue. `public` as ``TypeTable`` is.
@_spi(Relay) public struct Deque<Element> {
    @usableFromInline var storage: ContiguousArray<Element?> = ContiguousArray(repeating: nil, count: 8)
    @usableFromInline var head = 0
    @usableFromInline var used = 0

    @inlinable public init() {}

    @inlinable public var count: Int { used }
    @inlinable public var isEmpty: Bool { count == 0 }
    @inlinable public var first: Element? { storage[head] }
    /// Settable while there is one.
    @inlinable public var last: Element? {
        get { count == 0 ? nil : storage[lastIndex] }
        set { if count > 0, newValue != nil { storage[lastIndex] = newValue } }
    }
    @inlinable var lastIndex: Int { (head &+ count &- 1) & (storage.count &- 1) }

    @inlinable public mutating func append(_ element: Element) {
        if count == storage.count { grow() }
        storage[(head &+ count) & (storage.count &- 1)] = element
        used &+= 1
    }
    @inlinable public mutating func popFirst() -> Element? {
        guard count > 0 else { return nil }
        let element = storage[head]
        storage[head] = nil
        head = (head &+ 1) & (storage.count &- 1)
        used &-= 1
        return element
    }
    @inlinable public mutating func filter(_ isIncluded: (Element) -> Bool) {
        var kept = Deque()
        while let element = popFirst() { if isIncluded(element) { kept.append(element) } }
        self = kept
    }
    @inlinable mutating func grow() {
        var larger = ContiguousArray<Element?>(repeating: nil, count: storage.count * 2)
        for index in 0..<count { larger[index] = storage[(head + index) & (storage.count - 1)] }
        (storage, head) = (larger, 0)
    }
}

extension Deque: Sendable where Element: Sendable {}
