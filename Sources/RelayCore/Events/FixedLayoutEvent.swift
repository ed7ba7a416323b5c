/// An event for telemetry rates: its bytes are fit to be copied as they are.
///
/// No lane goes through the ring yet: until then it travels as any other event does.
/// `BitwiseCopyable` is necessary, not sufficient: registration refuses padding, pointers, Bool and enum fields.
public protocol FixedLayoutEvent: DomainEvent, BitwiseCopyable {}

extension FixedLayoutEvent {
    public static var ringPayload: RingPayload { .raw(size: MemoryLayout<Self>.size) }
}
