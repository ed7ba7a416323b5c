import Synchronization
import RelayWire

/// How what a feed holds becomes a subscription's values.
struct ReplayDecoding<Payload: Sendable>: Sendable {
    /// The number of an event; -1 for one that the subscription does not want. Called on the loop's thread, once for
    /// each owner; always the same.
    let token: @Sendable (String) -> Int32
    /// On the consumer's side.
    let payload: @Sendable (Int32, RawEvent) throws -> Payload
    /// The same for events of a page, one after the other, until the closure returns false, or one cannot be read; then
    /// the error says why. Returns how many the closure has taken.
    let each: @Sendable (KeptEvents, Range<Int>, inout (any Error)?, (Payload) -> Bool) -> Int

    private init(
        token: @escaping @Sendable (String) -> Int32,
        payload: @escaping @Sendable (Int32, RawEvent) throws -> Payload,
        each: (@Sendable (KeptEvents, Range<Int>, inout (any Error)?, (Payload) -> Bool) -> Int)? = nil
    ) {
        (self.token, self.payload) = (token, payload)
        if let each {
            self.each = each
            return
        }
        self.each = { page, range, fault, take in
            var taken = 0
            do {
                for index in range {
                    let event = try page.withEvent(index, page.stamp(index)) { try payload(page.token(index), $0) }
                    if !take(event) { break }
                    taken += 1
                }
            } catch { fault = error }
            return taken
        }
    }
}

extension ReplayDecoding where Payload: StreamEntry {
    init(_ decoder: EventDecoder<Payload>) {
        self.init(
            token: { $0 == Payload.name ? 0 : -1 }, payload: { _, raw in try decoder.event(raw) },
            each: { page, range, fault, take in decoder.each(page, range, &fault, take) })
    }
}
extension ReplayDecoding where Payload == any StreamEntry {
    init(_ decoders: [String: AnyEventDecoder]) {
        let ordered = decoders.sorted { $0.key < $1.key }
        let tokens = Dictionary(uniqueKeysWithValues: ordered.enumerated().map { ($1.key, Int32($0)) })
        let byToken = ordered.map(\.value)
        self.init(
            token: { tokens[$0] ?? -1 }, payload: { token, raw in try byToken[Int(token)].anyEvent(raw) })
    }
}
extension ReplayDecoding where Payload: EnumInterface {
    /// For all events of an enum of events.
    init(of interface: Payload.Type) throws {
        let cases = Payload.contract.cases
        var decoders: [(name: String, decoder: AnyEventDecoder)] = []
        func add<E: StreamEntry>(_ type: E.Type) throws { decoders.append((E.name, try EventDecoder(type))) }
        // A document's entries are no values of the interface.
        for type in Payload.contract.events where cases[type.name] != nil { try add(type) }
        let tokens = Dictionary(uniqueKeysWithValues: decoders.enumerated().map { ($1.name, Int32($0)) })
        let byToken = decoders.map { ($0.decoder, cases[$0.name]) }
        self.init(
            token: { tokens[$0] ?? -1 },
            payload: { token, raw in
                let (decoder, make) = byToken[Int(token)]
                guard let value = make?(try decoder.anyEvent(raw)) else {
                    throw RelayError(.schemaMismatch, "\(Payload.name) has no case for event \(token)")
                }
                return value
            })
    }
}
extension ReplayDecoding where Payload == Envelope {
    /// - Parameter names: nil stands for every event.
    init(interface: String, names: Set<String>?) {
        let known = NameTable()
        self.init(
            token: { names?.contains($0) == false ? -1 : known.add($0) },
            payload: { token, raw in try raw.envelope(interface, known[token]) })
    }
    /// Names that were met, by number.
    private final class NameTable: Sendable {
        private let names = Mutex<[String]>([])
        func add(_ name: String) -> Int32 {
            names.withLock { names in
                if let index = names.firstIndex(of: name) { return Int32(index) }
                names.append(name)
                return Int32(names.count - 1)
            }
        }
        subscript(token: Int32) -> String { names.withLock { $0[Int(token)] } }
    }
}
