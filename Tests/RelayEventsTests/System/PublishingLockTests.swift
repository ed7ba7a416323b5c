import Glibc
import RelayTestKit
import Synchronization
import TestTraits
import Testing

@testable import RelayEvents

@Suite("The lock that publishers share", .heavy, .tags(.g1)) struct PublishingLockTests {
    private struct Pair { var first = 0, second = 0 }
    private struct Refusal: Error {}
    private final class Token: Sendable {
        let count: Atomic<Int>
        init() { count = Atomic(1) }
    }
    /// What threads did, counted when they end.
    private struct Work {
        var ended = 0
        var sleeps = 0
    }
    private final class Bench: Sendable {
        let lock = PublishingLock(Pair())
        let work = Mutex(Work())
        let isOver = Atomic(false)

        func start(_ body: @escaping @Sendable (borrowing PublishingLock<Pair>) -> Void) throws {
            try OwnThread.start("publisher") { [self] in
                body(lock)
                var usage = rusage()
                getrusage(__rusage_who_t(1), &usage)  // RUSAGE_THREAD, which Swift's Glibc lacks.
                work.withLock {
                    $0.ended += 1
                    $0.sleeps += usage.ru_nvcsw
                }
            }
        }
    }

    @Test("threads exclude each other, and it is not handed over by the kernel at each release", arguments: [2, 8])
    func exclusion(_ threads: Int) async throws {
        let (bench, count) = (Bench(), 200_000)
        for _ in 0..<threads {
            try bench.start { lock in
                for _ in 0..<count {
                    lock.withLock { pair in
                        pair.first += 1
                        if pair.first != pair.second + 1 { pair.first = .min }
                        pair.second += 1
                    }
                }
            }
        }
        #expect(await eventually { bench.work.withLock { $0.ended } == threads })
        let pair = bench.lock.withLock { $0 }
        #expect(pair.first == threads * count && pair.second == threads * count)
        // Swift's `Mutex` sleeps once for each of them, with eight threads.
        #expect(bench.work.withLock { $0.sleeps } < threads * count / 10)
    }
    @Test("each gets its turns beside one that takes it all the time")
    func turns() async throws {
        let bench = Bench()
        try bench.start { lock in
            while !bench.isOver.load(ordering: .relaxed) { lock.withLock { $0.first += 1 } }
        }
        for _ in 0..<3 { try bench.start { lock in for _ in 0..<100 { lock.withLock { $0.second += 1 } } } }
        #expect(await eventually { bench.work.withLock { $0.ended } == 3 })
        bench.isOver.store(true, ordering: .relaxed)
        #expect(await eventually { bench.work.withLock { $0.ended } == 4 })
        #expect(bench.lock.withLock { $0.second } == 300)
    }
    @Test("whoever asks for it and is stopped keeps nobody out")
    func stopped() throws {
        let lock = PublishingLock(0)
        lock.isWanted = true
        lock.withLock { $0 += 1 }
        let (isWanted, count) = (lock.isWanted, lock.withLock { $0 })
        #expect(!isWanted && count == 1)
    }
    @Test("an error releases it, and its end releases the state")
    func ends() throws {
        weak var token: Token?
        do {
            let made = Token()
            token = made
            let lock = PublishingLock(made)
            do {
                try lock.withLock { _ in throw Refusal() }
                Issue.record("it throws")
            } catch is Refusal {}
            let isSame = lock.withLock { $0 === made }
            #expect(isSame)
        }
        #expect(token == nil)
    }
}
