/// An event for telemetry rates: its bytes are fit to be copied as they are.
///
/// In a volatile interface's ring it is these bytes, with no encoding; as a signal, and in a journal, it travels as any event does.
/// Its fields are numbers, structures of them, and `FixedArray`s of them. `BitwiseCopyable` is necessary, not sufficient: registration
/// refuses padding, pointers, Bool and enum fields, and values of more than 64 KiB.
public protocol FixedLayoutEvent: DomainEvent, BitwiseCopyable {}

extension FixedLayoutEvent {
    public static var ringPayload: RingPayload { .raw(size: MemoryLayout<Self>.size) }
}
