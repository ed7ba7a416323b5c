import RelayTestKit
import TestTraits
import Testing

@testable import RelayCore

/// What a service says is its own: any number, in any order. A trap would end the test's process.
@Suite("Streams of hostile numbers", .computing, .tags(.g2, .g8)) struct HostileNumbersTests {
    private static let numbers: [UInt64] = [0, 1, 2, 3, 1 << 63 - 1, 1 << 63, .max - 2, .max - 1, .max]
    private static let names = ["a", "b"]

    private struct Chance {
        var generator: SeededGenerator
        mutating func number() -> UInt64 { numbers.randomElement(using: &generator) ?? 0 }
        mutating func name() -> String { names.randomElement(using: &generator) ?? "" }
        mutating func wants() -> Set<String>? {
            let wants: [Set<String>?] = [nil, ["a"], ["a", "b"], []]
            return wants.randomElement(using: &generator) ?? nil
        }
        mutating func last() -> [String: UInt64] { ["a": number(), "b": number()] }
        mutating func runs() -> [StreamRun] {
            (0..<Int.random(in: 0...3, using: &generator)).map { _ in StreamRun(epoch: number(), first: number()) }
        }
        mutating func answer() -> RelayCore.Attachment {
            RelayCore.Attachment(
                epoch: number(), from: number(), oldest: number(), head: number(), last: last(),
                details: AttachOptions(runs: runs()))
        }
        mutating func start() -> StreamStart {
            switch Int.random(in: 0..<4, using: &generator) {
            case 0: .now
            case 1: .oldest
            case 2: .at(number())
            default: .after(epoch: number(), sequence: number(), runs: runs())
            }
        }
    }

    @Test("the machine survives any of them, and its counts only grow") func machine() {
        var chance = Chance(generator: SeededGenerator(seed: 27))
        for _ in 1...TestForm.rounds(2_000, soak: 200_000) {
            let counts = StreamCounts()
            var before: UInt64 = 0
            var machine = StreamMachine<Int>(from: chance.start(), isDurable: Bool.random(using: &chance.generator))
            for _ in 1...40 {
                var found: [Gap] = []
                switch Int.random(in: 0..<15, using: &chance.generator) {
                case 0: _ = machine.want(chance.wants())
                case 1: found = machine.ownerAppeared(isNew: Bool.random(using: &chance.generator)).gaps
                case 2:
                    let (name, sequence, previous) = (chance.name(), chance.number(), chance.number())
                    let action = machine.receive(name, sequence, previous)
                    found = action.gaps
                    if action == .hold { found += machine.hold(name, sequence, previous, 1, cost: 1).gaps }
                case 3, 4:
                    found =
                        machine.head(
                            epoch: chance.number(), sequence: chance.number(), last: chance.last(),
                            isLast: Int.random(in: 0..<8, using: &chance.generator) == 0
                        ).gaps
                case 5, 6:
                    let answer = chance.answer()
                    found = machine.beginAttach(answer).gaps + machine.finishAttach(answer).gaps
                case 7, 8:
                    found = machine.pageBegan(epoch: chance.number(), oldest: chance.number()).gaps
                    _ = machine.pageEvent(chance.name(), chance.number())
                    found += machine.pageEnded(through: chance.number(), head: chance.number()).gaps
                case 9: found = machine.readRefused().gaps
                case 10: machine.fellBehind(before: Bool.random(using: &chance.generator) ? chance.number() : nil)
                case 11: _ = machine.resume()
                case 12: found = machine.ownerVanished().gaps
                case 13: found = machine.disconnected().gaps
                default:
                    machine.suspectLoss()
                    _ = machine.tick()
                    _ = machine.place(inRun: chance.number())
                }
                for gap in found {
                    counts.count(gap)
                    #expect(gap.count ?? 0 >= 0 && !"\(gap)".isEmpty)
                }
                let now = counts.gaps.values.reduce(0) { max($0, $1.sequences) }
                #expect(now >= before)
                before = now
            }
        }
    }
    @Test("so do counts of gaps whose sum has no number") func counts() {
        let counts = StreamCounts()
        for epoch in UInt64(1)...3 {
            counts.count(Gap(0...(.max - 1), epoch: epoch, count: .max, reason: .lost))
        }
        let count = counts.gaps[.lost]
        #expect(count?.gaps == 3 && count?.events == .max && count?.sequences == .max)
    }
    @Test("and the search for a time ends") func search() throws {
        var chance = Chance(generator: SeededGenerator(seed: 28))
        for _ in 1...5_000 {
            var search = TimeSearch(Timestamp(microseconds: chance.number()))
            for _ in 1...200 {
                let event = (sequence: chance.number(), publishedAt: Timestamp(microseconds: chance.number()))
                let isThere = Bool.random(using: &chance.generator)
                let place = try search.take(
                    event: isThere ? event : nil, oldest: chance.number(), through: chance.number(),
                    head: chance.number())
                if place != nil { break }
            }
        }
    }
}
