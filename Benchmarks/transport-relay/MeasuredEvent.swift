import CTransportSupport
import RelayCore

/// An event whose value is the benchmark's payload, or has it.
protocol MeasuredEvent: DomainEvent where Interface.Durability == Volatile {
    init()
    /// Writes all of it.
    mutating func fill(_ number: UInt64, _ sentAt: UInt64)
    /// Hands it to the statistics; returns whether it was the last.
    func take(_ run: UnsafeMutablePointer<transport_run>) -> Bool
}

extension MeasuredEvent where Self: FixedLayoutEvent {
    @inline(__always) mutating func fill(_ number: UInt64, _ sentAt: UInt64) {
        withUnsafeMutableBytes(of: &self) { transport_fill($0.baseAddress, UInt32($0.count), number, sentAt) }
    }
    @inline(__always) func take(_ run: UnsafeMutablePointer<transport_run>) -> Bool {
        withUnsafeBytes(of: self) { transport_take(run, $0.baseAddress) }
    }
}
