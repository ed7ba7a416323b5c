import Glibc
import Synchronization
public import Testing

/// Runs what computes for long on threads of its own: enumerations, thousands of random inputs.
///
/// The concurrency pool has one thread for each processor. A test that keeps one of them for seconds delays every step of every
/// other test, also of those that hardly need a processor.
public struct ComputingTrait: SuiteTrait, TestTrait, TestScoping {
    public var isRecursive: Bool { true }
    public func scopeProvider(for test: Test, testCase: Test.Case?) -> Self? { testCase == nil ? nil : self }
    public func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        try await withTaskExecutorPreference(ComputingExecutor.shared) { try await function() }
    }
}

extension Trait where Self == ComputingTrait {
    /// Computes, and waits for nothing that others do: as many of these run at once as there are processors.
    public static var computing: Self { Self() }
}

/// Threads that run jobs FIFO.
private final class ComputingExecutor: TaskExecutor {
    static let shared = ComputingExecutor(threads: max(2, sysconf(Int32(_SC_NPROCESSORS_ONLN))))

    private let jobs = Mutex<[UnownedJob]>([])
    /// Counts the jobs. Never freed, as the threads never end.
    private nonisolated(unsafe) let count = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

    private init(threads: Int) {
        sem_init(count, 0, 0)
        for _ in 0..<threads {
            var thread = pthread_t()
            let failed = pthread_create(
                &thread, nil,
                { context in
                    if let context { Unmanaged<ComputingExecutor>.fromOpaque(context).takeUnretainedValue().run() }
                    return nil
                }, Unmanaged.passUnretained(self).toOpaque())
            precondition(failed == 0, "no thread for the tests that compute")
            pthread_detach(thread)
        }
    }
    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        jobs.withLock { $0.append(job) }
        sem_post(count)
    }
    private func run() {
        while true {
            if sem_wait(count) != 0 { continue }
            let job = jobs.withLock { $0.removeFirst() }
            job.runSynchronously(on: asUnownedTaskExecutor())
        }
    }
}
