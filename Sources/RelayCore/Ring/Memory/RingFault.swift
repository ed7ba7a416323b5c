import Glibc
/// Why shared memory is not, or no longer, what its protocol demands.
package struct RingFault: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Problem: Hashable, Sendable {
        /// These are missing.
        case seals(MemorySeals)
        case size(found: Int, expected: Int)
        /// Not of memory in ordinary pages.
        case fileSystem(UInt32)
        /// More than any ring has.
        case tooLarge(Int)
        case magic(UInt64)
        case version(UInt32)
        case capacity(UInt64)
        case dataOffset(UInt32)
        case index(UInt32)
        case directory(String)
        case fingerprint(UInt64)
        case flagOffset(UInt32)
        case tail(UInt64)
        case intent(UInt64)
        case length(UInt32)
        case kind(UInt32)
        case sequence(UInt64)
        case previous(UInt64)
        case epoch(UInt64)
    }
    package let problem: Problem
    /// Where in the stream of bytes; 0 for what is no record's.
    package let position: UInt64

    package init(_ problem: Problem, at position: UInt64 = 0) { (self.problem, self.position) = (problem, position) }

    package var description: String { position == 0 ? reason : "at \(position): \(reason)" }

    private var reason: String {
        switch problem {
        case .seals(let missing): "shared memory without the seals 0x\(String(missing.rawValue, radix: 16))"
        case .size(let found, let expected): "\(found) bytes of shared memory where \(expected) are needed"
        case .fileSystem(let type):
            "shared memory of the file system 0x\(String(type, radix: 16)); its maker has to use memfd_create without "
                + "huge pages"
        case .tooLarge(let size):
            "\(size) bytes of shared memory; a ring has at most \(RingLayout.maximumSize(page: Int(getpagesize())))"
        case .magic(let value): "not a ring of Relay's: it begins with 0x\(String(value, radix: 16))"
        case .version(let value):
            "layout version \(value); this program knows \(RingLayout.version): update the older side"
        case .capacity(let value): "a capacity of \(value) bytes"
        case .dataOffset(let value): "data that begins at byte \(value)"
        case .index(let value): "an index of \(value) entries; there are always \(RingLayout.indexCount)"
        case .directory(let reason): "its list of events: \(reason)"
        case .fingerprint(let value): "its list of events has another fingerprint than 0x\(String(value, radix: 16))"
        case .flagOffset(let value): "a wait page with its flag at byte \(value)"
        case .tail(let value): "a tail of \(value)"
        case .intent(let value): "an intent of \(value), behind what is written already"
        case .length(let value): "a record with \(value) bytes"
        case .kind(let value): "a record of event number \(value)"
        case .sequence(let value): "the sequence \(value), which does not follow"
        case .previous(let value): "a preceding sequence of \(value), which is no smaller than its own"
        case .epoch(let value): "another run than \(value), which its service is in"
        }
    }
    /// Throws a fault of `body` as what the library throws.
    static func translated<Result>(_ body: () throws(RingFault) -> Result) throws(RelayError) -> Result {
        do throws(RingFault) { return try body() } catch { throw error.relayError() }
    }
    /// As what the library throws.
    package func relayError(_ cause: SystemError? = nil) -> RelayError {
        let said = cause.map { ": \($0)" } ?? ""
        return RelayError(
            .invalidArgument, "shared memory that cannot be used: \(self)\(said)", cause: self)
    }
}
