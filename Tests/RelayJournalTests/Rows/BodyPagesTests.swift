import TestTraits
import Testing

@testable import RelayJournal

@Suite("Where long bodies are put") struct BodyPagesTests {
    private static let size = Int64(BodyPages.size)

    @Test(
        "a body begins at the end of the one before, or at a piece's beginning where that saves one for a tenth at most"
    )
    func start() {
        for length in Array(1...9_000) + [70_000, 1 << 20] {
            for used in Array(stride(from: 0, to: BodyPages.size, by: 13)) + [1, 4_055] {
                let tail = 3 * Self.size + Int64(used)
                let start = BodyPages.start(of: length, behind: tail)
                func count(_ start: Int64) -> Int64 { (start + Int64(length) - 1) / Self.size - start / Self.size }
                let isRight =
                    start == tail
                    && (used == 0 || count(tail) == count(4 * Self.size) || (BodyPages.size - used) * 10 > length)
                    || start == 4 * Self.size && count(start) < count(tail) && (start - tail) * 10 <= length
                if !isRight { Issue.record("\(length) bytes behind \(used): at \(start - 3 * Self.size)") }
            }
        }
    }
    @Test("interfaces have rows of their own, and another program's numbers trap nowhere") func rows() {
        #expect(BodyPages.row(of: 0, 1) == 1 << 43 && BodyPages.row(of: Self.size * 2 + 5, 1) == (1 << 43) + 2)
        let last = BodyPages.row(of: BodyPages.limit, BodyPages.interfaces - 1)
        #expect(last > 0 && BodyPages.row(of: BodyPages.limit, 1) < BodyPages.row(of: 0, 2))
        for number in [Int64.min, -1, .max] { _ = BodyPages.row(of: number, number) }
    }
}
