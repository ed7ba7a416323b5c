package import RelayCore

/// Records whose every byte follows from their sequence: whatever else is read was torn or invented.
package enum KillPayload {
    package static let before = 500
    package static let capacity = 4_096

    package static func stamp(_ sequence: UInt64, epoch: UInt64 = 0) -> Stamp {
        Stamp(
            epoch: epoch, sequence: sequence, previous: sequence - 1,
            publishedAt: Timestamp(microseconds: sequence &* 0x9E37_79B9_7F4A_7C15))
    }
    /// The one at which the writer dies is large: it overwrites several others.
    package static func bytes(_ sequence: UInt64) -> [UInt8] {
        let count = sequence == UInt64(before) + 1 ? 800 : Int(sequence * 7 % 90)
        return (0..<count).map { UInt8(truncatingIfNeeded: Int(sequence) &* 31 &+ $0) }
    }
}
