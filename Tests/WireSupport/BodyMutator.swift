import TestTraits

/// Damages bodies as senders, disks and attackers do.
package struct BodyMutator {
    private var random: SeededGenerator
    package init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    package mutating func mutated(_ body: [UInt8]) -> [UInt8] {
        var body = body
        for _ in 0...(random.chance(3) ? 3 : 0) where !body.isEmpty { mutate(&body) }
        return body
    }
    private mutating func mutate(_ body: inout [UInt8]) {
        let at = random.below(body.count)
        switch random.below(9) {
        case 0: body[at] = UInt8(truncatingIfNeeded: random.next())
        case 1: body[at] ^= 1 << UInt8(random.below(8))
        case 2: body.removeLast(1 + random.below(body.count))
        case 3: body += (0...random.below(8)).map { _ in random.chance(2) ? 0 : 1 }
        case 4:
            setWord(
                &body, at,
                [0, 1, 2, 4, 8, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFF, 1 << 26, 1 << 26 + 1][random.below(10)])
        case 5: setWord(&body, at, UInt32(random.below(64)))
        case 6: body[at] = [0, 0x80, 0xC0, 0xC1, 0xE0, 0xED, 0xF0, 0xF4, 0xF5, 0xFF][random.below(10)]
        case 7: body[at] = Array("ybnqiuxtdsogvah(){}".utf8)[random.below(19)]
        default: body.remove(at: at)
        }
    }
    private func setWord(_ body: inout [UInt8], _ at: Int, _ word: UInt32) {
        let at = at & ~3
        for byte in 0..<4 where at + byte < body.count {
            body[at + byte] = UInt8(truncatingIfNeeded: word >> (8 * UInt32(byte)))
        }
    }
}
