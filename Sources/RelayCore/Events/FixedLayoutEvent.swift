/// An event for telemetry rates: its bytes are copied into and out of the ring, with no encoding.
///
/// `BitwiseCopyable` is necessary, not sufficient: registration refuses padding, pointers, Bool and enum fields.
public protocol FixedLayoutEvent: DomainEvent, BitwiseCopyable {}

extension FixedLayoutEvent {
    public static var ringPayload: RingPayload { .raw(size: MemoryLayout<Self>.size) }
}
