/// Why bytes are not a valid D-Bus body: what is wrong, and at which byte.
package struct WireFault: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Problem: Hashable, Sendable {
        case truncated(needed: Int, left: Int)
        case padding
        case boolean(UInt32)
        case arrayTooLong(Int)
        case arrayLength(Int)
        case utf8
        case embeddedNUL
        case unterminated
        case objectPath
        case signature(String)
        case tooDeep
        case trailing(Int)
        case optional
        case payload(String)
        case containers
    }
    package let problem: Problem
    /// Counted from the start of the body.
    package let offset: Int

    package init(_ problem: Problem, at offset: Int) { (self.problem, self.offset) = (problem, offset) }

    package var description: String { "byte \(offset): \(reason)" }

    private var reason: String {
        switch problem {
        case .truncated(let needed, let left): "\(needed) bytes are announced, \(left) are left"
        case .padding: "padding that is not zero"
        case .boolean(let value): "a boolean of \(value); D-Bus knows 0 and 1"
        case .arrayTooLong(let length): "an array of \(length) bytes; D-Bus allows \(WireLimits.arrayLength)"
        case .arrayLength(let length): "an array's length of \(length) bytes does not fit its elements"
        case .utf8: "a string that is not UTF-8"
        case .embeddedNUL: "a string with a NUL inside"
        case .unterminated: "a string without a NUL at its end"
        case .objectPath: "not an object path"
        case .signature(let reason): "not a signature: \(reason)"
        case .tooDeep: "nested deeper than D-Bus allows (\(WireLimits.depth))"
        case .trailing(let count): "\(count) bytes after the last argument"
        case .containers: "more containers within each other than its bytes justify"
        case .payload(let reason): reason
        case .optional: "more than one element where an optional has none or one"
        }
    }
    /// As what the library throws.
    package func relayError(_ what: String) -> RelayError {
        RelayError(.invalidArgument, "\(what) is malformed at \(self)", cause: self)
    }
}

/// The D-Bus specification's limits, and ours.
package enum WireLimits {
    /// Bytes of an array's elements: the specification's 64 MiB.
    package static let arrayLength = 1 << 26
    /// Bytes of a whole message: the specification's 128 MiB.
    package static let messageLength = 1 << 27
    /// Bytes of a message that Relay sends, by default.
    package static let defaultMessageLength = 1 << 20
    /// A received message with more is not looked at. Nothing that a program of Relay or a bus sends is as large.
    package static let receivedLength = 2 << 20
    /// Containers within each other, of all kinds together.
    package static let depth = 64
    /// Arrays within each other; as many structures.
    package static let depthOfOneKind = 32
    package static let signatureLength = 255
    package static let nameLength = 255
}
