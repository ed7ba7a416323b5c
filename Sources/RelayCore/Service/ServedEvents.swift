/// All events of a service, by their types.
struct ServedEvents: EventEncoder {
    private let service: String
    private var table = TypeTable<AnyServedEvent>()

    init(_ service: String, _ interfaces: [ServedInterface]) {
        self.service = service
        for interface in interfaces {
            for (type, event) in interface.events { table.insert(event, for: type) }
        }
    }
    func encode<E: DomainEvent>(_ event: E) throws -> EncodedEvent { try served(E.self).encoded(event) }
    func publish<E: DomainEvent>(_ event: E) throws { try served(E.self).publish(event) }
    @inline(__always) func publishIntoRing(_ value: UnsafeRawPointer, _ type: ObjectIdentifier) throws -> Bool {
        guard let served = table.reference(for: type) else { return false }
        return try served._withUnsafeGuaranteedRef { try $0.publishIntoRing(value) }
    }

    private func served<E: DomainEvent>(_ type: E.Type) throws -> ServedEvent<E> {
        guard let served = table.value(for: ObjectIdentifier(type)) else {
            throw RelayError(
                .notFound, "\(E.name) is of \(E.Interface.name), which \(service) does not export: add it to exporting")
        }
        // What the table holds for E was made for E. (A checked cast looks the type's metadata up at every publish.)
        return unsafeDowncast(served, to: ServedEvent<E>.self)
    }
}
