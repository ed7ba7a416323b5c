/// The keyed containers of one node of a plan, one for each type of keys. They serve one value after the other.
final class WireContainers {
    /// A container, and where its keys' fields are.
    fileprivate class Kept {
        final let key: ObjectIdentifier
        /// The one reference that a `KeyedDecodingContainer` is.
        @exclusivity(unchecked) final var container: AnyObject
        final let indices: UnsafeMutablePointer<Int16>
        final let next: Kept?

        init(_ key: ObjectIdentifier, _ container: AnyObject, _ indices: UnsafeMutablePointer<Int16>, next: Kept?) {
            (self.key, self.container, self.indices, self.next) = (key, container, indices, next)
        }
        deinit { indices.deallocate() }
        /// No value has kept it.
        @inline(__always) final var isAlone: Bool { isKnownUniquelyReferenced(&container) }
    }
    /// It knows its container's type by its own: to make that of the keys' takes a look-up of metadata for each value.
    private final class Typed<Container>: Kept {
        /// Not inlined: where it is called the type is not at hand.
        @inline(never) func get() -> Container { unsafeBitCast(container, to: Container.self) }
    }
    /// Where the field of a key is not known yet.
    private static var unknown: Int16 { -1 }
    /// As many keys as one byte can number.
    private static var keyLimit: Int { 256 }

    /// Of the values that these serve: none else has it.
    let id: UInt64
    /// A value is being read by these.
    @exclusivity(unchecked) var isLent = true
    /// The value has another container besides, of the same id: these are not used again.
    @exclusivity(unchecked) var isMixed: Bool
    /// Of a dictionary that is read by key.
    @exclusivity(unchecked) var entries: [WireDecoder.Entry] = []
    @exclusivity(unchecked) private var first: Kept?

    init(id: UInt64, isMixed: Bool) { (self.id, self.isMixed) = (id, isMixed) }

    @inline(__always) func container<Key: CodingKey>(
        _ type: Key.Type, _ decoder: WireDecoder
    ) -> KeyedDecodingContainer<Key> {
        // `add` made it for this type of keys.
        if let first, first.key == ObjectIdentifier(type) { return Self.container(first) }
        return other(type, decoder)
    }
    @inline(never) private func other<Key: CodingKey>(
        _ type: Key.Type, _ decoder: WireDecoder
    ) -> KeyedDecodingContainer<Key> {
        var kept = first?.next
        while let present = kept {
            if present.key == ObjectIdentifier(type) { return Self.container(present) }
            kept = present.next
        }
        return add(type, decoder)
    }
    private func add<Key: CodingKey>(_ type: Key.Type, _ decoder: WireDecoder) -> KeyedDecodingContainer<Key> {
        let indices = UnsafeMutablePointer<Int16>.allocate(capacity: Self.keyLimit)
        indices.initialize(repeating: Self.unknown, count: Self.keyLimit)
        let container = KeyedDecodingContainer(
            WireKeyedDecoding<Key>(decoder: .passUnretained(decoder), id: id, indices: indices))
        // A structure of one reference: the standard library's box around ours.
        first = Typed<KeyedDecodingContainer<Key>>(
            ObjectIdentifier(type), unsafeBitCast(container, to: AnyObject.self), indices, next: first)
        return container
    }
    @inline(__always) private static func container<Key: CodingKey>(_ kept: Kept) -> KeyedDecodingContainer<Key> {
        // `add` made it so for the keys' type, which was compared.
        unsafeDowncast(kept, to: Typed<KeyedDecodingContainer<Key>>.self).get()
    }
    /// No value has kept one of them.
    @inline(__always) var areAlone: Bool {
        guard let first else { return true }
        return first.isAlone && (first.next == nil || areOthersAlone)
    }
    private var areOthersAlone: Bool {
        var kept = first?.next
        while let present = kept {
            if !present.isAlone { return false }
            kept = present.next
        }
        return true
    }
}
