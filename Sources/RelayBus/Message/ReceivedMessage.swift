import CDBus
import Glibc
import Synchronization
package import RelayWire

/// A message as it came in. Valid during the call that shows it; what is kept is copied.
package struct ReceivedMessage: ~Copyable {
    private let handle: MessageHandle
    private let marshalled: MarshalledMessage

    package let kind: MessageHeader.Kind
    /// It is larger than any message that is of use (`WireLimits.receivedLength`): its body was not copied, and is empty
    /// here.
    package let isOversized: Bool

    /// Nil for a message that is not worth a look: of an unknown kind, or too large to marshal again.
    ///
    /// - Parameter mayBeOversized: whether to look at its size.
    init?(_ handle: consuming MessageHandle, mayBeOversized: Bool = false) {
        let kind = MessageHeader.Kind(rawValue: UInt8(clamping: dbus_message_get_type(handle.pointer)))
        isOversized = mayBeOversized && MessageSize.exceeds(WireLimits.receivedLength, handle.pointer)
        let marshalled = MarshalledMessage(isOversized ? nil : handle.pointer)
        guard let kind, isOversized || marshalled.bodyStart != nil else { return nil }
        self.kind = kind
        self.handle = handle
        self.marshalled = marshalled
    }

    package var serial: UInt32 { dbus_message_get_serial(handle.pointer) }
    package var replySerial: UInt32 { dbus_message_get_reply_serial(handle.pointer) }
    package var wantsReply: Bool { kind == .methodCall && dbus_message_get_no_reply(handle.pointer) == 0 }

    package var allowsInteraction: Bool { dbus_message_get_allow_interactive_authorization(handle.pointer) != 0 }

    private static func text(_ pointer: UnsafePointer<CChar>?) -> String? { pointer.map { String(cString: $0) } }
    /// The sender's unique name, as the bus vouches for it. Nil on a message that libdbus made itself.
    package var sender: String? { Self.text(dbus_message_get_sender(handle.pointer)) }
    var destination: String? { Self.text(dbus_message_get_destination(handle.pointer)) }
    package var path: String? { Self.text(dbus_message_get_path(handle.pointer)) }
    package var interface: String? { Self.text(dbus_message_get_interface(handle.pointer)) }
    package var member: String? { Self.text(dbus_message_get_member(handle.pointer)) }
    package var errorName: String? { Self.text(dbus_message_get_error_name(handle.pointer)) }
    package var signature: String { Self.text(dbus_message_get_signature(handle.pointer)) ?? "" }

    /// Comparisons without making a `String`.
    package func hasSender(_ name: String) -> Bool { Self.isEqual(dbus_message_get_sender(handle.pointer), name) }
    package func hasInterface(_ name: String) -> Bool { Self.isEqual(dbus_message_get_interface(handle.pointer), name) }
    package func hasMember(_ name: String) -> Bool { Self.isEqual(dbus_message_get_member(handle.pointer), name) }
    package func hasPath(_ name: String) -> Bool { Self.isEqual(dbus_message_get_path(handle.pointer), name) }
    package func hasSignature(_ text: String) -> Bool { Self.isEqual(dbus_message_get_signature(handle.pointer), text) }
    private static func isEqual(_ pointer: UnsafePointer<CChar>?, _ text: String) -> Bool {
        guard let pointer else { return false }
        return text.withCString { strcmp(pointer, $0) == 0 }
    }

    /// The body's signature as a C string; valid during the call.
    package func withSignature<Result>(_ read: (UnsafePointer<CChar>) throws -> Result) rethrows -> Result {
        if let signature = dbus_message_get_signature(handle.pointer) { return try read(signature) }
        return try "".withCString(read)
    }
    /// The body, little-endian, its first byte aligned to 8; valid during the call.
    package func withBody<Result>(_ read: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try read(UnsafeRawBufferPointer(rebasing: marshalled.bytes[(marshalled.bodyStart ?? 0)...]))
    }
    /// The file descriptors that the arguments begin with, at most so many: duplicates of the message's own.
    func descriptors(atMost limit: Int) -> [ReceivedDescriptor] {
        var iterator = DBusMessageIter()
        var found: [ReceivedDescriptor] = []
        guard dbus_message_iter_init(handle.pointer, &iterator) != 0 else { return [] }
        while found.count < limit, dbus_message_iter_get_arg_type(&iterator) == Self.descriptorType {
            var number: Int32 = -1
            dbus_message_iter_get_basic(&iterator, &number)
            // -1: the message has no such one, or this process has no room for it.
            guard number >= 0 else { break }
            found.append(ReceivedDescriptor(number))
            dbus_message_iter_next(&iterator)
        }
        return found
    }
    var containsDescriptors: Bool { dbus_message_contains_unix_fds(handle.pointer) != 0 }
    /// Without effect for a message without arguments.
    func withArguments(_ body: (inout DBusMessageIter) -> Void) {
        var iterator = DBusMessageIter()
        if dbus_message_iter_init(handle.pointer, &iterator) != 0 { body(&iterator) }
    }
    /// The descriptor of a process in the bus's answer to `GetConnectionCredentials`: the value of `ProcessFD`. A
    /// duplicate of the message's own; none in any other message.
    func processDescriptor() -> [ReceivedDescriptor] {
        guard dbus_message_contains_unix_fds(handle.pointer) != 0, hasSender("org.freedesktop.DBus"),
            hasSignature("a{sv}")
        else { return [] }
        // A dictionary of variants, by its signature: each iterator is at what its name says.
        var (message, entries) = (DBusMessageIter(), DBusMessageIter())
        guard dbus_message_iter_init(handle.pointer, &message) != 0 else { return [] }
        dbus_message_iter_recurse(&message, &entries)
        while dbus_message_iter_get_arg_type(&entries) == Int32(UInt8(ascii: "e")) {
            var (entry, value) = (DBusMessageIter(), DBusMessageIter())
            dbus_message_iter_recurse(&entries, &entry)
            var key: UnsafePointer<CChar>?
            dbus_message_iter_get_basic(&entry, &key)
            dbus_message_iter_next(&entry)
            dbus_message_iter_recurse(&entry, &value)
            if let key, strcmp(key, "ProcessFD") == 0,
                dbus_message_iter_get_arg_type(&value) == Self.descriptorType
            {
                var number: Int32 = -1
                dbus_message_iter_get_basic(&value, &number)
                return number >= 0 ? [ReceivedDescriptor(number)] : []
            }
            dbus_message_iter_next(&entries)
        }
        return []
    }
    /// `DBUS_TYPE_UNIX_FD`, a macro with a cast.
    static let descriptorType = Int32(UInt8(ascii: "h"))
    package var body: [UInt8] { withBody { Array($0) } }

    /// libdbus's own last word on a connection. Anybody may send one of this name, but not without a sender.
    var isDisconnected: Bool {
        kind == .signal && dbus_message_get_sender(handle.pointer) == nil
            && dbus_message_is_signal(handle.pointer, "org.freedesktop.DBus.Local", "Disconnected") != 0
    }
}

/// A file descriptor that came with a message, or goes with one: this process's own, closed when this value goes, a
/// moment later.
package final class ReceivedDescriptor: Sendable {
    private let number: Int32
    private let isOwned = Atomic<Bool>(true)
    package init(_ number: Int32) { self.number = number }
    deinit { if isOwned.load(ordering: .relaxed) { DescriptorCloser.close(number) } }

    /// Lends the number: it is open until `body` returns. By itself a number could outlive its owner, which in an
    /// optimised build ends at its last use.
    package func withNumber<Result: ~Copyable, Failure: Error>(
        _ body: (Int32) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        defer { withExtendedLifetime(self) {} }
        return try body(number)
    }

    /// Closes one that came from others, a moment later.
    package static func close(_ number: Int32) { DescriptorCloser.close(number) }
    /// Closes it now, unless it has another owner.
    package func close() {
        if let number = disown() { Self.close(number) }
    }
    /// Leaves it open, for a new owner. Nil: it has one already.
    package func disown() -> Int32? { isOwned.exchange(false, ordering: .acquiringAndReleasing) ? number : nil }
}

extension [ReceivedDescriptor] {
    /// Lends all their numbers, which are open until `body` returns.
    func withNumbers<Result: ~Copyable, Failure: Error>(
        _ body: ([Int32]) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        defer { withExtendedLifetime(self) {} }
        return try body(map { $0.withNumber { $0 } })
    }
}

/// One reference to a libdbus message, given up at the end of its scope: held ones stop the connection's reading.
/// Unchecked: libdbus messages have no locks of their own, and this has one owner.
package struct MessageHandle: ~Copyable, @unchecked Sendable {
    let pointer: OpaquePointer

    /// Takes over a reference.
    init(adopting pointer: OpaquePointer) { self.pointer = pointer }
    deinit {
        if dbus_message_contains_unix_fds(pointer) != 0 {
            DescriptorCloser.release(pointer)
        } else {
            dbus_message_unref(pointer)
        }
    }

    /// Parses bytes that `MessageHeader` and the codec made. Refused bytes are an error, not an abort.
    init(parsing bytes: UnsafeRawBufferPointer) throws(RelayError) {
        var failure = DBusError()
        dbus_error_init(&failure)
        // libdbus only reads the bytes, as it declares; the pointer is valid during the call.
        let message = dbus_message_demarshal(
            bytes.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(clamping: bytes.count), &failure)
        guard let message else {
            defer { dbus_error_free(&failure) }
            let reason = failure.message.map { String(cString: $0) } ?? "out of memory"
            throw RelayError(.invalidArgument, "libdbus refuses a message of \(bytes.count) bytes: \(reason)")
        }
        pointer = message
    }
}
