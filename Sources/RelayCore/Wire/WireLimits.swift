/// The D-Bus specification's limits, and ours.
package enum WireLimits {
    /// Bytes of an array's elements: the specification's 64 MiB.
    package static let arrayLength = 1 << 26
    /// Bytes of a whole message: the specification's 128 MiB.
    package static let messageLength = 1 << 27
    /// Bytes of a message that Relay sends, unless told otherwise.
    package static let defaultMessageLength = 1 << 20
    /// Containers within each other, of all kinds together.
    package static let depth = 64
    /// Arrays within each other; as many structures.
    package static let depthOfOneKind = 32
    package static let signatureLength = 255
    package static let nameLength = 255
}
