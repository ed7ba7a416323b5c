/// Which events of an interface to read.
package struct LogRequest: Sendable {
    package let interface: String
    /// nil: all.
    package let names: Set<String>?
    /// Those above it.
    package let after: UInt64
    /// At most so many; at least 1.
    package let limit: Int
    /// At most so many bytes of names, signatures and bodies together, unless the first event alone has more.
    package let byteLimit: Int

    package init(interface: String, names: Set<String>?, after: UInt64, limit: Int, byteLimit: Int) {
        (self.interface, self.names, self.after) = (interface, names, after)
        (self.limit, self.byteLimit) = (limit, byteLimit)
    }
}
