import TestTraits
import Testing

@testable import RelayCore

/// Who is believed, by trying everything.
@Suite(.tags(.g7)) struct NameOwnerTests {
    private enum Input: CaseIterable {
        case firstAppears, secondAppears, nobodyHasIt, busGoes
        case firstSends, secondSends
        /// The requirement is met by whoever was asked about at last; by the one before.
        case verified, verifiedLate
    }
    private struct Sent: Equatable {
        let number: Int
        let sender: String
        let tenure: Int
    }
    /// A bus, where two peers come and go, and what must get out of it.
    private struct World {
        var owner = NameOwner<Sent>(countLimit: 2, costLimit: 100)
        var asked = [0]
        var present: String?
        var tenure = 0
        var verifiedTenures: Set<Int> = []
        var sent: [Sent] = []
        var taken: [Sent] = []
        var dropped = 0

        mutating func apply(_ input: Input) {
            switch input {
            case .firstAppears: appear(":1.1")
            case .secondAppears: appear(":1.2")
            case .nobodyHasIt: appear(nil)
            case .busGoes:
                dropped += owner.lost()
                leave()
            case .firstSends: send(":1.1")
            case .secondSends: send(":1.2")
            case .verified: verify(asked[asked.count - 1])
            case .verifiedLate: if asked.count > 1 { verify(asked[asked.count - 2]) }
            }
        }
        private mutating func leave() {
            present = nil
            tenure += 1
        }
        private mutating func appear(_ name: String?) {
            dropped += owner.changed(to: name)
            leave()
            present = name
            if name != nil { asked.append(owner.generation) }
        }
        private mutating func verify(_ generation: Int) {
            guard let signals = owner.verify(generation) else { return }
            verifiedTenures.insert(tenure)
            taken += signals
        }
        private mutating func send(_ name: String) {
            let signal = Sent(number: sent.count, sender: name, tenure: name == present ? tenure : -1)
            sent.append(signal)
            switch owner.verdict({ $0 == name }) {
            case .take: taken.append(signal)
            case .hold: owner.hold(signal, cost: 1)
            case .drop: dropped += 1
            }
        }
        /// What is wrong.
        var faults: [String] {
            var faults: [String] = []
            if taken.contains(where: { !verifiedTenures.contains($0.tenure) }) { faults.append("believed unverified") }
            if taken.map(\.number) != taken.map(\.number).sorted() { faults.append("out of order") }
            if taken.count + dropped > sent.count { faults.append("counted twice") }
            // Of a tenure that was verified only what had no room is missing.
            for tenure in verifiedTenures {
                let (all, got) = (sent.filter { $0.tenure == tenure }, taken.filter { $0.tenure == tenure })
                if !all.starts(with: got.prefix(2)) || got.count < min(all.count, 2) { faults.append("lost") }
            }
            if owner.present != present { faults.append("\(owner.present as Any) instead of \(present as Any)") }
            return faults
        }
    }

    @Test("whatever comes in whatever order: only what a verified owner sent gets out, in order, and all of it")
    func everything() {
        var level = [World()]
        var count = 0
        for _ in 0..<5 {
            level = level.flatMap { world in
                Input.allCases.map { input in
                    var next = world
                    next.apply(input)
                    return next
                }
            }
            count += level.count
            let faults = Set(level.flatMap(\.faults))
            #expect(faults == [])
        }
        #expect(count > 30_000)
    }
    @Test("what is held is bounded by number and by size, and what is dropped is counted") func bounds() {
        var owner = NameOwner<Int>(countLimit: 3, costLimit: 100)
        owner.hold(0, cost: 1)
        #expect(owner.changed(to: ":1.1") == 0 && owner.candidate == ":1.1" && owner.verified == nil)
        for number in 1...3 { owner.hold(number, cost: number == 2 ? 100 : 1) }
        owner.hold(4, cost: .max)
        owner.hold(5, cost: 1)
        #expect(owner.verify(owner.generation) == [1, 3, 5] && owner.verified == ":1.1" && owner.candidate == nil)
        #expect(owner.verify(owner.generation) == nil)
        owner.hold(6, cost: 1)
        #expect(owner.changed(to: ":1.2") == 0)
        for number in 1...9 { owner.hold(number, cost: 1) }
        #expect(owner.lost() == 9 && !owner.isKnown && owner.present == nil)
        #expect(owner.changed(to: nil) == 0 && owner.isKnown)
    }
}
