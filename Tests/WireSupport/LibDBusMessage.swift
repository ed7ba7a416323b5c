import CDBus

/// A message of libdbus, released with this. A class: `#require` takes no noncopyable values.
package final class LibDBusMessage {
    package let pointer: OpaquePointer
    package init(owning pointer: OpaquePointer) { self.pointer = pointer }
    deinit { dbus_message_unref(pointer) }

    /// What libdbus makes of bytes; nil when it refuses them.
    package static func demarshalled(_ bytes: UnsafeRawBufferPointer) -> LibDBusMessage? {
        var error = DBusError()
        dbus_error_init(&error)
        defer { dbus_error_free(&error) }
        let chars = bytes.assumingMemoryBound(to: CChar.self)
        guard let message = dbus_message_demarshal(chars.baseAddress, Int32(bytes.count), &error) else { return nil }
        return LibDBusMessage(owning: message)
    }
    package static func demarshalled(_ bytes: [UInt8]) -> LibDBusMessage? { bytes.withUnsafeBytes { demarshalled($0) } }

    /// The whole message in libdbus's own bytes.
    package var marshalled: [UInt8] {
        var data: UnsafeMutablePointer<CChar>?
        var count: Int32 = 0
        guard dbus_message_marshal(pointer, &data, &count) != 0, let data else { return [] }
        defer { dbus_free(data) }
        return [UInt8](UnsafeRawBufferPointer(start: data, count: Int(count)))
    }
    /// The body alone.
    package var body: [UInt8] {
        let bytes = marshalled
        let length = bytes[4..<8].reversed().reduce(0) { $0 << 8 | Int($1) }
        return Array(bytes.suffix(length))
    }
    package var signature: String { String(cString: dbus_message_get_signature(pointer)) }
    package static func text(_ chars: UnsafePointer<CChar>?) -> String? { chars.map { String(cString: $0) } }
}
