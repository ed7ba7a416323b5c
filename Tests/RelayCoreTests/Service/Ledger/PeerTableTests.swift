import TestTraits
import Testing

@testable import RelayCore

@Suite("What is kept of each peer, as a table", .tags(.g3)) struct PeerTableTests {
    /// Three peers that come, are asked for and go, in every order.
    private struct World: Explorable {
        enum Step: CaseIterable {
            case makeFirst, makeSecond, makeThird, findFirst, addToSecond, removeFirst, removeSecond, removeAll
        }
        private static let names = (":1.1", ":1.2", "org.example.a.name.of.more.than.fifteen.bytes")
        private var table = PeerTable<[Int]>()
        /// What it has to have.
        private var expected: [String: [Int]] = [:]
        private var made = 0

        private mutating func make(_ name: String) {
            made += 1
            let number = made
            let place = table.place(of: name, orMake: [number])
            if expected[name] == nil { expected[name] = [number] }
            #expect(table[place] == expected[name])
        }
        private mutating func remove(_ name: String) {
            table.remove(name)
            expected[name] = nil
        }
        mutating func take(_ step: Step) {
            let (first, second, third) = Self.names
            switch step {
            case .makeFirst: make(first)
            case .makeSecond: make(second)
            case .makeThird: make(third)
            case .findFirst: #expect(table[first] == expected[first])
            case .addToSecond:
                guard let place = table.place(of: second) else { return #expect(expected[second] == nil) }
                table[place].append(0)
                expected[second]?.append(0)
            case .removeFirst: remove(first)
            case .removeSecond: remove(second)
            case .removeAll:
                table.removeAll()
                expected = [:]
            }
        }
        func checkEnd() {
            #expect(table.count == expected.count && table.isEmpty == expected.isEmpty)
            for name in [Self.names.0, Self.names.1, Self.names.2] { #expect(table[name] == expected[name]) }
            #expect(Dictionary(uniqueKeysWithValues: table.entries.map { ($0.name, $0.value) }) == expected)
        }
    }

    @Test("whatever comes and goes in whatever order, each peer has what is its own") func exhaustive() {
        #expect(World().explore(depth: 5) > 30_000)
    }
    @Test("nothing of those that have gone is kept") func released() {
        final class Thing {}
        weak var kept: Thing?
        var table = PeerTable<Thing>()
        do {
            let thing = Thing()
            kept = thing
            _ = table.place(of: ":1.1", orMake: thing)
            _ = table.place(of: ":1.2", orMake: Thing())
        }
        #expect(kept != nil)
        table.remove(":1.1")
        #expect(kept == nil && table.count == 1)
    }
}
