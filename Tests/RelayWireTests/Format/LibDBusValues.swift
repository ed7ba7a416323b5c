import CDBus
import WireSupport

@testable import RelayWire

/// Values to and from libdbus, by its own iterators: the other opinion on the wire format.
enum LibDBusValues {
    /// A signal with these arguments, composed by libdbus.
    static func message(_ values: [DBusValue]) -> LibDBusMessage? {
        guard let pointer = dbus_message_new_signal("/", "a.b", "C") else { return nil }
        let message = LibDBusMessage(owning: pointer)
        dbus_message_set_serial(pointer, 1)
        var iterator = DBusMessageIter()
        dbus_message_iter_init_append(pointer, &iterator)
        for value in values { append(value, to: &iterator) }
        return message
    }
    static func values(of message: LibDBusMessage) -> [DBusValue] {
        var iterator = DBusMessageIter()
        guard dbus_message_iter_init(message.pointer, &iterator) != 0 else { return [] }
        return all(&iterator)
    }

    // MARK: Writing

    private static func append(_ value: DBusValue, to iterator: inout DBusMessageIter) {
        switch value {
        case .byte(let value): basic(value, LibDBusType.byte, &iterator)
        case .boolean(let value): basic(UInt32(value ? 1 : 0), LibDBusType.boolean, &iterator)
        case .int16(let value): basic(value, LibDBusType.int16, &iterator)
        case .uint16(let value): basic(value, LibDBusType.uint16, &iterator)
        case .int32(let value): basic(value, LibDBusType.int32, &iterator)
        case .uint32(let value), .unixFD(let value): basic(value, LibDBusType.uint32, &iterator)
        case .int64(let value): basic(value, LibDBusType.int64, &iterator)
        case .uint64(let value): basic(value, LibDBusType.uint64, &iterator)
        case .double(let value): basic(value, LibDBusType.double, &iterator)
        case .string(let text): string(text, LibDBusType.string, &iterator)
        case .objectPath(let text): string(text, LibDBusType.objectPath, &iterator)
        case .signature(let signature): string(signature.text, LibDBusType.signature, &iterator)
        case .bytes(let bytes):
            container(LibDBusType.array, "y", &iterator) { inner in
                for byte in bytes { basic(byte, LibDBusType.byte, &inner) }
            }
        case .array(let element, let values):
            container(LibDBusType.array, element.description, &iterator) { inner in
                for value in values { append(value, to: &inner) }
            }
        case .dictionary(let type, let entries):
            container(LibDBusType.array, String(type.description.dropFirst()), &iterator) { inner in
                for entry in entries {
                    container(LibDBusType.dictionaryEntry, nil, &inner) { pair in
                        append(entry.key, to: &pair)
                        append(entry.value, to: &pair)
                    }
                }
            }
        case .structure(let fields):
            container(LibDBusType.structure, nil, &iterator) { inner in
                for field in fields { append(field, to: &inner) }
            }
        case .variant(let value):
            container(LibDBusType.variant, value.type.description, &iterator) { append(value, to: &$0) }
        }
    }
    private static func basic<T>(_ value: T, _ code: Int32, _ iterator: inout DBusMessageIter) {
        withUnsafePointer(to: value) { _ = dbus_message_iter_append_basic(&iterator, code, $0) }
    }
    private static func string(_ text: String, _ code: Int32, _ iterator: inout DBusMessageIter) {
        text.withCString { chars in basic(chars, code, &iterator) }
    }
    private static func container(
        _ code: Int32, _ signature: String?, _ iterator: inout DBusMessageIter, _ body: (inout DBusMessageIter) -> Void
    ) {
        var inner = DBusMessageIter()
        dbus_message_iter_open_container(&iterator, code, signature, &inner)
        body(&inner)
        dbus_message_iter_close_container(&iterator, &inner)
    }

    // MARK: Reading

    private static func all(_ iterator: inout DBusMessageIter) -> [DBusValue] {
        var values: [DBusValue] = []
        while let value = next(&iterator) {
            values.append(value)
            dbus_message_iter_next(&iterator)
        }
        return values
    }
    private static func next(_ iterator: inout DBusMessageIter) -> DBusValue? {
        switch dbus_message_iter_get_arg_type(&iterator) {
        case LibDBusType.byte: .byte(get(0, &iterator))
        case LibDBusType.boolean: .boolean(get(UInt32(0), &iterator) != 0)
        case LibDBusType.int16: .int16(get(0, &iterator))
        case LibDBusType.uint16: .uint16(get(0, &iterator))
        case LibDBusType.int32: .int32(get(0, &iterator))
        case LibDBusType.uint32: .uint32(get(0, &iterator))
        case LibDBusType.int64: .int64(get(0, &iterator))
        case LibDBusType.uint64: .uint64(get(0, &iterator))
        case LibDBusType.double: .double(get(0, &iterator))
        case LibDBusType.string: .string(text(&iterator))
        case LibDBusType.objectPath: .objectPath(text(&iterator))
        case LibDBusType.signature: (try? Signature(text(&iterator))).map { .signature($0) }
        case LibDBusType.variant: inside(&iterator).first.map { .variant($0) }
        case LibDBusType.structure: .structure(inside(&iterator))
        case LibDBusType.array: array(&iterator)
        default: nil
        }
    }
    private static func array(_ iterator: inout DBusMessageIter) -> DBusValue? {
        var inner = DBusMessageIter()
        dbus_message_iter_recurse(&iterator, &inner)
        guard let chars = dbus_message_iter_get_signature(&iterator) else { return nil }
        defer { dbus_free(chars) }
        guard let type = try? Signature(String(cString: chars)).types.first else { return nil }
        switch type {
        case .dictionary:
            var entries: [DBusValue.Entry] = []
            while dbus_message_iter_get_arg_type(&inner) == LibDBusType.dictionaryEntry {
                let pair = inside(&inner)
                entries.append(DBusValue.Entry(key: pair[0], value: pair[1]))
                dbus_message_iter_next(&inner)
            }
            return .dictionary(type, entries)
        case .array(.byte): return .bytes(all(&inner).compactMap { if case .byte(let byte) = $0 { byte } else { nil } })
        case .array(let element): return .array(element, all(&inner))
        default: return nil
        }
    }
    private static func inside(_ iterator: inout DBusMessageIter) -> [DBusValue] {
        var inner = DBusMessageIter()
        dbus_message_iter_recurse(&iterator, &inner)
        return all(&inner)
    }
    private static func get<T: BitwiseCopyable>(_ zero: T, _ iterator: inout DBusMessageIter) -> T {
        var value = zero
        dbus_message_iter_get_basic(&iterator, &value)
        return value
    }
    private static func text(_ iterator: inout DBusMessageIter) -> String {
        var chars: UnsafePointer<CChar>?
        dbus_message_iter_get_basic(&iterator, &chars)
        return chars.map { String(cString: $0) } ?? ""
    }
}
