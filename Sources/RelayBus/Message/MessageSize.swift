import CDBus
import Glibc

/// How large a message is, as far as that matters, without a copy of it. libdbus tells no size.
enum MessageSize {
    /// Whether a message's path and arguments have more than so many bytes. No padding is counted, and what is behind the
    /// limit is not looked at.
    static func exceeds(_ limit: Int, _ message: OpaquePointer) -> Bool {
        // The one header field of any length.
        var left = limit - (dbus_message_get_path(message).map { strlen($0) } ?? 0)
        var iterator = DBusMessageIter()
        if dbus_message_iter_init(message, &iterator) != 0 { subtract(&iterator, from: &left) }
        return left < 0
    }
    /// What is left of the limit behind the values of one level. libdbus has checked their types, and that they are no
    /// deeper than 64 levels.
    private static func subtract(_ iterator: inout DBusMessageIter, from left: inout Int) {
        while left >= 0 {
            let type = code(dbus_message_iter_get_arg_type(&iterator))
            switch type {
            case 0: return
            case UInt8(ascii: "s"), UInt8(ascii: "o"), UInt8(ascii: "g"):
                // A C string within the message.
                var text: UnsafePointer<CChar>?
                dbus_message_iter_get_basic(&iterator, &text)
                left -= 1 + (text.map { strlen($0) } ?? 0)
            case UInt8(ascii: "a"):
                left -= 4
                let element = code(dbus_message_iter_get_element_type(&iterator))
                var elements = DBusMessageIter()
                dbus_message_iter_recurse(&iterator, &elements)
                if let size = sizes[element] {
                    // All at once: they lie one behind the other.
                    var (start, count): (UnsafeRawPointer?, Int32) = (nil, 0)
                    dbus_message_iter_get_fixed_array(&elements, &start, &count)
                    left -= Int(count) * size
                } else {
                    subtract(&elements, from: &left)
                }
            case UInt8(ascii: "r"), UInt8(ascii: "e"), UInt8(ascii: "v"):
                left -= 1
                var fields = DBusMessageIter()
                dbus_message_iter_recurse(&iterator, &fields)
                subtract(&fields, from: &left)
            default: left -= sizes[type] ?? 4
            }
            if left < 0 { return }
            dbus_message_iter_next(&iterator)
        }
    }
    private static func code(_ type: Int32) -> UInt8 { UInt8(truncatingIfNeeded: type) }
    /// Of the types that libdbus shows as arrays of numbers.
    private static let sizes: [UInt8: Int] = Dictionary(
        uniqueKeysWithValues: zip("ybnqiuxtd".utf8, [1, 4, 2, 2, 4, 4, 8, 8, 8]))
}
