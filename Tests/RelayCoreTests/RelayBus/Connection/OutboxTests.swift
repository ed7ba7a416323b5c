import TestTraits
import Testing

@testable import RelayBus

@Suite("Outbox", .computing, .tags(.g1)) struct OutboxTests {
    /// What went in, in its order; a composed message as itself.
    private enum Piece: Equatable {
        case bytes([UInt8])
        case message(ObjectIdentifier)
    }
    @Test("gives back what was put in, in order, however much is taken at a time", arguments: 1...10)
    func order(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed &* 0x9E37_79B9)
        var (outbox, model) = (Outbox(), [Piece]())
        let composed = try ComposedMessage(calling: .test("org.example.Peer"), serial: 1)
        let noise = (0..<8_192).map { _ in UInt8.random(in: 0...255, using: &random) }
        for step in 0..<2_000 {
            if Int.random(in: 0..<100, using: &random) < (step % 400 < 200 ? 70 : 30) {
                if Int.random(in: 0..<10, using: &random) == 0 {
                    outbox.append(composed)
                    model.append(.message(ObjectIdentifier(composed)))
                } else {
                    let size = [1, 15, 300, 5_000].randomElement(using: &random) ?? 0
                    let bytes = Array(noise.dropFirst(Int.random(in: 0..<3_000, using: &random)).prefix(size))
                    bytes.withUnsafeBytes { outbox.append($0) }
                    if case .bytes(let last)? = model.last {
                        model[model.count - 1] = .bytes(last + bytes)
                    } else {
                        model.append(.bytes(bytes))
                    }
                }
            } else {
                var shown: Piece?
                var count = 0
                outbox.takeNext { item in
                    switch item {
                    case .message(let message): shown = .message(ObjectIdentifier(message))
                    case .bytes(let bytes):
                        shown = .bytes(Array(bytes))
                        count = Int.random(in: 0...bytes.count, using: &random)
                    }
                    return count
                }
                #expect(shown == model.first, "seed \(seed), step \(step)")
                if case .bytes(let bytes)? = model.first, count < bytes.count {
                    model[0] = .bytes(Array(bytes[count...]))
                } else if !model.isEmpty {
                    model.removeFirst()
                }
            }
            let count = model.reduce(0) { sum, piece in
                if case .bytes(let bytes) = piece { sum + bytes.count } else { sum + ComposedMessage.size }
            }
            #expect(outbox.isEmpty == model.isEmpty && outbox.count == count, "seed \(seed), step \(step)")
        }
    }
}
