import CDBus
import RelayWire

/// Arguments of any types, as libdbus has to compose them where descriptors are among them.
extension ComposedMessage {
    /// - Parameter descriptors: by the indices that the values have; duplicated here.
    /// - Returns: false without memory or descriptors, or for an index that has none. The message is then of no use.
    static func append(_ values: [DBusValue], _ descriptors: [Int32], to pointer: OpaquePointer) -> Bool {
        var iterator = DBusMessageIter()
        dbus_message_iter_init_append(pointer, &iterator)
        return values.allSatisfy { append($0, descriptors, &iterator) }
    }
    private static func append(_ value: DBusValue, _ descriptors: [Int32], _ iterator: inout DBusMessageIter) -> Bool {
        switch value {
        case .byte(let value): return basic(value, "y", &iterator)
        case .boolean(let value): return basic(UInt32(value ? 1 : 0), "b", &iterator)
        case .int16(let value): return basic(value, "n", &iterator)
        case .uint16(let value): return basic(value, "q", &iterator)
        case .int32(let value): return basic(value, "i", &iterator)
        case .uint32(let value): return basic(value, "u", &iterator)
        case .int64(let value): return basic(value, "x", &iterator)
        case .uint64(let value): return basic(value, "t", &iterator)
        case .double(let value): return basic(value, "d", &iterator)
        case .string(let text): return append(text, "s", &iterator)
        case .objectPath(let text): return append(text, "o", &iterator)
        case .signature(let signature): return append(signature.text, "g", &iterator)
        case .unixFD(let index):
            guard index < descriptors.count else { return false }
            return basic(descriptors[Int(index)], "h", &iterator)
        case .bytes(let bytes):
            return container("a", "y", &iterator) { array in bytes.allSatisfy { basic($0, "y", &array) } }
        case .array(let element, let values):
            return container("a", element.description, &iterator) { array in
                values.allSatisfy { append($0, descriptors, &array) }
            }
        case .dictionary(let type, let entries):
            // "a{…}" without its "a".
            return container("a", String(type.description.dropFirst()), &iterator) { array in
                entries.allSatisfy { entry in
                    container("e", nil, &array) { pair in
                        append(entry.key, descriptors, &pair) && append(entry.value, descriptors, &pair)
                    }
                }
            }
        case .structure(let fields):
            return container("r", nil, &iterator) { structure in
                fields.allSatisfy { append($0, descriptors, &structure) }
            }
        case .variant(let inner):
            return container("v", inner.type.description, &iterator) { append(inner, descriptors, &$0) }
        }
    }
    private static func code(_ type: Unicode.Scalar) -> Int32 { Int32(type.value) }
    private static func basic<V: BitwiseCopyable>(
        _ value: V, _ type: Unicode.Scalar, _ iterator: inout DBusMessageIter
    ) -> Bool {
        var value = value
        return dbus_message_iter_append_basic(&iterator, code(type), &value) != 0
    }
    private static func append(_ text: String, _ type: Unicode.Scalar, _ iterator: inout DBusMessageIter) -> Bool {
        text.withCString { text in
            var text: UnsafePointer<CChar>? = text  // libdbus copies it during the call.
            return dbus_message_iter_append_basic(&iterator, code(type), &text) != 0
        }
    }
    private static func container(
        _ type: Unicode.Scalar, _ contained: String?, _ iterator: inout DBusMessageIter,
        _ fill: (inout DBusMessageIter) -> Bool
    ) -> Bool {
        var inner = DBusMessageIter()
        let isOpen =
            if let contained {
                dbus_message_iter_open_container(&iterator, code(type), contained, &inner) != 0
            } else {
                dbus_message_iter_open_container(&iterator, code(type), nil, &inner) != 0
            }
        if !isOpen { return false }
        if fill(&inner) { return dbus_message_iter_close_container(&iterator, &inner) != 0 }
        dbus_message_iter_abandon_container(&iterator, &inner)
        return false
    }
}

extension ReceivedMessage {
    /// The file descriptors among the arguments, at most so many, by the indices that the arguments have: duplicates of
    /// the message's own.
    func transferred(atMost limit: Int) -> [UInt32: ReceivedDescriptor] {
        guard limit > 0, containsDescriptors, let signature = try? Signature(signature),
            let values = withBody({ try? DBusValue.decode(signature: signature, body: $0) })
        else { return [:] }
        var indices: [UInt32] = []
        for value in values { Self.collect(value, into: &indices) }
        var found: [ReceivedDescriptor] = []
        withArguments { Self.collect(&$0, atMost: limit, into: &found) }
        // Both in the order of the arguments. One index twice is one descriptor: decoding refuses that.
        return Dictionary(zip(indices, found)) { first, _ in first }
    }
    private static func collect(_ value: DBusValue, into indices: inout [UInt32]) {
        switch value {
        case .unixFD(let index): indices.append(index)
        case .array(_, let values), .structure(let values): for value in values { collect(value, into: &indices) }
        case .dictionary(_, let entries):
            for entry in entries {
                collect(entry.key, into: &indices)
                collect(entry.value, into: &indices)
            }
        case .variant(let inner): collect(inner, into: &indices)
        default: break
        }
    }
    private static func collect(
        _ iterator: inout DBusMessageIter, atMost limit: Int, into found: inout [ReceivedDescriptor]
    ) {
        while found.count < limit {
            switch dbus_message_iter_get_arg_type(&iterator) {
            case 0: return
            case descriptorType:
                var number: Int32 = -1
                dbus_message_iter_get_basic(&iterator, &number)
                // -1: the message has no such one, or this process has no room for it. What follows would have another's
                // place.
                guard number >= 0 else { return }
                found.append(ReceivedDescriptor(number))
            case let type where Self.containers.contains(type):
                var inner = DBusMessageIter()
                dbus_message_iter_recurse(&iterator, &inner)
                collect(&inner, atMost: limit, into: &found)
            default: break
            }
            if dbus_message_iter_next(&iterator) == 0 { return }
        }
    }
    /// Array, structure, dictionary entry, variant.
    private static let containers = Set("arev".unicodeScalars.map { Int32($0.value) })
}
