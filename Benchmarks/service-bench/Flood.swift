import Foundation
import RelayCore
import Synchronization

/// Publishes from several threads at once for a while, and counts.
enum Flood {
    static let time = 0.4

    private final class Count: Sendable {
        let begins = Atomic(false), ends = Atomic(false)
        let sum = Atomic<Int>(0), left: Atomic<Int>
        init(_ threads: Int) { left = Atomic(threads) }
    }
    /// How many a second.
    static func rate(_ threads: Int, publish: @escaping @Sendable (UInt64) throws -> Void) -> Double {
        let (count, isDone) = (Count(threads), DispatchSemaphore(value: 0))
        for _ in 0..<threads {
            Thread.detachNewThread {
                var number: UInt64 = 0
                while !count.begins.load(ordering: .acquiring) {}
                do {
                    while !count.ends.load(ordering: .relaxed) {
                        try publish(number)
                        number += 1
                    }
                } catch { print("publishing failed: \(error)") }
                count.sum.add(Int(number), ordering: .relaxed)
                if count.left.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 { isDone.signal() }
            }
        }
        let start = ContinuousClock.now
        count.begins.store(true, ordering: .releasing)
        Thread.sleep(forTimeInterval: time)
        count.ends.store(true, ordering: .relaxed)
        let elapsed = ContinuousClock.now - start
        isDone.wait()
        let seconds = Double(elapsed.components.seconds) + Double(elapsed.components.attoseconds) / 1e18
        return Double(count.sum.load(ordering: .relaxed)) / seconds
    }
    static func fixed(_ service: EventService, _ threads: Int) -> Double {
        rate(threads) { try service.publish(Fixed(number: $0)) }
    }
    static func coded(_ service: EventService, _ threads: Int) -> Double {
        rate(threads) { try service.publish(Coded(number: $0)) }
    }
}
