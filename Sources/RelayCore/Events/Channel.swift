/// The subscribers of one event type, without its type: see `AnyEventBox`. Everything mutable is guarded by the publisher's lock.
///
/// What every publish reads is exempt from the run-time check of exclusive access, which that lock already grants: the check
/// is a tenth of a publish.
final class Channel: @unchecked Sendable {
    @exclusivity(unchecked) var immediate: ContiguousArray<ImmediateSubscriber> = []
    @exclusivity(unchecked) var buffered: ContiguousArray<any BufferedDelivery> = []
    /// Whether one of them shows stamps, so that the clock has to be read.
    @exclusivity(unchecked) var showsStamps = false
    /// The sequence of the preceding event of this type that was published here.
    @exclusivity(unchecked) var previous: UInt64 = 0
    /// What the interest observer knows; nil while it is being told.
    var toldInterest: Bool? = false
    /// Who came since all here were told of a gap that lasts; nil before there was one.
    private(set) var newcomers: Set<ObjectIdentifier>?
    var isUnused: Bool { immediate.isEmpty && buffered.isEmpty }

    /// The type's interface, if it is a domain event.
    let interface: ObjectIdentifier?
    /// Makes the box of an event that a pointer shows.
    let box: @Sendable (UnsafeRawPointer) -> AnyEventBox
    /// Says to an observer whether there is a subscriber.
    let tell: @Sendable (any InterestObserver, Bool) -> Void

    init<E: Event>(_ type: E.Type) {
        func interface<D: DomainEvent>(of type: D.Type) -> ObjectIdentifier { ObjectIdentifier(D.Interface.self) }
        self.interface = (E.self as? any DomainEvent.Type).map { interface(of: $0) }
        box = { EventBox($0.assumingMemoryBound(to: E.self).pointee) }
        tell = { observer, isWanted in
            if isWanted { observer.interestBegan(in: E.self) } else { observer.interestEnded(in: E.self) }
        }
    }

    func addImmediate(_ subscriber: ImmediateSubscriber) {
        immediate.append(subscriber)
        newcomers?.insert(ObjectIdentifier(subscriber))
    }
    func removeImmediate(_ subscriber: ImmediateSubscriber) {
        immediate.removeAll { $0 === subscriber }
        newcomers?.remove(ObjectIdentifier(subscriber))
    }
    /// All here have been told.
    func welcomeNewcomers() { newcomers = [] }

    func add(_ delivery: any BufferedDelivery) {
        buffered.append(delivery)
        newcomers?.insert(ObjectIdentifier(delivery))
        showsStamps = showsStamps || delivery.showsStamps
    }
    func remove(_ delivery: AnyObject) {
        buffered.removeAll { $0 === delivery }
        newcomers?.remove(ObjectIdentifier(delivery))
        showsStamps = buffered.contains { $0.showsStamps }
    }
}
