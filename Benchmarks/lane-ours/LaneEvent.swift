import CLaneSupport
import RelayCore

/// An event whose value is the benchmark's payload, or has it.
protocol StreamEvent: DomainEvent where Interface.Durability == Volatile {
    init()
    /// Writes all of it.
    mutating func fill(_ number: UInt64, _ sentAt: UInt64)
    /// Hands it to the statistics; returns whether it was the last.
    func take(_ run: UnsafeMutablePointer<lane_run>) -> Bool
}

extension StreamEvent where Self: FixedLayoutEvent {
    @inline(__always) mutating func fill(_ number: UInt64, _ sentAt: UInt64) {
        withUnsafeMutableBytes(of: &self) { lane_fill($0.baseAddress, UInt32($0.count), number, sentAt) }
    }
    @inline(__always) func take(_ run: UnsafeMutablePointer<lane_run>) -> Bool {
        withUnsafeBytes(of: self) { lane_take(run, $0.baseAddress) }
    }
}
