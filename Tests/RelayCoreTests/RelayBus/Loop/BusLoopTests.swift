import Glibc
import RelayTestKit
import Synchronization
import TestTraits
import Testing

@testable import RelayBus
@testable import RelayCore

@Suite("Bus loop", .heavy) struct BusLoopTests {
    /// Does something as it is released.
    private final class Releaser: Sendable {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
        deinit { body() }
    }
    private static func threadCount(named name: String) -> Int {
        guard let folder = opendir("/proc/self/task") else { return -1 }
        defer { closedir(folder) }
        var count = 0
        while let entry = readdir(folder) {
            let id = withUnsafeBytes(of: entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            guard let file = fopen("/proc/self/task/\(id)/comm", "r") else { continue }
            defer { fclose(file) }
            var text = [UInt8](repeating: 0, count: 32)
            let length = fread(&text, 1, text.count, file)
            if String(decoding: text.prefix(length), as: UTF8.self) == name + "\n" { count += 1 }
        }
        return count
    }

    @Test("runs jobs in order, on one thread, and knows that thread") func order() async throws {
        let loop = try BusLoop(name: "order")
        let seen = Mutex<[Int]>([])
        let wasCurrent = Mutex(0)
        for number in 0..<1_000 {
            loop.execute {
                seen.withLock { $0.append(number) }
                if loop.isCurrent { wasCurrent.withLock { $0 += 1 } }
            }
        }
        #expect(await eventually { seen.withLock { $0.count } == 1_000 })
        #expect(seen.withLock { $0 } == Array(0..<1_000))
        #expect(wasCurrent.withLock { $0 } == 1_000)
        #expect(!loop.isCurrent)
        loop.stop()
    }
    @Test("no wake-up is lost between threads that give jobs and a loop that goes to sleep") func wakeups() async throws
    {
        let loop = try BusLoop(name: "wakeups")
        let count = Atomic<Int>(0)
        for round in 1...3_000 {
            loop.execute { count.add(1, ordering: .relaxed) }
            if round % 3 == 0 { while count.load(ordering: .relaxed) < round { sched_yield() } }
        }
        #expect(await eventually { count.load(ordering: .relaxed) == 3_000 })
        loop.stop()
    }
    @Test("timers come in order of their deadlines, and cancelled ones never") func timers() async throws {
        let loop = try BusLoop(name: "timers")
        let seen = Mutex<[String]>([])
        // By the loop's own thread: no timer fires before all are there, however slow the machine is.
        loop.execute {
            loop.schedule(after: .seconds(1)) { seen.withLock { $0.append("third") } }
            let cancelled = loop.schedule(after: .milliseconds(30)) { seen.withLock { $0.append("cancelled") } }
            loop.schedule(after: .milliseconds(20)) { seen.withLock { $0.append("second") } }
            loop.schedule(after: .zero) { seen.withLock { $0.append("first") } }
            loop.schedule(after: .seconds(Int64.max)) { seen.withLock { $0.append("never") } }
            loop.cancel(timer: cancelled)
        }
        #expect(await eventually { seen.withLock { $0.count } == 3 })
        #expect(seen.withLock { $0 } == ["first", "second", "third"])
        loop.stop()
    }
    @Test("jobs that beget jobs do not starve descriptors and timers") func fairness() async throws {
        let loop = try BusLoop(name: "fairness")
        let isDone = Atomic(false)
        let timers = Atomic(0)
        let events = Atomic(0)
        var ends: [Int32] = [0, 0]
        try #require(pipe(&ends) == 0)
        let added = loop.addHandler({ _ in events.add(1, ordering: .relaxed) }, whenStopped: {})
        let handler = try #require(added)
        #expect(loop.watch(ends[0], for: UInt32(POLLIN), was: nil, handler: handler))
        @Sendable func again() {
            if !isDone.load(ordering: .relaxed) { loop.execute { again() } }
        }
        loop.execute { again() }
        loop.schedule(after: .milliseconds(1)) { timers.add(1, ordering: .relaxed) }
        _ = write(ends[1], "x", 1)
        #expect(await eventually { timers.load(ordering: .relaxed) == 1 && events.load(ordering: .relaxed) > 0 })
        isDone.store(true, ordering: .relaxed)
        #expect(loop.watch(ends[0], for: nil, was: UInt32(POLLIN), handler: handler))
        loop.stop()
        for end in ends { close(end) }
    }
    @Test("a descriptor that is watched for nothing reports no hang-up either") func quietHangUp() async throws {
        let loop = try BusLoop(name: "quiet")
        let events = Atomic(0)
        var ends: [Int32] = [0, 0]
        try #require(pipe(&ends) == 0)
        let added = loop.addHandler({ _ in events.add(1, ordering: .relaxed) }, whenStopped: {})
        let handler = try #require(added)
        #expect(loop.watch(ends[0], for: UInt32(POLLIN), was: nil, handler: handler))
        close(ends[1])
        #expect(await eventually { events.load(ordering: .relaxed) > 0 })
        #expect(loop.watch(ends[0], for: nil, was: UInt32(POLLIN), handler: handler))
        let passed = Mutex(false)
        let before = Mutex(0)
        // Two turns of the loop: what was reported before has been told by then.
        loop.execute {
            loop.execute {
                before.withLock { $0 = events.load(ordering: .relaxed) }
                loop.schedule(after: .milliseconds(20)) { passed.withLock { $0 = true } }
            }
        }
        #expect(await eventually { passed.withLock { $0 } })
        #expect(events.load(ordering: .relaxed) == before.withLock { $0 })
        loop.stop()
        close(ends[0])
    }
    @Test("stop runs what was given before, drops timers, and ends the thread") func stopping() async throws {
        let loop = try BusLoop(name: "stopping")
        #expect(await eventually { Self.threadCount(named: "stopping") == 1 })
        let ran = Atomic(0)
        let fired = Atomic(0)
        loop.schedule(after: .milliseconds(1)) {
            for _ in 0..<10 { loop.execute { ran.add(1, ordering: .relaxed) } }
            loop.schedule(after: .milliseconds(5)) { fired.add(1, ordering: .relaxed) }
            loop.stop()
            loop.stop()
        }
        #expect(await eventually { Self.threadCount(named: "stopping") == 0 })
        #expect(ran.load(ordering: .relaxed) == 10)
        #expect(loop.schedule(after: .zero) { fired.add(1, ordering: .relaxed) } == 0)
        #expect(fired.load(ordering: .relaxed) == 0)
    }
    @Test("a job that comes after the end still runs, on a thread that is the loop's") func aftermath() async throws {
        let loop = try BusLoop(name: "aftermath")
        loop.stop()
        #expect(await eventually { Self.threadCount(named: "aftermath") == 0 })
        let right = Atomic(0)
        let count = Atomic(0)
        for _ in 0..<100 {
            loop.execute {
                if loop.isCurrent { right.add(1, ordering: .relaxed) }
                count.add(1, ordering: .relaxed)
            }
        }
        #expect(await eventually { count.load(ordering: .relaxed) == 100 })
        #expect(right.load(ordering: .relaxed) == 100)
        #expect(await eventually { Self.threadCount(named: "aftermath") == 0 })
    }
    @Test("a loop that nobody holds any more ends its thread, also from within it") func release() async throws {
        do { let loop = try BusLoop(name: "forgotten"); _ = loop }
        #expect(await eventually { Self.threadCount(named: "forgotten") == 0 })
        do {
            let loop = try BusLoop(name: "inward")
            loop.schedule(after: .milliseconds(2)) { withExtendedLifetime(loop) {} }
        }
        #expect(await eventually { Self.threadCount(named: "inward") == 0 })
    }
    @Test("what jobs and timers own may call the loop as it is released") func releases() async throws {
        let loop = try BusLoop(name: "releases")
        let count = Atomic(0)
        func releaser() -> Releaser {
            Releaser { [weak loop] in
                loop?.execute { count.add(1, ordering: .relaxed) }
            }
        }
        for stops in [false, true] {
            let owned = releaser()
            let timer = loop.schedule(after: .seconds(100)) { withExtendedLifetime(owned) {} }
            if !stops { loop.cancel(timer: timer) }
        }
        let handled = releaser()
        let added = loop.addHandler({ _ in withExtendedLifetime(handled) {} }, whenStopped: {})
        let id = try #require(added)
        loop.removeHandler(id)
        loop.stop()
        withExtendedLifetime(handled) {}
        #expect(await eventually { count.load(ordering: .relaxed) >= 2 })
    }
    @Test("who has the turn is alone with the loop's state") func turns() async throws {
        let loop = try BusLoop(name: "turns")
        let count = LoopBound(0, on: loop)
        let isOver = Atomic(false)
        let begun = Atomic(0)
        @Sendable func intrude() async -> Int {
            var taken = 0
            begun.add(1, ordering: .relaxed)
            while !isOver.load(ordering: .relaxed) {
                for _ in 0..<100 { loop.withTurn { if loop.isCurrent { count.onLoop += 1 } } }
                taken += 100
                await Task.yield()
            }
            return taken
        }
        let intruders = (0..<2).map { _ in Task.detached(operation: intrude) }
        let jobs = Atomic(0)
        let timers = Atomic(0)
        @Sendable func again() {
            count.onLoop += 1
            if jobs.add(1, ordering: .relaxed).newValue < 2_000 { loop.execute { again() } }
        }
        // A busy machine starts them late.
        #expect(await eventually { begun.load(ordering: .relaxed) == 2 })
        // Both get their turns, though others take it again and again.
        loop.execute { again() }
        loop.schedule(after: .milliseconds(1)) { timers.add(1, ordering: .relaxed) }
        #expect(await eventually { jobs.load(ordering: .relaxed) == 2_000 && timers.load(ordering: .relaxed) == 1 })
        isOver.store(true, ordering: .relaxed)
        var taken = 0
        for intruder in intruders { taken += await intruder.value }
        #expect(loop.withTurn { count.onLoop } == 2_000 + taken)
        #expect(taken > 0)
        #expect(!loop.isCurrent)
        loop.stop()
    }
    @Test("a thread that serves a descriptor in its turn stops when another wants the turn, or when there is a job")
    func serving() async throws {
        let (loop, pipe) = (try BusLoop(name: "serving"), try SystemPipe.open())
        defer {
            close(pipe.reading)
            close(pipe.writing)
        }
        let (entered, left) = (Log<Int>(), Log<Int>())
        func serve(_ round: Int, until isOver: @escaping @Sendable () -> Bool = { false }) throws {
            try OwnThread.start("serving") {
                loop.withTurn {
                    entered.add(round)
                    loop.serve(pipe.reading, for: 600_000_000_000, until: isOver) { _ in
                        var byte: UInt8 = 0
                        _ = read(pipe.reading, &byte, 1)
                    }
                    left.add(round)
                }
            }
        }
        try serve(1)
        #expect(await eventually { entered.values == [1] })
        loop.withTurn { #expect(left.values == [1]) }
        try serve(2)
        #expect(await eventually { entered.values == [1, 2] })
        let ran = Log<Int>()
        loop.execute { ran.add(left.values.count) }
        #expect(await eventually { ran.values == [2] })
        // What comes is handled there, until it is what was waited for.
        try serve(3) { entered.values.count == 4 }
        #expect(await eventually { entered.values == [1, 2, 3] })
        entered.add(4)
        #expect(write(pipe.writing, [UInt8(1)], 1) == 1)
        #expect(await eventually { left.values == [1, 2, 3] })
        loop.stop()
    }
    @Test("a job that is given in another thread's turn wakes the loop, and runs behind it") func outsideJobs()
        async throws
    {
        let loop = try BusLoop(name: "outside")
        let order = Mutex<[Int]>([])
        for round in 0..<200 {
            loop.withTurn {
                loop.execute { order.withLock { $0.append(2 * round + 1) } }
                order.withLock { $0.append(2 * round) }
            }
            #expect(await eventually { order.withLock { $0.count } == 2 * round + 2 })
        }
        #expect(order.withLock { $0 } == Array(0..<400))
        loop.stop()
        #expect(await eventually { Self.threadCount(named: "outside") == 0 })
        #expect(loop.withTurn { loop.isCurrent }, "there is a turn after the end, too")
    }
}
