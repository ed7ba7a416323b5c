import Dispatch
import RelayTestKit
import Synchronization
import TestTraits
import Testing

@testable import RelayBus

@Suite("Short jobs on a loop's thread", .heavy, .tags(.g4)) struct LoopLendingTests {
    private final class Log: Sendable {
        private let entries = Mutex<[String]>([])
        func note(_ text: String) { entries.withLock { $0.append(text) } }
        var all: [String] { entries.withLock { $0 } }
    }
    /// Lends in a turn of the loop's thread.
    private func lend(_ loop: BusLoop, _ jobs: [LentJob]) {
        loop.execute {
            #expect(loop.canLend)
            for job in jobs { loop.lend(job) }
            #expect(loop.isCurrent)
        }
    }

    @Test("run behind the turn, in their order, and what they ask of the loop is done at once")
    func order() async throws {
        let (loop, log) = (try BusLoop(name: "lending"), Log())
        let jobs = (1...3).map { number in
            LentJob {
                log.note("\(number)\(loop.isCurrent ? " in the turn" : "")")
                loop.execute { log.note("asked by \(number)") }
            } orElse: {
                log.note("\(number) elsewhere")
            }
        }
        lend(loop, jobs)
        #expect(await eventually { log.all.count == 6 })
        #expect(log.all == ["1", "2", "3", "asked by 1", "asked by 2", "asked by 3"])
        loop.stop()
    }
    @Test("one that blocks loses the loop, which goes on; those behind it run elsewhere, and each runs once")
    func blocking() async throws {
        let (loop, log, gate) = (try BusLoop(name: "lending"), Log(), DispatchSemaphore(value: 0))
        for round in 1...3 {
            let blocking = LentJob {
                log.note("blocks \(round)")
                gate.wait()
                // From a thread that has lost the loop: it has to wake the one that has it.
                loop.execute { log.note("asked \(round)") }
            } orElse: {
                log.note("elsewhere \(round)")
            }
            let behind = LentJob {
                log.note("behind \(round), here")
            } orElse: {
                log.note("behind \(round)")
            }
            lend(loop, [blocking, behind])
            #expect(await eventually { log.all.contains("blocks \(round)") })
            loop.execute { log.note("on the loop \(round)") }
            loop.schedule(after: .milliseconds(1)) { log.note("timer \(round)") }
            for text in ["on the loop", "timer", "behind"] {
                #expect(await eventually { log.all.contains("\(text) \(round)") }, "\(log.all)")
            }
        }
        for _ in 1...3 { gate.signal() }
        for round in 1...3 { #expect(await eventually { log.all.contains("asked \(round)") }) }
        #expect(Set(log.all).count == log.all.count && log.all.count == 15, "\(log.all)")
        #expect(!log.all.contains { $0.hasSuffix("here") || $0.hasPrefix("elsewhere") })
        loop.stop()
    }
    @Test("a loop that is stopped while one blocks ends, and runs what comes after its end")
    func stopped() async throws {
        let (loop, log, gate) = (try BusLoop(name: "lending"), Log(), DispatchSemaphore(value: 0))
        lend(
            loop,
            [
                LentJob {
                    log.note("blocks")
                    gate.wait()
                } orElse: {
                    log.note("elsewhere")
                }
            ])
        #expect(await eventually { log.all == ["blocks"] })
        loop.stop()
        loop.execute { log.note("after the end") }
        #expect(await eventually { log.all == ["blocks", "after the end"] })
        loop.execute { #expect(!loop.canLend) }
        gate.signal()
    }
}
