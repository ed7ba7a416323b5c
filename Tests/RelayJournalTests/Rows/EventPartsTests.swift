import TestTraits
import Testing

@testable import RelayJournal

@Suite("How bodies are cut") struct EventPartsTests {
    @Test("every body's parts come to what its row leaves, which has the stamp; and are few")
    func parts() {
        for length in Array(0...70_000) + [1 << 20, (1 << 20) + 1, 4 << 20] {
            var (left, count) = (length, 0)
            while case let part = EventParts.next(of: left, isFirst: count == 0), part > 0 {
                (left, count) = (left - part, count + 1)
                if left < 0 { break }
            }
            let isRight =
                count == EventParts.count(of: length) && count <= EventParts.most
                && (count == 0
                    ? left == length && length <= EventParts.whole : EventParts.stamp...EventParts.whole ~= left)
            if !isRight { Issue.record("\(length) bytes: \(count) parts, and \(left) bytes for the row") }
        }
    }
}
