/// What nobody can do any more to a file in memory, its maker included.
package struct MemorySeals: OptionSet, Hashable, Sendable {
    package let rawValue: Int32
    package init(rawValue: Int32) { self.rawValue = rawValue }

    /// No more seals.
    package static let seal = Self(rawValue: 0x01)
    /// It cannot be cut short: a mapping of it never faults.
    package static let shrink = Self(rawValue: 0x02)
    package static let grow = Self(rawValue: 0x04)
    /// No write and no new writable mapping; those that exist go on.
    package static let futureWrite = Self(rawValue: 0x10)

    /// Of what one process writes and others read.
    package static let readOnly: Self = [.seal, .shrink, .grow, .futureWrite]
    /// Of what two processes write.
    package static let fixedSize: Self = [.shrink, .grow]
    /// What is added when both have mapped it: nobody takes pages out of it any more.
    package static let settled: Self = [.seal, .futureWrite]
}
