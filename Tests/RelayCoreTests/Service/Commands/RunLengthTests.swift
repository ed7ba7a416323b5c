import TestTraits
import Testing

@testable import RelayCore

@Suite("Commands that have proved short") struct RunLengthTests {
    @Test("sixteen short runs in a row prove it, a long one ends it, and then it takes twice as many")
    func proof() {
        let length = RunLength()
        var needed: [Int] = []
        for _ in 1...4 {
            var runs = 0
            while !length.isShort {
                length.note(RunLength.limit - 1)
                runs += 1
            }
            needed.append(runs)
            for _ in 1...100 { length.note(0) }
            #expect(length.isShort)
            length.note(RunLength.limit)
            #expect(!length.isShort)
        }
        #expect(needed == [16, 32, 64, 128])
    }
    @Test("long runs before the proof cost nothing but its beginning") func beginning() {
        let length = RunLength()
        for _ in 1...100 {
            for _ in 1...15 { length.note(0) }
            length.note(.max)
        }
        for _ in 1...16 {
            #expect(!length.isShort)
            length.note(0)
        }
        #expect(length.isShort)
    }
    @Test("a command that is long again and again needs ever more runs, up to a bound") func bound() {
        let length = RunLength()
        for _ in 1...40 {
            for _ in 0..<65_536 where !length.isShort { length.note(0) }
            #expect(length.isShort)
            length.note(.max)
        }
    }
}
