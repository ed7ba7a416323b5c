import TestTraits
import Testing

@testable import RelayCore

@Suite("Where a position is while events are handled at the same time", .tags(.g2)) struct UnfinishedPlacesTests {
    /// Every order in which so many events can be finished.
    private static func orders(_ numbers: [Int]) -> [[Int]] {
        if numbers.isEmpty { return [[]] }
        return numbers.flatMap { first in orders(numbers.filter { $0 != first }).map { [first] + $0 } }
    }
    @Test("it passes a place when everything up to it is finished, whatever the order", arguments: 1...6)
    func orders(count: Int) {
        for order in Self.orders(Array(0..<count)) {
            var places = UnfinishedPlaces<Int>()
            let numbers = (0..<count).map { places.begin($0 * 10) }
            #expect(numbers == Array(0..<count) && places.count == count)
            var (finished, position): (Set<Int>, Int?) = ([], nil)
            for number in order {
                finished.insert(number)
                if let passed = places.finish(number) { position = passed }
                let lowest = (0..<count).first { !finished.contains($0) } ?? count
                #expect(position == (lowest == 0 ? nil : (lowest - 1) * 10))
            }
            #expect(places.count == 0)
        }
    }
    @Test("events that begin later count on, and those without a place move nothing") func later() {
        var places = UnfinishedPlaces<Int>()
        let first = places.begin(1)
        #expect(places.finish(first) == 1)
        let (second, third) = (places.begin(nil), places.begin(3))
        #expect(places.finish(third) == nil)
        #expect(places.finish(second) == 3)
        let fourth = places.begin(nil)
        #expect(places.finish(fourth) == nil && places.count == 0)
    }
}
