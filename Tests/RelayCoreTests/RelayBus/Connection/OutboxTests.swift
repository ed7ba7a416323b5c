import TestTraits
import Testing

@testable import RelayBus

@Suite("Outbox", .computing, .tags(.g1)) struct OutboxTests {
    @Test("gives back what was put in, in order, whatever it is", arguments: 1...10) func order(seed: UInt64) {
        var random = SeededGenerator(seed: seed &* 0x9E37_79B9)
        var (outbox, model, bytes) = (Outbox(), [[UInt8]](), 0)
        let noise = (0..<8_192).map { _ in UInt8.random(in: 0...255, using: &random) }
        for step in 0..<2_000 {
            if Int.random(in: 0..<100, using: &random) < (step % 400 < 200 ? 70 : 30) {
                let size = [0, 1, 15, 300, 5_000].randomElement(using: &random) ?? 0
                let message = Array(noise.dropFirst(Int.random(in: 0..<3_000, using: &random)).prefix(size))
                message.withUnsafeBytes { outbox.append($0) }
                model.append(message)
                bytes += size
            } else {
                var taken: [UInt8]?
                let wasThere = outbox.takeFirst { if case .bytes(let bytes) = $0 { taken = Array(bytes) } }
                #expect(wasThere == !model.isEmpty && taken == model.first, "seed \(seed), step \(step)")
                if !model.isEmpty { bytes -= model.removeFirst().count }
            }
            #expect(outbox.isEmpty == model.isEmpty && outbox.count == bytes, "seed \(seed)")
        }
    }
}
