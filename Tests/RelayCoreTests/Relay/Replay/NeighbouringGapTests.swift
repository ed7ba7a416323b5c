import TestTraits
import Testing

@testable import RelayCore
import RelayWire

@Suite("Neighbouring gaps", .computing, .tags(.g2, .g3)) struct NeighbouringGapTests {
    private enum Step: Int, CaseIterable { case event, gap, take }

    private static func page(_ sequence: UInt64) throws -> KeptEvents {
        let values = FollowingTests.said(Int64(sequence)) + [.uint64(sequence), .uint64(sequence - 1), .uint64(1)]
        var body = WireWriter()
        try DBusValue.encode(values, into: &body)
        let signature = Array(try DBusValue.signature(of: values).description.utf8)
        return body.withUnsafeBytes { body in
            signature.withUnsafeBytes { signature in
                let stamp = Stamp(
                    epoch: 1, sequence: sequence, previous: sequence - 1, publishedAt: Timestamp(microseconds: 1))
                return KeptEvents(RawEvent(.signal, stamp, nil, signature: signature, body: body), token: 0)
            }
        }
    }

    @Test(
        "that a subscriber has not taken yet are one for each reason, whatever came before; and nothing is lost twice",
        arguments: [1, 2, 3], 1...8)
    func merged(limit: Int, length: Int) throws {
        let pages = try (1...8).map { try Self.page($0) }
        let codes = (0..<length).reduce(1) { count, _ in count * Step.allCases.count }
        for code in 0..<codes {
            let buffer = ReplayBuffer(.bufferingNewest(limit))
            var (rest, sequence, accounted): (Int, UInt64, Int) = (code, 0, 0)
            var steps: [Step] = []
            func take() -> Gap.Reason?? {
                switch buffer.next() {
                case .event?: accounted += 1
                case .gap(let gap)?:
                    accounted += gap.count ?? 0
                    return .some(gap.reason)
                case .caughtUp?: break
                case nil: return nil
                }
                return .some(nil)
            }
            for _ in 0..<length {
                let step = Step(rawValue: rest % 3) ?? .take
                rest /= 3
                steps.append(step)
                switch step {
                case .event:
                    sequence += 1
                    buffer.append(live: pages[Int(sequence) - 1], isDurable: false)
                case .gap:
                    sequence += 1
                    buffer.append(Gap(sequence...sequence, epoch: 1, count: 1, reason: .lost))
                case .take: _ = take()
                }
            }
            // What is here now was not taken: of it, no two gaps of one reason follow each other.
            var (last, isRight): (Gap.Reason?, Bool) = (nil, true)
            while let reason = take() {
                if reason != nil && reason == last { isRight = false }
                last = reason
            }
            if !isRight || accounted != Int(sequence) {
                Issue.record("wrong after \(steps): \(accounted) of \(sequence)")
                return
            }
        }
    }
}
