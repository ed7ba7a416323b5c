package import RelayCore
import Dispatch
import Synchronization
import Telemetry

/// Takes samples at a rate, on a thread of its own: each source in turn, each sample a reading of its own time.
package final class TelemetrySampler: Sendable {
    /// Samples a second that can be asked for.
    package static let rates = 0.1...10_000

    /// A `Double`'s bits.
    private let rateBits: Atomic<UInt64>
    private let output: any TelemetryOutput
    private let log: @Sendable (String) -> Void
    private let everySecond: @Sendable () -> Void
    private let sources: Mutex<[any TelemetrySource]>
    private let isStopped = Atomic<Bool>(false)
    /// Signalled to stop a sleep.
    private let alarm = DispatchSemaphore(value: 0)
    private let hasEnded = DispatchSemaphore(value: 0)

    /// - Parameters:
    ///   - rate: events a second, of all sources together.
    ///   - everySecond: is called about once a second, between two samples, on the sampler's thread.
    ///   - log: is called about a source that fails, and about samples that were left out.
    package init(
        rate: Double, sources: sending [any TelemetrySource], output: any TelemetryOutput,
        everySecond: @escaping @Sendable () -> Void = {}, log: @escaping @Sendable (String) -> Void
    ) {
        rateBits = Atomic(Self.bounded(rate).bitPattern)
        (self.output, self.log, self.everySecond) = (TellingOutput(output: output), log, everySecond)
        self.sources = Mutex(sources)
    }

    private static func bounded(_ rate: Double) -> Double { min(max(rate, rates.lowerBound), rates.upperBound) }

    /// Events a second, from now on. The next one comes at once.
    package func setRate(_ rate: Double) {
        let bits = Self.bounded(rate).bitPattern
        // At a low rate, the next sample may be seconds away.
        if rateBits.exchange(bits, ordering: .acquiringAndReleasing) != bits { alarm.signal() }
    }
    private var rate: Double { Double(bitPattern: rateBits.load(ordering: .acquiring)) }

    /// Begins. Once only. Throws `Unavailable` when the process can have no more threads.
    package func start() throws(RelayError) {
        do throws(SystemError) { try OwnThread.start("telemetry") { self.run() } } catch {
            hasEnded.signal()
            throw RelayError(.unavailable, "no thread to sample on: \(error)", cause: error)
        }
    }
    /// Ends it, and returns when nothing more is published. Waits for at most one reading. Once only.
    package func stop() {
        isStopped.store(true, ordering: .releasing)
        alarm.signal()
        hasEnded.wait()
    }

    private func run() {
        defer { hasEnded.signal() }
        var sources = self.sources.withLock { $0 }
        var pace = rate
        var pacer = Pacer(rate: pace, now: MonotonicClock.now)
        var (turn, nextSecond) = (0, MonotonicClock.now)
        while !isStopped.load(ordering: .acquiring) {
            if rate != pace {
                pace = rate
                pacer = Pacer(rate: pace, now: MonotonicClock.now)
            }
            let deadline = pacer.deadline
            if MonotonicClock.now < deadline {
                // By the same clock: the uptime of Dispatch is the kernel's monotonic one.
                _ = alarm.wait(timeout: DispatchTime(uptimeNanoseconds: deadline))
                continue
            }
            do {
                // A host without network interfaces has had its turn, too.
                pacer.took(max(1, try sources[turn].sample(to: output)), now: MonotonicClock.now)
                turn = (turn + 1) % sources.count
            } catch let failure as PublishingFailure {
                // The service's run is over: that is no news.
                if !(.unavailable ~= failure.cause) { log("no more samples: \(failure.cause)") }
                return
            } catch {
                log("no more samples of \(sources[turn].name): \((error as? RelayError)?.message ?? "\(error)")")
                sources.remove(at: turn)
                if sources.isEmpty { return }
                turn %= sources.count
            }
            if MonotonicClock.now >= nextSecond {
                everySecond()
                nextSecond = MonotonicClock.now + 1_000_000_000
            }
            if let report = pacer.report(now: MonotonicClock.now) { log(report.text) }
        }
    }
}

/// What ends the sampling: the events have nowhere to go.
private struct PublishingFailure: Error {
    let cause: any Error
}

/// Distinguishes what publishing throws from what reading throws.
private struct TellingOutput: TelemetryOutput {
    let output: any TelemetryOutput
    func publish<E: TelemetryEvent>(_ event: E) throws {
        do { try output.publish(event) } catch { throw PublishingFailure(cause: error) }
    }
}
