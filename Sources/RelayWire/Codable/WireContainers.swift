/// The keyed containers of one node of a plan, one for each type of keys. They serve one value after the other, for
/// reading or for writing.
final class WireContainers {
    /// A container, and where its keys' fields are.
    fileprivate class Kept {
        final let key: ObjectIdentifier
        /// The one reference that a `KeyedDecodingContainer` is, or a `KeyedEncodingContainer`.
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
    static var unknown: Int16 { -1 }
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
        Self.container(kept(type) ?? add(type, decoder))
    }
    @inline(__always) func container<Key: CodingKey>(
        _ type: Key.Type, _ encoder: WireEncoder
    ) -> KeyedEncodingContainer<Key> {
        Self.container(kept(type) ?? add(type, encoder))
    }
    @inline(__always) private func kept(_ type: Any.Type) -> Kept? {
        if let first, first.key == ObjectIdentifier(type) { return first }
        return other(ObjectIdentifier(type))
    }
    @inline(never) private func other(_ key: ObjectIdentifier) -> Kept? {
        var kept = first?.next
        while let present = kept, present.key != key { kept = present.next }
        return kept
    }
    @inline(never) private func add<Key: CodingKey>(_ type: Key.Type, _ decoder: WireDecoder) -> Kept {
        let indices = Self.indices()
        let container = KeyedDecodingContainer(
            WireKeyedDecoding<Key>(decoder: .passUnretained(decoder), id: id, indices: indices))
        // A structure of one reference: the standard library's box around ours.
        return add(
            Typed<KeyedDecodingContainer<Key>>(
                ObjectIdentifier(type), unsafeBitCast(container, to: AnyObject.self), indices, next: first))
    }
    @inline(never) private func add<Key: CodingKey>(_ type: Key.Type, _ encoder: WireEncoder) -> Kept {
        let indices = Self.indices()
        let container = KeyedEncodingContainer(
            WireKeyedEncoding<Key>(encoder: .passUnretained(encoder), id: id, indices: indices))
        // As for reading.
        return add(
            Typed<KeyedEncodingContainer<Key>>(
                ObjectIdentifier(type), unsafeBitCast(container, to: AnyObject.self), indices, next: first))
    }
    private func add(_ new: Kept) -> Kept {
        first = new
        return new
    }
    private static func indices() -> UnsafeMutablePointer<Int16> {
        let indices = UnsafeMutablePointer<Int16>.allocate(capacity: keyLimit)
        indices.initialize(repeating: unknown, count: keyLimit)
        return indices
    }
    @inline(__always) private static func container<Container>(_ kept: Kept) -> Container {
        // One coder has these, which reads or writes; and the keys' type was compared.
        unsafeDowncast(kept, to: Typed<Container>.self).get()
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
