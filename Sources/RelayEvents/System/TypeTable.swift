/// What is kept for types. Pointers are their own hash: a lookup is two loads, where `Dictionary` takes a SipHash.
///
/// `public` for Relay's own modules only: another module cannot see the bodies of `package` functions, and so cannot
/// specialise them.
@_spi(Relay) public struct TypeTable<Value: Sendable>: Sendable {
    @usableFromInline var keys: ContiguousArray<UInt> = ContiguousArray(repeating: 0, count: 16)
    @usableFromInline var values: ContiguousArray<Value?> = ContiguousArray(repeating: nil, count: 16)
    @usableFromInline var count = 0

    @inlinable public init() {}

    @inlinable @inline(__always) static func slot(_ key: UInt, _ mask: Int) -> Int {
        Int(truncatingIfNeeded: (key &* 0x9E37_79B9_7F4A_7C15) >> 32) & mask
    }
    @inlinable @inline(__always) public func value(for id: ObjectIdentifier) -> Value? {
        let key = UInt(bitPattern: id)
        var index = Self.slot(key, keys.count &- 1)
        while true {
            let found = keys[index]
            if found == key { return values[index] }
            if found == 0 { return nil }
            index = (index &+ 1) & (keys.count &- 1)
        }
    }
    @inlinable public mutating func insert(_ value: Value, for id: ObjectIdentifier) {
        if count * 2 >= keys.count { grow() }
        put(UInt(bitPattern: id), value)
        count += 1
    }
    @inlinable mutating func put(_ key: UInt, _ value: Value?) {
        var index = Self.slot(key, keys.count - 1)
        while keys[index] != 0 { index = (index + 1) & (keys.count - 1) }
        (keys[index], values[index]) = (key, value)
    }
    @inlinable mutating func grow() {
        let (oldKeys, oldValues) = (keys, values)
        keys = ContiguousArray(repeating: 0, count: oldKeys.count * 2)
        values = ContiguousArray(repeating: nil, count: oldKeys.count * 2)
        for (key, value) in zip(oldKeys, oldValues) where key != 0 { put(key, value) }
    }
    @inlinable public var all: [Value] { values.compactMap(\.self) }
}

@_spi(Relay) extension TypeTable where Value: AnyObject {
    /// The same, not counted: the table keeps it.
    @inlinable @inline(__always) public func reference(for id: ObjectIdentifier) -> Unmanaged<Value>? {
        value(for: id).map { .passUnretained($0) }
    }
}
